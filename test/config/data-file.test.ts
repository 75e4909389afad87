/** Data files that nobody wrote by hand: refused by their size, before they are read. */
import { closeSync, ftruncateSync, openSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { readProfile } from "../../src/config/profile-file.ts";
import { project } from "../harness/project.ts";

test.each(["yaml", "json"])("a profile of 50 MB in %s is refused by its size", async (extension) => {
  const { root } = project({ [`huge.${extension}`]: "extends: set-b\n" });
  const file = join(root, `huge.${extension}`);
  const handle = openSync(file, "r+");
  ftruncateSync(handle, 50 * 1024 * 1024);
  closeSync(handle);
  const before = process.memoryUsage().rss;
  const { problems } = await readProfile(file);
  expect(problems).toMatchObject([{ code: "file_too_large", message: "is 52,428,800 bytes long; at most 1,048,576 are read", file }]);
  expect(problems[0]?.hint).toContain("a profile states only what differs");
  expect(process.memoryUsage().rss - before).toBeLessThan(25 * 1024 * 1024);
});
