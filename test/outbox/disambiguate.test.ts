/** Whose it is that is found in words that were said more than once. */
import { describe, expect, test } from "vitest";
import type { Post } from "../../src/contract/records.ts";
import { asIntentId } from "../../src/core/ids.ts";
import { DAY, HOUR } from "../../src/core/units.ts";
import type { Intent } from "../../src/outbox/intent.ts";
import { intentOf } from "../harness/builders.ts";
import { disambiguate } from "../../src/outbox/disambiguate.ts";
import type { SimilarIntent, Requests } from "../../src/store/outbox.ts";

const NOW = 1_800_000_000_000;
const ME = { handle: "scout", accountId: "me" };
const said = (id: string, hoursAgo: number, content = "good morning"): Post => ({
  kind: "post",
  id,
  authorId: "me",
  content,
  createdAtMs: NOW - hoursAgo * HOUR,
  raw: {},
});
const other = (id: string, hoursAgo: number, fields: Partial<Intent> = {}, requests?: Requests): SimilarIntent => ({
  intent: intentOf({
    id: asIntentId(id),
    input: { content: "good morning" },
    state: "confirmed",
    sentAt: NOW - hoursAgo * HOUR,
    createdAt: NOW - hoursAgo * HOUR,
    ...fields,
  }),
  requests,
});
const between = (first: number, last = first): Requests => ({ first, last });
const LONG_AGO = said("p0", 2 * (DAY / HOUR), "something else");

/** What of `found` is the action's own, and whose it may be instead. */
function told(found: readonly string[], others: readonly SimilarIntent[], posts: readonly Post[], own?: Requests, complete = true) {
  const { refs, otherIntent } = disambiguate(found, { own, others }, { records: [...posts, LONG_AGO], complete, list: true }, ME);
  return { refs, otherIntent: otherIntent?.intent.id };
}

describe("a post that is found may be that of another action", () => {
  test("if that was given up in doubt, or done without an id", () => {
    expect(told(["p1"], [other("i0", 1, { state: "parked" })], [said("p1", 0)])).toEqual({ refs: ["p1"], otherIntent: "i0" });
    expect(told(["p1"], [other("i0", 1)], [said("p1", 0)], undefined, false)).toEqual({ refs: ["p1"], otherIntent: "i0" });
  });

  test("if nothing goes by the id that it was given, once all is shown", () => {
    const wrong = [other("i0", 1, { createdRef: "4711" })];
    expect(told(["p1"], wrong, [said("p1", 0)]).otherIntent).toBe("i0");
    expect(told(["p1"], wrong, [said("p1", 0)], undefined, false).otherIntent).toBeUndefined();
    expect(told(["p1"], [other("i0", 1, { createdRef: "p2" })], [said("p1", 0), said("p2", 1)]).otherIntent).toBeUndefined();
  });

  test("but not where more is there than the others can have done", () => {
    const posts = [said("p1", 0), said("p2", 1)];
    expect(told(["p1", "p2"], [other("i0", 1, { state: "parked" })], posts).otherIntent).toBeUndefined();
    expect(told(["p1", "p2"], [other("i0", 1, { state: "parked" }), other("i9", 1)], posts).otherIntent).toBe("i0");
  });

  test("but not where the list does not go back to it", () => {
    expect(told(["p1"], [other("i0", 5 * 24, { state: "parked" })], [said("p1", 0)]).otherIntent).toBeUndefined();
    expect(told(["p1"], [other("i0", 0, { state: "parked", sentAt: 0 })], [said("p1", 0)]).otherIntent).toBe("i0");
  });
});

describe("known posts of another action in between decide", () => {
  const parked = other("i0", 10, { state: "parked" }, between(1, 2));
  const known = other("i5", 5, { createdRef: "p5" }, between(5));
  const own = between(9);

  test("that what is older is not the action's", () => {
    expect(told(["p9"], [parked, known], [said("p9", 10), said("p5", 5)], own)).toEqual({ refs: [], otherIntent: undefined });
  });

  test("that what is newer is not the other's", () => {
    expect(told(["p9"], [parked, known], [said("p9", 0), said("p5", 5)], own)).toEqual({ refs: ["p9"], otherIntent: undefined });
  });

  test.each([
    ["at about the same time", [parked, known], said("p9", 5.2), own],
    ["without a time", [parked, known], { ...said("p9", 0), createdAtMs: undefined }, own],
    ["which this store never sent", [parked, known], said("p9", 10), undefined],
    ["while the one known was sent again after it", [parked, other("i5", 5, { createdRef: "p5" }, between(5, 10))], said("p9", 10), own],
    ["while the other is not known to have gone before", [other("i0", 10, { state: "parked" }), known], said("p9", 0), own],
    [
      "while the other waits for leave from the network's side",
      [other("i0", 10, { state: "pending" }, between(1)), known],
      said("p9", 0),
      own,
    ],
  ] as const)("nothing of what is found %s", (_what, others, post, requests) => {
    expect(told(["p9"], others, [post, said("p5", 5)], requests)).toEqual({ refs: ["p9"], otherIntent: "i0" });
  });

  test("and of one for each, its own is the one in its place among them", () => {
    const wrong = other("i0", 3, { createdRef: "4711" }, between(1));
    const both = [said("p1", 3), said("p2", 1)];
    expect(told(["p1", "p2"], [wrong], both, between(2))).toEqual({ refs: ["p2", "p1"], otherIntent: undefined });
    expect(told(["p2", "p1"], [{ ...wrong, requests: between(3) }], both, between(2)).refs[0]).toBe("p1");
  });
});
