/** `secrets: [NAME]` in a definition: `check` tells a value that is missing or cannot be searched for, and a value in place of a name. */
import { expect, test } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { declaredSecrets } from "../../src/config/key-sources.ts";
import { inProcess } from "../harness/cli.ts";
import { project } from "../harness/project.ts";

const KEY = { RETINUE_KEY_SCOUT: "sk_live_0123456789abcdef", RETINUE_BASE_URL: "https://api.example.com/v1" };
const DEFINITIONS: readonly (readonly [string, string, string])[] = [
  ["code", "agents/scout.ts", 'export default { handle: "scout", secrets: ["MODEL_KEY"] };'],
  ["Markdown", "agents/scout.md", "---\nhandle: scout\nsecrets: [MODEL_KEY]\n---\nBe kind.\n"],
  ["YAML", "agents/scout.yaml", "handle: scout\nsecrets: [MODEL_KEY]\n"],
];

async function checked(
  files: { readonly [path: string]: string },
  env: { readonly [name: string]: string } = {},
  args: readonly string[] = [],
) {
  const { root } = project(files);
  const json = await inProcess(["check", "--json", ...args], { cwd: root, env: { ...KEY, ...env } });
  const { problems } = JSON.parse(json.stdout) as {
    problems: { level?: string; code: string; message: string; file?: string; hint?: string }[];
  };
  return { code: json.code, problems, people: (await inProcess(["check", ...args], { cwd: root, env: { ...KEY, ...env } })).stderr };
}

test.each(DEFINITIONS)("a name without a value is told, in %s", async (_name, file, text) => {
  const { code, problems, people } = await checked({ [file]: text });
  expect([code, problems]).toMatchObject([
    0,
    [{ level: "warning", code: "secret_missing", file, hint: expect.stringContaining("MODEL_KEY") as string }],
  ]);
  expect(people).toContain('secrets: "scout" names MODEL_KEY, which has no value');
  expect((await checked({ [file]: text }, {}, ["--strict"])).code).toBe(2);
  expect((await checked({ [file]: text }, {}, ["--no-keys"])).problems).toEqual([]);
  expect((await checked({ [file]: text, ".env": "MODEL_KEY=sk-model-0123456789\n" })).problems).toEqual([]);
});

test.each(["x", "1234567", "aaaaaaaaaaaa"])("a value that is too short or too plain to be searched for is told: %s", async (value) => {
  const { problems } = await checked({ "agents/scout.yaml": "handle: scout\nsecrets: [MODEL_KEY]\n" }, { MODEL_KEY: value });
  expect(problems).toMatchObject([{ level: "warning", code: "secret_short", file: "agents/scout.yaml" }]);
  expect(problems[0]?.message).toContain("MODEL_KEY");
  expect(JSON.stringify(problems)).not.toContain(`"${value}"`);
});

test.each([
  ["a value in place of a name", "sk-model-0123456789", "never its value"],
  ["one of our own keys", "RETINUE_KEY_SCOUT", "RETINUE_* are known as secrets"],
])("%s is refused", async (_name, name, says) => {
  const { code, people } = await checked({ "agents/scout.yaml": `handle: scout\nsecrets: ["${name}"]\n` });
  expect([code, people]).toEqual([2, expect.stringContaining(says) as string]);
  expect(people).not.toContain("sk-model-0123456789");
});

test("a definition that fails its check does not say a secret that another one names", async () => {
  const env = { MODEL_KEY: "sk-model-0123456789" };
  const files = {
    "agents/other.ts": "throw new Error(`no model for ${process.env['MODEL_COPY'] ?? 'sk-model-0123456789'}`);",
    "agents/scout.yaml": "handle: scout\nsecrets: [MODEL_KEY]\n",
  };
  const { people, problems } = await checked(files, env);
  expect(people).toContain("no model for [secret]");
  expect(JSON.stringify(problems)).not.toContain("0123456789");
});

test("a value in .env that has changed is the one that is searched for", async () => {
  const { root, write } = project({ ".env": "MODEL_KEY=first-value-123\n" });
  const { config } = await readConfig({ cwd: root, env: {} });
  const values = (): readonly string[] =>
    declaredSecrets(config.environment, [{ secrets: ["MODEL_KEY", "NONE"] }]).map((secret) => secret.reveal());
  expect(values()).toEqual(["first-value-123"]);
  write(".env", "MODEL_KEY=second-value-123\n");
  expect(values()).toEqual(["second-value-123"]);
});
