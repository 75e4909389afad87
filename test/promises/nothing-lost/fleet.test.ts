/** Nothing is lost and nothing done twice by several processes on one server, whichever of them are killed, stopped, cut off or ended. */
import { expect, test } from "vitest";
import { fleetCampaign } from "../../campaigns/fleet/campaign.ts";

const DECK = ["kill", "stop", "cut", "restart", "failover", "leave", "kill"] as const;

test(
  "three processes under every fault do once all that they are asked for, and spend no more than they may",
  {
    timeout: 240_000,
  },
  async () => {
    const report = await fleetCampaign({ processes: 3, specialists: 25, rounds: DECK.length, seed: 3, major: 15, deck: DECK });
    expect(report).toMatchObject({ lost: [], doubled: [], overQuota: 0, unfinished: 0, passedOver: 0, asked: report.answered });
    // Nobody unfreezes what the failover froze.
    expect(report).toMatchObject({ overCap: 0, overspent: [] });
    expect(report.spent).toBe(report.cap);
  },
);
