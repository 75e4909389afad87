/** `node test/campaigns/simulate/campaign.ts [seeds] [hours] [first]`: the whole cast over many seeds, and what came of it. */
import { DAY } from "../../../src/core/units.ts";
import { simulate } from "../../../src/simulation/simulate.ts";
import { course } from "../../harness/simulation-options.ts";

const [seeds = "100", hours = "18", first = "1"] = process.argv.slice(2);
const sums = { requests: 0, effects: 0, crashes: 0, doubts: 0, provenDoubts: 0, provenParked: 0, parked: 0 };
const parkedFor: Record<string, number> = {};
let virtualMs = 0;
let broken = 0;
for (let seed = Number(first); seed < Number(first) + Number(seeds); seed++) {
  const drawn = course(seed, Number(hours));
  const run = await simulate(drawn);
  for (const what of Object.keys(sums) as (keyof typeof sums)[]) sums[what] += run.stats[what];
  for (const [what, count] of Object.entries(run.stats.parkedFor)) parkedFor[what] = (parkedFor[what] ?? 0) + count;
  virtualMs += run.virtualMs * drawn.specialists.length;
  if (run.ok && run.errors.length === 0) continue;
  broken++;
  process.stdout.write(`${JSON.stringify({ seed, violations: run.violations.slice(0, 3), errors: run.errors })}\n`);
}
const { user, system } = process.cpuUsage();
const report = {
  seeds: Number(seeds),
  specialistYears: virtualMs / (365 * DAY),
  broken,
  ...sums,
  parkedFor,
  cpuSeconds: (user + system) / 1e6,
};
process.stdout.write(`${JSON.stringify(report, undefined, 2)}\n`);
process.exitCode = broken === 0 ? 0 : 1;
