/** The one path of a file: links are followed also where the file does not exist yet, and never for ever. */
import { mkdirSync, symlinkSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { realPath } from "../../src/core/real-path.ts";
import { project } from "../harness/project.ts";

test("a file has one path, whichever link names it", () => {
  const { root } = project({ "data/store.sqlite": "" });
  symlinkSync(join(root, "data"), join(root, "folder"));
  symlinkSync("data/store.sqlite", join(root, "file"));
  const real = join(root, "data/store.sqlite");
  for (const name of ["data/store.sqlite", "folder/store.sqlite", "file", "data/../file"]) expect(realPath(join(root, name))).toBe(real);
});

test("a file that does not exist yet has the path at which it will be", () => {
  const { root } = project();
  mkdirSync(join(root, "data"));
  symlinkSync(join(root, "data"), join(root, "folder"));
  symlinkSync("data/new.sqlite", join(root, "file"));
  symlinkSync("file", join(root, "of-file"));
  for (const name of ["folder/new.sqlite", "file", "of-file"]) expect(realPath(join(root, name))).toBe(join(root, "data/new.sqlite"));
  expect(realPath(join(root, "folder/not/yet/here"))).toBe(join(root, "data/not/yet/here"));
});

test("links in a circle end as the system's error", () => {
  const { root } = project();
  symlinkSync(join(root, "b"), join(root, "a"));
  symlinkSync(join(root, "a"), join(root, "b"));
  expect(() => realPath(join(root, "a"))).toThrow(expect.objectContaining({ code: "ELOOP" }));
});

test("a file in the place of a folder ends as the system's error", () => {
  const { root } = project({ file: "" });
  expect(() => realPath(join(root, "file/store.sqlite"))).toThrow(expect.objectContaining({ code: "ENOTDIR" }));
});
