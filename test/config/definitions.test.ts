/** Definition files: every format loads, and loads again after a change. */
import { SECOND } from "../../src/core/units.ts";
import { join, relative } from "node:path";
import { describe, expect, test } from "vitest";
import { createDefinitionLoader, loadDefinitions } from "../../src/config/definitions.ts";
import { CREDITS, HOUR, MICROS_PER_UNIT, MINUTE } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { defineSpecialist } from "../../src/specialist/definition.ts";
import { project } from "../harness/project.ts";

describe("a definition loads from", () => {
  const yaml = `handle: scout\ntier: pro\nskills: [csv, json]\nspend: {perDay: 40, total: [{currency: usd, micros: 5}]}\nwatch: {jobs: {skills: [CSV], maxAge: 2h}}\n`;
  const files: { readonly [name: string]: string } = {
    "scout.yaml": yaml,
    "scout.yml": yaml,
    "scout.json": `{\n\t"handle": "scout", "tier": "pro", "skills": ["csv", "json"], "spend": {"perDay": 40, "total": [{"currency": "usd", "micros": 5}]},\n\t"watch": {"jobs": {"skills": ["CSV"], "maxAge": "2h"}}}`,
    "scout.md": `---\n${yaml}---\n`,
    "scout.ts": `const tier: string = "pro";\nexport default { handle: "scout", tier, skills: ["csv", "json"], spend: { perDay: 40, total: [{ currency: "usd", micros: 5 }] }, watch: { jobs: { skills: ["CSV"], maxAge: "2h" } } };`,
    "scout.mjs": `export default { handle: "scout", tier: "pro", skills: ["csv", "json"], spend: { perDay: 40, total: [{ currency: "usd", micros: 5 }] }, watch: { jobs: { skills: ["CSV"], maxAge: 7_200_000 } } };`,
    "scout/index.js": `export default { handle: "scout", tier: "pro", skills: ["csv", "json"], spend: { perDay: 40, total: [{ currency: "usd", micros: 5 }] }, watch: { jobs: { skills: ["CSV"], maxAge: "120m" } } };`,
  };

  test.each(Object.keys(files))("%s", async (name) => {
    const { root } = project({ [name]: files[name] ?? "" });
    const { definitions, problems } = await loadDefinitions(root);
    expect(problems).toEqual([]);
    expect(definitions).toHaveLength(1);
    expect(definitions[0]).toMatchObject({
      file: join(root, name),
      specialist: {
        handle: "scout",
        tier: "pro",
        skills: ["csv", "json"],
        spend: { perDay: [{ currency: CREDITS, micros: 40 * MICROS_PER_UNIT }], total: [{ currency: "usd", micros: 5 }], perHour: [] },
        watch: { feed: undefined, jobs: { skills: ["csv"], maxAgeMs: 2 * HOUR, from: "now" } },
        deadlineMs: MINUTE,
        on: {},
      },
    });
    expect(Object.isFrozen(definitions[0]?.specialist.watch)).toBe(true);
  });

  test("the text below front matter, as instructions", async () => {
    const { root } = project({ "kind.md": "---\r\nhandle: kind\r\n---\r\n# Be kind\r\n\r\n---\r\nalways\r\n" });
    const { definitions } = await loadDefinitions(root);
    expect(definitions[0]?.specialist.instructions).toBe("# Be kind\r\n\r\n---\r\nalways");
  });

  test("handlers, which say what is watched", async () => {
    const { root } = project({
      "a.ts": `export default { handle: "a", on: { "post.created": () => {}, "x:badge.won": () => {}, "reply.created": () => {} } };`,
    });
    const { definitions, problems } = await loadDefinitions(root);
    expect(problems).toEqual([]);
    expect(definitions[0]?.specialist.watch).toMatchObject({ feed: { from: "now" }, jobs: undefined, threads: true, mentions: false });
  });
});

test("the package's own name means this very copy, wherever the file lies", async () => {
  const { root } = project({
    "a.ts": `import { defineSpecialist } from "retinue";\nexport default defineSpecialist({ handle: "a", on: { "job.listed": defineSpecialist } });`,
  });
  const { definitions, problems } = await loadDefinitions(root);
  expect(problems).toEqual([]);
  expect(definitions[0]?.specialist.on["job.listed"]).toBe(defineSpecialist);
});

test("an installed package may bring definitions as JavaScript, and is told why not as TypeScript", async () => {
  const { root } = project({
    "node_modules/cast/a.js": `import { name } from "./parts/name.js";\nexport default { handle: name };`,
    "node_modules/cast/parts/name.js": `export const name = "a";`,
    "node_modules/cast/b.ts": `export default { handle: "b" };`,
  });
  const { definitions, problems } = await loadDefinitions(join(root, "node_modules/cast"));
  expect(definitions.map(({ specialist }) => specialist.handle)).toEqual(["a"]);
  expect(problems).toMatchObject([{ file: join(root, "node_modules/cast/b.ts"), hint: "build it to JavaScript, or move it" }]);
});

test("a file that is no definition is left alone", async () => {
  const { root } = project({
    "README.md": "# hello",
    ".hidden.ts": "throw 1",
    "scout.test.ts": "throw 1",
    "types.d.ts": "throw 1",
    "prices.csv": "a,b",
    "helpers/words.ts": "throw 1",
    "node_modules/index.js": "throw 1",
  });
  expect(await loadDefinitions(root)).toEqual({ definitions: [], drafts: [], problems: [] });
});

describe("loading again", () => {
  test("sees a changed module, and what it imports beside it", async () => {
    const { root, write } = project({
      "a.ts": `import { bio } from "./parts/bio.ts";\nexport default { handle: "a", bio };`,
      "parts/bio.ts": `export const bio: string = "one";`,
    });
    const bio = async (): Promise<string | undefined> => (await loadDefinitions(root)).definitions[0]?.specialist.bio;
    expect(await bio()).toBe("one");
    write("parts/bio.ts", `export const bio: string = "two";`);
    expect(await bio()).toBe("two");
    write("a.ts", `export default { handle: "a", bio: "three" };`);
    expect(await bio()).toBe("three");
  });

  test("recovers from a module that was broken before", async () => {
    const { root, write } = project({ "a.ts": `export default {` });
    expect((await loadDefinitions(root)).problems).toHaveLength(1);
    write("a.ts", `export default { handle: "a" };`);
    expect(await loadDefinitions(root)).toMatchObject({ problems: [], definitions: [{}] });
  });

  test("a module that never finishes does not hold up the others for ever", async () => {
    const { root } = project({ "a.ts": "await new Promise(() => {});\nexport default {};", "b.yaml": "handle: b" });
    const clock = virtualClock();
    const loading = loadDefinitions(root, clock);
    while (clock.pending() === 0) await new Promise<void>((turn) => setImmediate(turn)); // the file is read in real time
    await clock.advance(30 * SECOND);
    const { definitions, problems } = await loading;
    expect(definitions).toHaveLength(1);
    expect(problems).toMatchObject([{ code: "load_timeout", file: join(root, "a.ts") }]);
  });
});

describe("a loader", () => {
  const FILES = {
    "scout.ts": 'import { bio } from "./parts/words.ts";\nexport default { handle: "scout", bio };',
    "parts/words.ts": 'export const bio = "one";',
    "quill.yaml": "handle: quill",
  };

  test("gives the definition it has until one of its files changes, or until it is told to renew", async () => {
    const { root, write } = project(FILES);
    const loader = createDefinitionLoader();
    const load = async () =>
      (await loadDefinitions(root, undefined, loader)).definitions.map(({ load: number, specialist: { bio } }) => [number, bio]);
    expect(await load()).toEqual([
      [1, ""],
      [2, "one"],
    ]);
    expect([...loader.files().keys()].map((path) => relative(root, path)).toSorted()).toEqual(Object.keys(FILES).toSorted());
    write("parts/words.ts", 'export const bio = "other";');
    expect(await load()).toEqual([
      [1, ""],
      [3, "other"],
    ]);
    loader.renew((path) => path.endsWith("words.ts"));
    expect(await load()).toEqual([
      [1, ""],
      [4, "other"],
    ]);
    loader.renew();
    expect((await load()).map(([number]) => number)).toEqual([5, 6]);
  });

  test("loads a broken one each time, and knows the files it was made of", async () => {
    const { root, write } = project({ ...FILES, "parts/words.ts": "export const bio = ;" });
    const loader = createDefinitionLoader();
    const { problems } = await loadDefinitions(root, undefined, loader);
    expect(problems).toMatchObject([{ file: join(root, "parts/words.ts"), definition: join(root, "scout.ts"), line: 1, column: 20 }]);
    expect(loader.files().has(join(root, "parts/words.ts"))).toBe(true);
    write("parts/words.ts", FILES["parts/words.ts"]);
    expect((await loadDefinitions(root, undefined, loader)).problems).toEqual([]);
  });
});

test.each<[string, string, object]>([
  ["a promise", "export default (async () => ({ handle: 'a' }))();", { code: "default_async" }],
  ["an async function", "export default async () => ({ handle: 'a' });", { code: "default_function" }],
  [
    "a handler of an event that there is not",
    "export default { handle: 'a', on: { 'post.liket': () => undefined } };",
    { code: "event_unknown", message: 'on: there is no event "post.liket"', hint: 'did you mean "post.liked"?' },
  ],
  [
    "one far from every event",
    "export default { handle: 'a', on: { contest: () => undefined } };",
    { code: "event_unknown", hint: expect.stringContaining("x:<name>") as string },
  ],
])("%s has an error of its own", async (_what, text, problem) => {
  const { root } = project({ "a.ts": text });
  expect((await loadDefinitions(root)).problems).toMatchObject([problem]);
});
