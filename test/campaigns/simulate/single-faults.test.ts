/** The promises P1 to P5 under one kind of fault at a time: in a file of its own, so that a second core can take it. */
import { expect, test } from "vitest";
import { simulate } from "../../../src/simulation/simulate.ts";
import { FAULT_NAMES, type FaultName } from "../../../src/simulation/faults.ts";
import { CAST } from "../../harness/simulation-options.ts";
import { verdict } from "../../harness/simulation-verdict.ts";

/** Plenty of it: shares of requests, or times a day. */
function rateOf(fault: FaultName): number {
  if (fault === "followStormsPerDay") return 9; // each is a thousand deliveries
  if (fault.endsWith("PerDay")) return 24;
  return fault === "crashes" ? 100 : fault === "staleReads" ? 1 : 0.3;
}

const AMONG_PROCESSES: ReadonlySet<FaultName> = new Set(["disconnectionsPerDay", "departuresPerDay"]);

test.each(FAULT_NAMES)("the promises hold under %s alone, and plenty of it", { timeout: 300_000 }, async (fault) => {
  const processes = AMONG_PROCESSES.has(fault) ? 3 : 1;
  const run = await simulate({ specialists: CAST, seed: 11, hours: 4, faults: { [fault]: rateOf(fault) }, webhooks: true, processes });
  expect(verdict(run)).toBe("kept");
});
