/** Definition files with mistakes: each is named with its place, all of them at once. */
import { symlinkSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { loadDefinitions } from "../../src/config/definitions.ts";
import { project } from "../harness/project.ts";

interface Mistake {
  readonly name: string;
  readonly file: string;
  readonly text: string;
  readonly code: string;
  readonly message: string | RegExp;
  readonly line?: number;
  readonly hint?: string | RegExp;
}

const MISTAKES: readonly Mistake[] = [
  {
    name: "a syntax error in TypeScript",
    file: "a.ts",
    text: `const x: number = 1;\n\nexport default { handle: "a", on: { ;`,
    code: "definition_syntax",
    message: "syntax error",
    line: 3,
  },
  {
    name: "a syntax error in JavaScript",
    file: "a.js",
    text: `\nexport default { handle "a" };`,
    code: "definition_syntax",
    message: "syntax error",
    line: 2,
  },
  {
    name: "TypeScript that cannot be stripped",
    file: "a.ts",
    text: `\nenum A { B }\nexport default {};`,
    code: "definition_syntax",
    message: "enum",
    line: 2,
    hint: "no enum",
  },
  {
    name: "no default export",
    file: "a.ts",
    text: `export const scout = {};`,
    code: "default_missing",
    message: "no default export",
    hint: "export default defineSpecialist",
  },
  {
    name: "an async default export",
    file: "a.ts",
    text: `export default Promise.resolve({ handle: "a" });`,
    code: "default_async",
    message: "promise",
    hint: "await",
  },
  {
    name: "a function as default export",
    file: "a.ts",
    text: `export default () => ({ handle: "a" });`,
    code: "default_function",
    message: "function",
  },
  { name: "a text as default export", file: "a.ts", text: `export default "a";`, code: "default_not_object", message: "not an object" },
  {
    name: "an error while loading",
    file: "a.ts",
    text: `\n\nthrow new Error("no disk");`,
    code: "definition_threw",
    message: "no disk",
    line: 3,
  },
  {
    name: "CommonJS",
    file: "a.js",
    text: `module.exports = {};`,
    code: "definition_threw",
    message: "module is not defined",
    line: 1,
    hint: "ES modules",
  },
  {
    name: "an import that does not exist",
    file: "a.ts",
    text: `import "./words.ts";\nexport default {};`,
    code: "import_failed",
    message: "words.ts",
  },
  {
    name: "a package that is not installed",
    file: "a.ts",
    text: `import "no-such-package-here";\nexport default {};`,
    code: "import_failed",
    message: "no-such-package-here",
    hint: "install",
  },
  { name: "no handle", file: "a.yaml", text: `tier: pro\n`, code: "definition_invalid", message: "handle is missing", line: 1 },
  { name: "a bad handle", file: "a.yaml", text: `\nhandle: "a b"\n`, code: "definition_invalid", message: 'got "a b"', line: 2 },
  {
    name: "an unknown tier",
    file: "a.yaml",
    text: `handle: a\ntier: prp\n`,
    code: "definition_invalid",
    message: 'got "prp"',
    line: 2,
    hint: '"pro"',
  },
  {
    name: "a mistyped setting",
    file: "a.yaml",
    text: `handle: a\nwatch:\n  feed:\n    form: now\n`,
    code: "key_unknown",
    message: "watch.feed.form",
    line: 4,
    hint: '"from"',
  },
  {
    name: "a mistyped event",
    file: "a.ts",
    text: `export default { handle: "a", on: { "job.listd": () => {} } };`,
    code: "event_unknown",
    message: `there is no event "job.listd"`,
    hint: '"job.listed"',
  },
  {
    name: "a negative limit",
    file: "a.yaml",
    text: `handle: a\nspend:\n  perDay: -1\n`,
    code: "definition_invalid",
    message: "spend.perDay",
    line: 3,
    hint: "never negative",
  },
  {
    name: "a negative brake",
    file: "a.json",
    text: `{\n"handle": "a",\n"brakes": {"hops": -1}}`,
    code: "definition_invalid",
    message: "brakes.hops",
    line: 3,
  },
  {
    name: "lanes above a hundred",
    file: "a.yaml",
    text: `handle: a\nlanes: {reply: 60, act: 60}\n`,
    code: "definition_invalid",
    message: "at most 100",
    line: 2,
  },
  { name: "a bad duration", file: "a.yaml", text: `handle: a\ndeadline: soon\n`, code: "definition_invalid", message: "deadline", line: 2 },
  {
    name: "a bad date",
    file: "a.yaml",
    text: `handle: a\nwatch: {jobs: {from: yesterday}}\n`,
    code: "definition_invalid",
    message: "watch.jobs.from",
    line: 2,
  },
  {
    name: "code in a data file",
    file: "a.yaml",
    text: `handle: a\non:\n  post.created: x\n`,
    code: "definition_invalid",
    message: "on",
    line: 2,
    hint: ".ts or .js",
  },
  {
    name: "a key that appears twice",
    file: "a.yaml",
    text: `handle: a\nhandle: b\n`,
    code: "data_syntax",
    message: 'the key "handle" appears twice',
    line: 2,
  },
  {
    name: "a key that appears twice in JSON",
    file: "a.json",
    text: `{\n"handle": "a",\n"handle": "b"}`,
    code: "data_syntax",
    message: "twice",
    line: 3,
  },
  { name: "broken YAML", file: "a.yaml", text: `handle: a\nskills: [a\n`, code: "data_syntax", message: /./, line: 3 },
  { name: "broken JSON", file: "a.json", text: `{\n"handle": "a",\n}`, code: "data_syntax", message: "is not JSON", line: 3 },
  {
    name: "a YAML tag that is code elsewhere",
    file: "a.yaml",
    text: `handle: a\nbio: !!js/function "x"\n`,
    code: "data_syntax",
    message: /tag/,
    line: 2,
  },
  { name: "a file that would explode", file: "a.yaml", text: `${bomb()}`, code: "data_syntax", message: "alias" },
  {
    name: "a JSON file without a bottom",
    file: "a.json",
    text: "[".repeat(200) + "]".repeat(200),
    code: "file_too_deep",
    message: "deeper",
  },
  { name: "Markdown without front matter", file: "a.md", text: `# hello`, code: "front_matter_missing", message: "front matter", line: 1 },
  {
    name: "a mistake in front matter",
    file: "a.md",
    text: `---\nhandle: a\ntier: x\n---\nhello`,
    code: "definition_invalid",
    message: "tier",
    line: 3,
  },
  {
    name: "instructions told twice",
    file: "a.md",
    text: `---\nhandle: a\ninstructions: x\n---\nhello`,
    code: "instructions_twice",
    message: "in the front matter and in the text below it",
  },
  {
    name: "a schedule with cron and every",
    file: "a.ts",
    text: `export default { handle: "a", schedules: { d: { cron: "0 9 * * *", every: "1h", run() {} } } };`,
    code: "definition_invalid",
    message: "schedules.d: expected either cron or every",
  },
  {
    name: "a schedule without a function",
    file: "a.ts",
    text: `export default { handle: "a", schedules: { d: { every: "1h" } } };`,
    code: "definition_invalid",
    message: "schedules.d.run is missing",
  },
  {
    name: "a time zone that does not exist",
    file: "a.ts",
    text: `export default { handle: "a", schedules: { d: { cron: "0 9 * * *", zone: "Europe/Londn", run() {} } } };`,
    code: "definition_invalid",
    message: "schedules.d.zone",
  },
  {
    name: "state that cannot be stored",
    file: "a.ts",
    text: `export default { handle: "a", initialState: { at: new Date() } };`,
    code: "state_invalid",
    message: "JSON",
  },
];

function bomb(): string {
  const lines = ["handle: a", "a: &a [x,x,x,x,x,x,x,x,x]"];
  for (const [name, of] of ["ba", "cb", "dc", "ed", "fe", "gf", "hg"])
    lines.push(`${name}: &${name} [${Array.from({ length: 9 }, () => `*${of}`).join(",")}]`);
  return lines.join("\n");
}

describe("a mistake is named with its place and what to try:", () => {
  test.each(MISTAKES)("$name", async ({ file, text, code, message, line, hint }) => {
    const { root } = project({ [file]: text });
    const { definitions, problems } = await loadDefinitions(root);
    expect(definitions).toEqual([]);
    const problem = problems.find((one) => one.code === code);
    const place = { file: join(root, file), ...(line === undefined ? {} : { line }) };
    expect(problem, JSON.stringify(problems)).toMatchObject({ level: "error", ...place });
    expect(problem?.message).toMatch(message);
    expect(problem?.hint ?? "").toMatch(hint ?? "");
  });

  test.each([
    ["an amount in fractions of a millionth", "spend: {perDay: {currency: credits, micros: 1.5}}", "definition_invalid", "spend.perDay"],
    ["a negative amount", "spend: {perDay: {currency: credits, micros: -1}}", "definition_invalid", "spend.perDay"],
    ["an amount too large to be exact", `spend: {perDay: {currency: credits, micros: ${2 ** 60}}}`, "definition_invalid", "spend.perDay"],
    ["an amount that is no number", "spend: {perDay: {currency: credits, micros: .nan}}", "definition_invalid", "spend.perDay"],
    ["half a credit", "spend: {perDay: 0.5}", "definition_invalid", "spend.perDay"],
    ["no amount", "spend: {perDay: null}", "definition_invalid", "spend.perDay"],
    ["an amount as text", "spend: {perDay: 4 credits}", "definition_invalid", "spend.perDay"],
    ["a cap that does not exist", "spend: {perWeek: 1}", "key_unknown", "spend.perWeek"],
    ["caps that are no object", "spend: 12", "definition_invalid", "spend"],
    ["a negative share", "lanes: {reply: -1}", "definition_invalid", "lanes.reply"],
    ["a share that is no number", "lanes: {reply: .nan}", "definition_invalid", "lanes.reply"],
    ["a lane that does not exist", "lanes: {chat: 10}", "key_unknown", "lanes.chat"],
    ["half a reply", "brakes: {repliesPerThread: 0.5}", "definition_invalid", "brakes.repliesPerThread"],
    ["a brake without a duration", "brakes: {sameTextWithin: soon}", "definition_invalid", "brakes.sameTextWithin"],
    ["a brake that does not exist", "brakes: {perWeek: 1}", "key_unknown", "brakes.perWeek"],
  ])("%s", async (_name, text, code, path) => {
    const { root } = project({ "a.yaml": `handle: a\n${text}\n` });
    const { definitions, problems } = await loadDefinitions(root);
    expect(definitions).toEqual([]);
    expect(problems).toMatchObject([{ code, line: 2 }]);
    expect(problems[0]?.message).toContain(path);
  });

  test("all of them at once, and the good files still load", async () => {
    const { root } = project({
      "a.yaml": "handle: a b\ntire: pro\nspend: {perDay: -1}\ndeadline: x\n",
      "b.ts": "export default 1;",
      "good.yaml": "handle: good",
    });
    const { definitions, problems } = await loadDefinitions(root);
    expect(definitions.map(({ specialist }) => specialist.handle)).toEqual(["good"]);
    expect(problems.map(({ code }) => code).toSorted()).toEqual([
      "default_not_object",
      "definition_invalid",
      "definition_invalid",
      "definition_invalid",
      "key_unknown",
    ]);
  });

  test("one handle in two files", async () => {
    const { root } = project({ "a.yaml": "handle: x", "b.yaml": "handle: x" });
    const { definitions, problems } = await loadDefinitions(root);
    expect(definitions).toHaveLength(1);
    expect(problems).toMatchObject([{ code: "handle_twice", file: join(root, "b.yaml") }]);
    expect(problems[0]?.message).toContain("a.yaml");
  });

  test("two index files in one folder", async () => {
    const { root } = project({ "a/index.ts": "export default {};", "a/index.yaml": "handle: a" });
    expect((await loadDefinitions(root)).problems).toMatchObject([{ code: "index_twice", file: join(root, "a") }]);
  });

  test("a folder that is not there", async () => {
    const { root } = project();
    expect((await loadDefinitions(join(root, "agents"))).problems).toMatchObject([
      { code: "agents_unreadable", hint: expect.stringContaining("--agents") },
    ]);
  });

  test("links that lead out of the folder, or nowhere", async () => {
    const { root, write } = project({ "agents/good.yaml": "handle: good" });
    const outside = write("outside.yaml", "handle: outside");
    write("elsewhere/index.yaml", "handle: elsewhere");
    symlinkSync(outside, join(root, "agents/link.yaml"));
    symlinkSync(join(root, "elsewhere"), join(root, "agents/folder"));
    symlinkSync(join(root, "nowhere"), join(root, "agents/nowhere.yaml"));
    symlinkSync(join(root, "agents/good.yaml"), join(root, "agents/same.yaml"));
    const { definitions, problems } = await loadDefinitions(join(root, "agents"));
    expect(definitions.map(({ specialist }) => specialist.handle)).toEqual(["good"]);
    expect(problems.map(({ code }) => code).toSorted()).toEqual(["file_unreadable", "handle_twice", "outside_folder", "outside_folder"]);
  });
});
