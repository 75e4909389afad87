/** The expected work of a specialist: its lists, and its schedules over a day. */
import { expect, test } from "vitest";
import { shippedProfile } from "../../src/contract/profile/profile.ts";
import { planInput } from "../../src/guardian/plan-input.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";

test("schedules are counted over a day, in their zone, and lists by what it watches", () => {
  const run = () => undefined;
  const specialist = createSpecialist({
    handle: "scout",
    tier: "free",
    watch: { feed: true, jobs: {} },
    schedules: { hourly: { every: "1h", run }, daily: { cron: "0 9 * * *", run } },
    on: {},
  });
  const setting = { profile: shippedProfile("b"), zone: "UTC", key: "k", now: Date.UTC(2026, 10, 21) };
  expect(planInput(specialist, setting)).toMatchObject({ handle: "scout", key: "k", sources: ["feed", "jobs"], wants: { act: 25 } });
});
