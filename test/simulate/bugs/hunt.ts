/** Runs seeds until a promise breaks, and says how many it took. Run in a copy of the source with a bug in it. */
import { simulate } from "../../../src/simulation/simulate.ts";
import { patron, worker } from "../cast.ts";

const seeds = Number(process.argv[2] ?? 200);
let said = "";
for (let seed = 1; seed <= seeds && said === ""; seed++) {
  const faults = seed % 2 === 1 ? "all" : "swarm";
  const { violations } = await simulate({ specialists: [worker, patron], seed, hours: 18, faults });
  const [first] = violations;
  if (first !== undefined) said = `${seed} | ${first.promise}: ${first.what}`;
}
process.stdout.write(said === "" ? `not caught in ${seeds} |\n` : `${said}\n`);
