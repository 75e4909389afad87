/** A Node that is too old is refused by the first command, with advice that is true where the package is. */
import { spawnSync } from "node:child_process";
import { cpSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, test } from "vitest";
import { parseJson } from "../../src/core/json.ts";
import { project } from "../harness/project.ts";

const ROOT = join(import.meta.dirname, "../..");
const { href } = pathToFileURL(join(ROOT, "bin/node-version.js")); // plain JavaScript, without types
const { isSupported } = (await import(href)) as { isSupported(version: string): boolean };
const OLD = `--import=data:text/javascript,Object.defineProperty(process.versions,"node",{value:"22.23.3"})`;

describe("the supported versions", () => {
  test.each([
    ["20.20.2", false],
    ["22.23.3", false],
    ["24.14.1", false],
    ["24.15.0", true],
    ["24.21.0", true],
    ["25.9.0", false],
    ["26.0.0", true],
    ["31.2.0", true],
  ])("%s: %s", (version, expected) => expect(isSupported(version)).toBe(expected));

  test("package.json says the same", () => {
    expect(parseJson(readFileSync(join(ROOT, "package.json"), "utf8"))).toMatchObject({ engines: { node: "^24.15.0 || >=26" } });
    expect(isSupported(process.versions.node)).toBe(true);
  });
});

const MANIFEST = '{"type":"module"}';

describe("the advice", () => {
  test.each([
    ["a checkout", "mine/retinue", { "mine/retinue/src/index.ts": "" }, "npm run retinue -- …"],
    ["a project", "mine/node_modules/retinue", { "mine/package.json": "{}" }, "/mine, then npx retinue"],
    ["npx", "_npx/0a1b/node_modules/retinue", { "_npx/0a1b/package.json": "{}" }, "npx -p node@24 -p <this package> retinue"],
    ["a global folder", "lib/node_modules/retinue", {}, "install Node 24 from https://nodejs.org"],
  ])("in %s", (_name, place, files, advice) => {
    const { root } = project({ ...files, [`${place}/package.json`]: MANIFEST });
    cpSync(join(ROOT, "bin"), join(root, place, "bin"), { recursive: true });
    const run = (...args: readonly string[]) =>
      spawnSync(process.execPath, [OLD, join(root, place, "bin/retinue.js"), ...args], { cwd: root, encoding: "utf8" });
    const people = run("run");
    expect([people.status, people.stdout]).toEqual([2, ""]);
    expect(people.stderr.split("\n")).toEqual([
      "error: retinue needs Node 24.15 or a later 24, or Node 26 or later, and this is v22.23.3",
      expect.stringContaining(advice),
      "",
    ]);
    expect(parseJson(run("run", "--json").stdout)).toMatchObject({
      error: { code: "node_too_old", hint: expect.stringContaining(advice) as string },
    });
  });
});
