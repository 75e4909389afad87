import { expect, test } from "vitest";
import { shippedProfile } from "../../src/contract/profile/profile.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { createMember, type Member } from "../../src/gateway/member.ts";
import { limitsOf, operationRules } from "../../src/gateway/permissions.ts";
import { createActs } from "../../src/polling/acts.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";

const profile = shippedProfile("b");

function member(handle: string): Member {
  const specialist = createSpecialist({ handle });
  return createMember(specialist, operationRules(specialist, profile, virtualClock(0)), limitsOf("free", profile), 0);
}

test("a list is credited once with the actions that its news led to, and the feed with those that mentions led to", () => {
  const [scout, quill] = [member("scout"), member("quill")];
  const acts = createActs();
  acts.add(scout, "job.listed", 2);
  acts.add(scout, "job.listed", 1);
  acts.add(scout, "mention.created", 1);
  acts.add(scout, "schedule:daily", 5);
  expect([acts.take(quill, "job.listed"), acts.take(scout, "job.listed"), acts.take(scout, "job.listed")]).toEqual([0, 3, 0]);
  expect([acts.take(scout, "post.created"), acts.take(scout, "mention.created"), acts.take(scout, "schedule:daily")]).toEqual([1, 0, 0]);
});
