/** However the command is begun, Node is begun with the same settings: what keeps the process small is told in one way. */
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "../..");
const read = (path: string): string => readFileSync(join(ROOT, path), "utf8");

/** The environment and the flags before the file that Node runs, in what follows `before`. */
function settings(text: string, before: RegExp): string {
  const [, found = ""] =
    new RegExp(`${before.source}(MALLOC_ARENA_MAX=\\d+ (?:exec )?node [^\\n"]*?) *(?:--conditions|node_modules|$)`, "m").exec(text) ?? [];
  return found.replace("exec ", "");
}

test("by its first line, by an npm script, or as its operator is told to", () => {
  const shipped = settings(read("bin/retinue.js"), /^#!\/usr\/bin\/env -S /);
  expect(shipped).toMatch(/^MALLOC_ARENA_MAX=1 node --/);
  const manifest = read("package.json");
  expect(settings(manifest, /"start": "/)).toBe(shipped);
  expect(settings(manifest, /"retinue": "/)).toBe(shipped);
  expect(settings(read("docs/operating.md"), /^/)).toBe(shipped);
});

test("and the benchmark of the crowd weighs it with the same flags", () => {
  const flags = settings(read("bin/retinue.js"), /^#!\/usr\/bin\/env -S /)
    .split(" ")
    .slice(2);
  expect(read("bench/suites/crowd.ts")).toContain(`const SHIPPED_FLAGS = ${JSON.stringify(flags).replaceAll(",", ", ")};`);
});
