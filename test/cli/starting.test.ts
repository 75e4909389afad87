/** However the command is begun, Node is begun with the same settings: what keeps the process small is told in one way. */
import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { expect, test } from "vitest";
import { shippedNode } from "../../bench/harness/shipped.ts";
import { startSubject, type Whose } from "../../bench/harness/subject.ts";

const ROOT = resolve(import.meta.dirname, "../..");
const read = (path: string): string => readFileSync(resolve(ROOT, path), "utf8");

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

test("and the benchmarks measure it with the same", () => {
  const { env, flags } = shippedNode();
  const told = Object.entries(env).map(([name, value]) => `${name}=${value}`);
  expect([...told, "node", ...flags].join(" ")).toBe(settings(read("bin/retinue.js"), /^#!\/usr\/bin\/env -S /));
});

test.skipIf(!existsSync("/proc/self/cmdline"))("in every process that runs it, and in none that runs a peer", async () => {
  const { env, flags } = shippedNode();
  const told = [...flags, ...Object.entries(env).map(([name, value]) => `${name}=${value}`)];
  const found = async (whose: Whose): Promise<readonly string[]> => {
    const subject = await startSubject("growth.ts", {}, whose);
    const words = ["cmdline", "environ"].flatMap((file) => read(`/proc/${subject.pid}/${file}`).split("\0"));
    await subject.stop();
    return told.filter((word) => words.includes(word));
  };
  expect(await found("retinue")).toEqual(told);
  expect(await found("peer")).toEqual([]);
});
