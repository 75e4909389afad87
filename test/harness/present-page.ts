/** Builds the console's page before the tests, unless the built one is newer than its sources. */
import { globSync, statSync } from "node:fs";
import { join } from "node:path";
import { buildPage } from "../../scripts/build-page.ts";

const root = join(import.meta.dirname, "../..");
const SOURCES = ["src/console/page/**/*.*", "src/core/{visible,units}.ts", "scripts/build-page.ts", "package-lock.json"];

/** The folder that the console serves. */
export const PAGE_FOLDER = join(root, "dist/console-page");

export async function setup(): Promise<void> {
  const newest = Math.max(...SOURCES.flatMap((pattern) => globSync(pattern, { cwd: root })).map((path) => timeOf(join(root, path))));
  // The licences are written last.
  if (timeOf(join(PAGE_FOLDER, "LICENSES.txt")) < newest) await buildPage(PAGE_FOLDER);
}

/** 0 for a file that is not there. */
function timeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0;
}
