/** The signature of a folder: any change of a file shows at its path, and nothing else does. */
import { mkdirSync, rmSync, utimesSync, writeFileSync } from "node:fs";
import { join, relative } from "node:path";
import { expect, test } from "vitest";
import { folderSignature } from "../../src/config/folder-signature.ts";
import { project } from "../harness/project.ts";

const FILES = { "scout.ts": "1", "quill/index.ts": "2", "quill/parts/words.ts": "3" };

/** The files that differ after a change. */
async function changedBy(change: (root: string) => void): Promise<readonly string[]> {
  const { root } = project(FILES);
  const before = await folderSignature(root);
  change(root);
  const after = await folderSignature(root);
  return [...new Set([...before.keys(), ...after.keys()])]
    .filter((name) => before.get(name) !== after.get(name))
    .map((path) => relative(root, path));
}

test.each<[string, (root: string) => void, readonly string[]]>([
  ["nothing", () => undefined, []],
  ["a file that is longer", (root) => writeFileSync(join(root, "scout.ts"), "11"), ["scout.ts"]],
  ["a file that is saved again", (root) => utimesSync(join(root, "scout.ts"), 1, 1), ["scout.ts"]],
  ["a file deep in a folder", (root) => writeFileSync(join(root, "quill/parts/words.ts"), "33"), ["quill/parts/words.ts"]],
  ["a file that is new", (root) => writeFileSync(join(root, "quill/parts/more.ts"), ""), ["quill/parts/more.ts"]],
  ["a folder that is gone", (root) => rmSync(join(root, "quill"), { recursive: true }), ["quill/index.ts", "quill/parts/words.ts"]],
  ["a file at the top that is new", (root) => writeFileSync(join(root, "new.ts"), ""), ["new.ts"]],
  ["a hidden file", (root) => writeFileSync(join(root, ".scout.ts.swp"), ""), []],
  ["a test beside it", (root) => writeFileSync(join(root, "scout.test.ts"), ""), []],
  ["a copy by an editor", (root) => writeFileSync(join(root, "scout.ts~"), ""), []],
  ["an installed package", (root) => mkdirSync(join(root, "node_modules/x"), { recursive: true }), []],
])("%s", async (_what, change, entries) => {
  expect(await changedBy(change)).toEqual(entries);
});

test("a folder that is not there is empty", async () => {
  expect(await folderSignature(join(project().root, "none"))).toEqual(new Map());
});

test("a file deeper than eight folders is not looked at", async () => {
  const deep = "1/2/3/4/5/6/7/8/9";
  const { root } = project({ [`${deep}/deep.ts`]: "1" });
  const before = await folderSignature(root);
  writeFileSync(join(root, deep, "deep.ts"), "22");
  expect(await folderSignature(root)).toEqual(before);
});
