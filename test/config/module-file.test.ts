/** Modules as files: loaded afresh each time, and each failure named with its place and what to try. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { loadModule } from "../../src/config/module-file.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { project } from "../harness/project.ts";

test("a changed file is loaded as it is now, with what it imports beside it", async () => {
  const { root, write } = project({ "a.ts": 'export { word } from "./b.ts";', "b.ts": 'export const word = "one";' });
  const load = () => loadModule(join(root, "a.ts"));
  expect(await load()).toMatchObject({ exports: { word: "one" } });
  write("b.ts", 'export const word: string = "two";');
  expect(await load()).toMatchObject({ exports: { word: "two" } });
});

test.each<[string, string, object]>([
  ["a syntax error", "export default {\n  handle: ,\n};", { code: "definition_syntax", line: 2, column: 11, excerpt: "handle: ," }],
  [
    "an enum",
    "enum Way { Up }\nexport default Way;",
    { code: "definition_syntax", hint: expect.stringContaining("use no enum") as string },
  ],
  [
    "a missing export",
    'import { nothing } from "./b.ts";\nexport default nothing;',
    { code: "import_failed", hint: 'export "nothing" there, or fix the import' },
  ],
  ["a missing file", 'import "./none.ts";', { code: "import_failed", hint: "fix the import, or install the package" }],
  ["a missing package", 'import "no-such-package-here";', { code: "import_failed" }],
  [
    "one of our functions that is not imported",
    'export default defineSpecialist({ handle: "scout" });',
    { code: "definition_threw", hint: 'import it: import { defineSpecialist } from "retinue";' },
  ],
  ["CommonJS", "module.exports = {};", { code: "definition_threw", hint: expect.stringContaining("ES modules") as string }],
  [
    "an error",
    "\nthrow new Error('no disk\\nat all');",
    { code: "definition_threw", line: 2, column: 7, message: "it threw while it was loaded: no disk" },
  ],
  ["something that is no error", "throw 7;", { code: "definition_threw", message: "it threw while it was loaded: 7" }],
  ["our own error", 'import { credits } from "retinue";\nexport default credits(-4);', { code: "money_invalid", line: 2 }],
])("%s is a problem of its file", async (_what, text, problem) => {
  const { root } = project({ "a.ts": text, "b.ts": "export {};" });
  expect(await loadModule(join(root, "a.ts"))).toMatchObject({ problem: { level: "error", file: join(root, "a.ts"), ...problem } });
});

test("a module that never finishes ends after 20 s, and leaves no timer", async () => {
  const clock = virtualClock();
  const { root } = project({ "a.ts": "await new Promise(() => undefined);", "b.ts": "export default 1;" });
  const loading = loadModule(join(root, "a.ts"), clock);
  expect(await clock.run(loading)).toMatchObject({ problem: { code: "load_timeout", message: "did not finish loading in 20 s" } });
  expect(await loadModule(join(root, "b.ts"), clock)).toMatchObject({ exports: { default: 1 } });
  await clock.settle();
  expect(clock.pending()).toBe(0);
});

test("imports in a circle are named with their files, where they use a value that does not exist yet", async () => {
  const { root } = project({
    "a.ts": 'import { b } from "./b.ts";\nexport const a = 1;\nexport default { b };',
    "b.ts": 'import { c } from "./c.ts";\nexport const b = c;',
    "c.ts": 'import { a } from "./a.ts";\nexport const c: number = a + 1;',
  });
  expect(await loadModule(join(root, "a.ts"))).toMatchObject({
    problem: {
      code: "import_cycle",
      message: expect.stringContaining("a.ts → b.ts → c.ts → a.ts") as string,
      file: join(root, "c.ts"),
      line: 2,
      excerpt: "export const c: number = a + 1;",
    },
  });
  const { root: own } = project({ "a.ts": "export default later + 1;\nconst later = 1;" });
  expect(await loadModule(join(own, "a.ts"))).toMatchObject({ problem: { code: "definition_threw" } });
});

test("a load names its files, JSON included, and is repeated from their texts whatever the disk holds by then", async () => {
  const { root, write } = project({
    "a.ts": 'import { b } from "./b.ts";\nimport data from "./data.json" with { type: "json" };\nexport default [b, data.n];',
    "b.ts": "export const b: number = 1;",
    "data.json": '{ "n": 1 }',
  });
  const first = await loadModule(join(root, "a.ts"));
  expect(first).toMatchObject({ exports: { default: [1, 1] } });
  expect([...first.files.keys()].toSorted()).toEqual(["a.ts", "b.ts", "data.json"].map((name) => join(root, name)));
  write("b.ts", "broken (");
  write("data.json", '{ "n": 2 }');
  const texts = new Map([...first.files].map(([path, { text }]) => [path, text]));
  expect(await loadModule(join(root, "a.ts"), undefined, texts)).toMatchObject({ exports: { default: [1, 1] } });
  write("b.ts", "export const b: number = 2;");
  expect(await loadModule(join(root, "a.ts"))).toMatchObject({ exports: { default: [2, 2] } });
});
