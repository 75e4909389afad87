/** Runs seeds until a promise breaks, and says which it was. Run in a copy of the source with a bug in it. */
import { simulate } from "../../../../src/simulation/simulate.ts";
import { course } from "../../../harness/simulation-options.ts";
import type { Hunt } from "./plant.ts";

const HOURS = 18;
const seeds = Number(process.argv[2] ?? 200);
let hunt: Hunt = { caught: false, seeds };
for (let seed = 1; seed <= seeds && !hunt.caught; seed++) {
  const { violations } = await simulate(course(seed, HOURS));
  const [first] = violations;
  if (first !== undefined) hunt = { caught: true, seed, promise: first.promise, what: first.what };
}
process.stdout.write(JSON.stringify(hunt));
