/** Nothing is lost and nothing done twice by several processes on one server, whichever of them are killed, stopped, cut off or ended. */
import { expect, test } from "vitest";
import { FAULTS, fleetCampaign } from "../../campaigns/fleet/campaign.ts";

test("three processes under every fault answer each post once for each specialist that it asks", { timeout: 180_000 }, async () => {
  const report = await fleetCampaign({
    processes: 3,
    specialists: 25,
    rounds: 7,
    seed: 3,
    major: 15,
    faults: FAULTS.filter((fault) => fault !== "none"),
  });
  expect(report).toMatchObject({ lost: [], doubled: [], overQuota: 0, unfinished: 0, passedOver: 0, asked: report.answered });
  expect(Object.keys(report.faults).length).toBeGreaterThan(2);
});
