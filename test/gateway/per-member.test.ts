/** State kept beside a member, and only while there is any. */
import { expect, test } from "vitest";
import { memberOf } from "../harness/builders.ts";
import { perMember } from "../../src/gateway/per-member.ts";

test("nothing is kept of a specialist of whom there is nothing to remember", () => {
  const [scout, quill] = [memberOf({ handle: "scout" }), memberOf({ handle: "quill" })];
  const kept = perMember(() => new Set<number>());
  expect(kept.find(scout)).toBeUndefined();
  kept.of(scout).add(1);
  kept.of(scout).add(2);
  expect([kept.find(scout)?.size, kept.find(quill)]).toEqual([2, undefined]);
  kept.find(scout)?.delete(1);
  kept.tidy(scout);
  expect([...(kept.find(scout) ?? [])]).toEqual([2]);
  kept.find(scout)?.delete(2);
  kept.tidy(scout);
  expect(kept.find(scout)).toBeUndefined();
  kept.of(quill).add(3);
  kept.forget(quill);
  expect(kept.find(quill)).toBeUndefined();
});
