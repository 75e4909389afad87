import { expect, test } from "vitest";
import { shippedProfile } from "../../src/contract/profile/profile.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { createMember, endWaits, freeLanes, holdLane, type Member } from "../../src/gateway/member.ts";
import { perMember } from "../../src/gateway/per-member.ts";
import { limitsOf, operationRules } from "../../src/gateway/permissions.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";

const profile = shippedProfile("b");
const clock = virtualClock(0);

function member(handle: string): Member {
  const specialist = createSpecialist({ handle });
  return createMember(specialist, operationRules(specialist, profile, clock), limitsOf("free", profile), 0);
}

test("nothing is kept of a specialist of whom there is nothing to remember", () => {
  const [scout, quill] = [member("scout"), member("quill")];
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

test("a lane that is held again says since when it is held, and by which rule now", () => {
  const scout = member("scout");
  holdLane(scout, "act", { until: 10, since: 1, rule: "paused", message: "paused: lunch" });
  holdLane(scout, "act", { until: 20, since: 5, rule: "quota_lane", message: "full" });
  expect(scout.waits?.get("act")).toEqual({ until: 20, since: 1, rule: "quota_lane", message: "full" });
  expect(freeLanes(scout)).not.toContain("act");
  endWaits(scout, ({ until }) => until <= 20);
  expect(scout.waits).toBeUndefined();
});
