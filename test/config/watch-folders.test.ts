/** Changes in folders, as the system tells them. */
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { watchFolders } from "../../src/config/watch-folders.ts";
import { project } from "../harness/project.ts";

function watching() {
  const told: (string | undefined)[] = [];
  const watch = watchFolders((_folder, path) => void told.push(path));
  onTestFinished(() => watch.close());
  return { watch, told };
}

test("a change in a followed folder is told with its path, and none of a folder that is no longer followed", async () => {
  const { root } = project({ "a/one.ts": "1", "b/two.ts": "2" });
  const { watch, told } = watching();
  watch.follow([join(root, "a"), join(root, "b"), join(root, "a")]);
  expect(watch.isComplete).toBe(true);
  writeFileSync(join(root, "a/one.ts"), "11");
  await expect.poll(() => told).toContain(join(root, "a/one.ts"));
  watch.follow([join(root, "b")]);
  const before = told.length;
  writeFileSync(join(root, "a/one.ts"), "111");
  writeFileSync(join(root, "b/two.ts"), "22");
  await expect.poll(() => told).toContain(join(root, "b/two.ts"));
  expect(told.slice(before)).not.toContain(join(root, "a/one.ts"));
});

test("a folder that cannot be watched makes it incomplete, and one that is made again is followed again", async () => {
  const { root } = project({ "a/one.ts": "1" });
  const { watch, told } = watching();
  watch.follow([join(root, "a")]);
  rmSync(join(root, "a"), { recursive: true });
  watch.follow([join(root, "a")]);
  expect(watch.isComplete).toBe(false);
  mkdirSync(join(root, "a"));
  watch.follow([join(root, "a")]);
  expect(watch.isComplete).toBe(true);
  writeFileSync(join(root, "a/one.ts"), "11");
  await expect.poll(() => told).toContain(join(root, "a/one.ts"));
});

test("no folder beyond the bound is watched", () => {
  const { root } = project({ "a/one.ts": "1" });
  const { watch } = watching();
  watch.follow(Array.from({ length: 501 }, (_, i) => join(root, `none-${i}`)));
  expect(watch.isComplete).toBe(false);
});
