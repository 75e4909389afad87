/** `npm run crash -- --fleet-bugs`: plants each bug, runs the tests that have to find it, and fails if one does not. */
import { spawnSync } from "node:child_process";
import { join } from "node:path";
import { PLANTED_BUGS } from "./bugs.ts";

const ROOT = join(import.meta.dirname, "../../..");
const PLANT = join(import.meta.dirname, "plant.mjs");

/** Runs the tests of each bug, without it and with it. Returns the number of bugs that were not found. */
export function plantAll(): number {
  let missed = 0;
  for (const bug of PLANTED_BUGS) {
    const clean = runTests(bug.tests, {});
    const planted = runTests(bug.tests, { RETINUE_PLANTED: JSON.stringify(bug), NODE_OPTIONS: `--import=${PLANT}` });
    const verdict = !clean ? "its tests fail without it" : planted ? "NOT FOUND" : "found";
    if (verdict !== "found") missed++;
    process.stdout.write(`${bug.name}: ${verdict}\n`);
  }
  return missed;
}

function runTests(file: string, env: { readonly [name: string]: string }): boolean {
  const vitest = join(ROOT, "node_modules/vitest/vitest.mjs");
  const { status } = spawnSync(process.execPath, ["--conditions=retinue-source", vitest, "run", "--bail=1", file], {
    cwd: ROOT,
    env: { ...process.env, ...env },
    stdio: "ignore",
  });
  return status === 0;
}
