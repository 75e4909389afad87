/** Puts one bug into a copy of the source, and lets the simulation look for it there. */
import { spawnSync } from "node:child_process";
import { cpSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { PlantedBug } from "./bugs.ts";

const ROOT = join(import.meta.dirname, "../../../..");
/** What a hunt needs. */
const PARTS = ["src", "test/campaigns/simulate", "test/harness", "package.json"];
/** A bug may also keep a run from ever ending. */
const LONGEST_HUNT_MS = 30 * 60_000;

/** The files with the bug in them, by path. Throws where a text that it changes does not stand in its file exactly once. */
export function edited({ name, edits }: PlantedBug): ReadonlyMap<string, string> {
  const files = new Map<string, string>();
  for (const { file, find, replace } of edits) {
    const text = files.get(file) ?? readFileSync(join(ROOT, file), "utf8");
    const times = text.split(find).length - 1;
    if (times !== 1) throw new Error(`${name}: expected ${JSON.stringify(find)} once in ${file}, got it ${times} times`);
    files.set(
      file,
      text.replace(find, () => replace),
    );
  }
  return files;
}

/** A copy in this folder, and its path. */
export function plant(bug: PlantedBug, folder: string): string {
  const files = edited(bug);
  const tree = join(folder, bug.name.replaceAll(/[^a-z0-9]+/g, "-"));
  mkdirSync(tree);
  for (const part of PARTS) cpSync(join(ROOT, part), join(tree, part), { recursive: true });
  symlinkSync(join(ROOT, "node_modules"), join(tree, "node_modules"));
  for (const [file, text] of files) writeFileSync(join(tree, file), text);
  return tree;
}

export type Hunt =
  /** The first seed that broke a promise, and which. */
  | { readonly caught: true; readonly seed: number; readonly promise: string; readonly what: string }
  | { readonly caught: false; readonly seeds: number };

/** Runs seeds in a copy until one breaks a promise, at most so many. Throws where the copy cannot run. */
export function hunt(tree: string, seeds: number): Hunt {
  const script = join(tree, "test/campaigns/simulate/bugs/hunt.ts");
  const { stdout, stderr, error } = spawnSync(process.execPath, ["--conditions=retinue-source", script, String(seeds)], {
    cwd: tree,
    encoding: "utf8",
    timeout: LONGEST_HUNT_MS,
  });
  if (stdout === "") throw error ?? new Error(stderr.split("\n").find((line) => line.includes("Error")) ?? stderr);
  return JSON.parse(stdout) as Hunt; // hunt.ts writes it, and nothing else
}
