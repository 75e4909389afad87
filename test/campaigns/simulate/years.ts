/** `node test/campaigns/simulate/years.ts [years] [first seed]`: specialist-years, one after the other, and what came of each. */
import { simulate } from "../../../src/simulation/simulate.ts";
import { yearOf } from "../../harness/simulation-yearling.ts";

const [years = "10", first = "1"] = process.argv.slice(2);
for (let seed = Number(first); seed < Number(first) + Number(years); seed++) {
  const { ok, errors, violations, stats } = await simulate(yearOf(seed));
  const { requests, effects, crashes, stops, doubts, provenDoubts, parked, provenParked, parkedFor } = stats;
  const counts = { requests, effects, crashes, stops, doubts, provenDoubts, parked, provenParked, parkedFor };
  process.stdout.write(`${JSON.stringify({ seed, ok, violations: violations.slice(0, 3), errors, ...counts })}\n`);
  if (!ok || errors.length > 0) process.exitCode = 1;
}
