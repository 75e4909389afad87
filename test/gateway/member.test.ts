/** A member's waits: lanes that send nothing now. */
import { expect, test } from "vitest";
import { endWaits, freeLanes, holdLane, redefine } from "../../src/gateway/member.ts";
import { memberOf } from "../harness/builders.ts";

test("a lane that is held again says since when it is held, and by which rule now", () => {
  const scout = memberOf({ handle: "scout" });
  holdLane(scout, "act", { until: 10, since: 1, rule: "paused", message: "paused: lunch" });
  holdLane(scout, "act", { until: 20, since: 5, rule: "quota_lane", message: "full" });
  expect(scout.waits?.get("act")).toEqual({ until: 20, since: 1, rule: "quota_lane", message: "full" });
  expect(freeLanes(scout)).not.toContain("act");
  endWaits(scout, ({ until }) => until <= 20);
  expect(scout.waits).toBeUndefined();
});

test("a new definition keeps what is known of the account, and has its key registered again", () => {
  const [before, after] = [memberOf({ tier: "free" }), memberOf({ tier: "pro", lanes: { poll: 50 } })];
  Object.assign(before, { accountId: "agt_1", keyId: "k", retired: true });
  redefine(before, after.specialist, after.rules, after.limits, 5);
  expect(before).toMatchObject({
    enlistedAt: 5,
    accountId: "agt_1",
    keyId: undefined,
    retired: false,
    limits: after.limits,
    floors: after.floors,
  });
});
