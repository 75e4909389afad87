/** Profile files: shipped by name or written on top of one, as data, with every mistake at its line. */
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadProfile, readProfile } from "../../src/config/profile-file.ts";
import { project } from "../harness/project.ts";

test("a profile is one of the shipped ones, or a file on top of one", async () => {
  const { root } = project({
    "mine.yaml": "extends: set-a\nname: mine\n",
    "mine.json": '{ "extends": "set-b", "name": "json" }',
    "mine.ts": 'const name: string = "code";\nexport default { extends: "set-b", name };',
  });
  expect([(await loadProfile("set-a")).set, (await loadProfile("set-b")).set]).toEqual(["a", "b"]);
  expect(await loadProfile(join(root, "mine.yaml"))).toMatchObject({ set: "a", name: "mine" });
  expect(await loadProfile(join(root, "mine.json"))).toMatchObject({ set: "b", name: "json" });
  expect(await loadProfile(join(root, "mine.ts"))).toMatchObject({ set: "b", name: "code" });
});

test("a mistake is named with its line, and with the name that was perhaps meant", async () => {
  const { root, write } = project({ "mine.yaml": "extends: set-a\noperations:\n  posts.replyy:\n    path: /x\ntimign: {}\n" });
  expect((await readProfile(join(root, "mine.yaml"))).problems).toMatchObject([{ code: "key_unknown", line: 5 }]);
  const file = write(
    "mine.yaml",
    "extends: set-a\noperations:\n  posts.replyy:\n    path: /x\nguesses:\n  - paging.style\n  - pageing.style\n",
  );
  expect((await readProfile(file)).problems).toMatchObject([
    { code: "profile_invalid", line: 3, hint: 'did you mean "posts.reply"?' },
    { code: "profile_invalid", line: 7, hint: 'did you mean "paging"?' },
  ]);
});

test.each([
  ["none.yaml", "", "profile_missing"],
  ["mine.md", "extends: set-b", "profile_format"],
  ["broken.yaml", "extends: [", "data_syntax"],
  ["none.ts", "export const name = 1;", "default_missing"],
  ["function.ts", "export default () => ({ extends: 'set-b' });", "default_function"],
  ["promise.ts", "export default Promise.resolve({ extends: 'set-b' });", "default_async"],
  ["throws.ts", "throw new Error('no disk');", "definition_threw"],
  ["text.yaml", "set-b", "profile_invalid"],
])("%s is refused: %#", async (name, text, code) => {
  const { root } = project(text === "" ? {} : { [name]: text });
  const { profile, problems } = await readProfile(join(root, name));
  expect([profile, problems[0]?.code, problems[0]?.file]).toEqual([undefined, code, join(root, name)]);
  await expect(loadProfile(join(root, name))).rejects.toMatchObject({ code });
});

test("a folder with the name of a module is no profile", async () => {
  const { root } = project();
  mkdirSync(join(root, "folder.ts"));
  expect((await readProfile(join(root, "folder.ts"))).problems).toMatchObject([{ code: "profile_format" }]);
});

test("a profile that throws while it is loaded is told to be data", async () => {
  const { root } = project({ "throws.ts": "throw new Error('no disk');" });
  expect((await readProfile(join(root, "throws.ts"))).problems[0]?.hint).toBe("a profile is data: it must not run code that may fail");
});
