/** Networks of other make than the shipped sets, each joined by a profile file alone, under faults and kills; their logs are the judge. */
import { describe, expect, test } from "vitest";
import { MINUTE } from "../../../src/core/units.ts";
import { INVENTED } from "../../harness/networks/invented.ts";
import { joined } from "../../harness/networks/joined.ts";

const KILLS = 3;

describe.each(INVENTED)("$name", (invented) => {
  test.each([1, 2])("nothing twice, over a limit, undelivered or unknown to it (seed %i)", { timeout: 5 * MINUTE }, async (seed) => {
    const { verdict, lives, open, faults, deliveries } = await joined(invented, { seed, kills: KILLS });
    expect(verdict).toMatchObject({ duplicates: [], over: [], undelivered: [], strange: [] });
    // A job offered by ourselves leaves the list of offers, so a lost answer to it can be for a person to decide.
    expect(open.filter((line) => !line.startsWith("jobs.create : parked absence_unprovable"))).toEqual([]);
    for (const [kind, least] of Object.entries(invented.least)) expect([kind, verdict.done[kind]]).toEqual([kind, atLeast(least)]);
    expect(lives).toBe(KILLS + 1);
    expect(Object.keys(faults)).toHaveLength(6);
    expect(Object.entries(deliveries).filter(([status]) => status === "202")).not.toEqual([]);
  });
});

function atLeast(least: number): unknown {
  return expect.toSatisfy((count: number) => count >= least);
}
