/** Plants each bug in a copy of the source and runs seeds until the simulation sees it: `node test/campaigns/simulate/bugs/score.ts [seeds] [name]…`. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { messageOf } from "../../../../src/core/errors.ts";
import { BUGS, type PlantedBug } from "./bugs.ts";
import { hunt, plant } from "./plant.ts";

/** A bug whose place has changed is said to be out of date; the others are hunted all the same. */
function huntIn(bug: PlantedBug, folder: string, seeds: number): string {
  try {
    const found = hunt(plant(bug, folder), seeds);
    return found.caught ? `${found.seed} | ${found.promise} | ${found.what}` : `not in ${found.seeds} | |`;
  } catch (error) {
    process.exitCode = 1;
    return `could not be hunted | | ${messageOf(error)}`;
  }
}

const [seeds = "200", ...only] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "retinue-bugs-"));
try {
  for (const bug of BUGS.filter(({ name }) => only.length === 0 || only.includes(name)))
    process.stdout.write(`| ${bug.name} | ${huntIn(bug, folder, Number(seeds))} |\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
