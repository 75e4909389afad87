/** Plants each bug in a copy of the source and runs seeds until the simulation sees it: `node test/simulate/bugs/score.ts [seeds] [name]`. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { messageOf } from "../../../src/core/errors.ts";
import { BUGS, type PlantedBug } from "./bugs.ts";

const ROOT = join(import.meta.dirname, "../../..");
const LONGEST_HUNT_MS = 3 * 60_000;

/** A copy of what a hunt needs, with the bug in it. */
function plant({ name, edits }: PlantedBug, folder: string): string {
  const tree = join(folder, name.replaceAll(" ", "-"));
  mkdirSync(tree);
  for (const part of ["src", "test/simulate", "package.json"]) cpSync(join(ROOT, part), join(tree, part), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(tree, "node_modules"));
  for (const { file, find, replace } of edits) {
    const text = readFileSync(join(tree, file), "utf8");
    const times = text.split(find).length - 1;
    if (times !== 1) throw new Error(`${name}: expected ${JSON.stringify(find)} once in ${file}, got it ${times} times`);
    writeFileSync(
      join(tree, file),
      text.replace(find, () => replace),
    );
  }
  return tree;
}

function hunt(tree: string, seeds: number): string {
  const script = join(tree, "test/simulate/bugs/hunt.ts");
  const run = spawnSync(process.execPath, ["--conditions=retinue-source", script, String(seeds)], {
    cwd: tree,
    encoding: "utf8",
    timeout: LONGEST_HUNT_MS,
  });
  return run.stdout.trim() || `broke: ${run.stderr.split("\n").find((line) => line.includes("Error")) ?? String(run.error)}`;
}

/** A bug whose place has changed is said to be out of date; the others are hunted all the same. */
function huntIn(one: PlantedBug, folder: string, seeds: number): string {
  try {
    return hunt(plant(one, folder), seeds);
  } catch (error) {
    return `cannot be planted | ${messageOf(error)}`;
  }
}

const [seeds = "200", only] = process.argv.slice(2);
const folder = mkdtempSync(join(tmpdir(), "retinue-bugs-"));
try {
  for (const one of BUGS.filter(({ name }) => only === undefined || name === only))
    process.stdout.write(`| ${one.name} | ${huntIn(one, folder, Number(seeds))} |\n`);
} finally {
  rmSync(folder, { recursive: true, force: true });
}
