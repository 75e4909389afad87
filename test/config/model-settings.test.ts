/** The models of the config file: each mistake is taught with the words of the file, and a definition asks only what can be asked and paid. */
import { describe, expect, test } from "vitest";
import { readConfig } from "../../src/config/config.ts";
import { checkedModels, checkModels, installCommand, type ModelCheck } from "../../src/config/model-settings.ts";
import { answer } from "../../src/model.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";
import { inProcess } from "../harness/cli.ts";
import { project } from "../harness/project.ts";

const SMALL = "{ provider: openai-compatible, address: 'http://127.0.0.1:9/v1', context: 8000, prices: { input: 0.15, output: 0.6 } }";
const settingsOf = async (models: string) => {
  const { root } = project({ "retinue.config.yaml": `models: ${models}` });
  return readConfig({ cwd: root, env: {} });
};

test("every default is filled in, and dollars for a million tokens are millionths for one", async () => {
  const { config, problems } = await settingsOf(
    `{ small: ${SMALL}, big: { provider: anthropic, model: big-1, context: 200000, prices: { input: 3, output: 15 } } }`,
  );
  expect(problems).toEqual([]);
  expect(config.models).toEqual({
    small: {
      name: "small",
      provider: "openai-compatible",
      address: "http://127.0.0.1:9/v1",
      model: "small",
      key: undefined,
      contextTokens: 8_000,
      outputTokens: 1_024,
      prices: { inputMicros: 0.15, outputMicros: 0.6 },
      concurrency: 4,
      spacingMs: 200,
      timeoutMs: 45_000,
    },
    big: expect.objectContaining({ address: "https://api.anthropic.com/v1", model: "big-1" }) as object,
  });
});

test.each([
  ["no prices", SMALL.replace(/, prices: .*? } }/, " }"), "model_unpriced", "models.small has no prices"],
  ["half a price", SMALL.replace("output: 0.6", "other: 1"), "config_invalid", "models.small.prices"],
  ["a negative price", SMALL.replace("0.15", "-1"), "config_invalid", "models.small.prices.input"],
  ["a price in millionths", SMALL.replace("0.15", "150000"), "config_invalid", "models.small.prices.input"],
  ["another provider", SMALL.replace("openai-compatible", "gemini"), "config_invalid", "models.small.provider"],
  ["no address", SMALL.replace("address: 'http://127.0.0.1:9/v1', ", ""), "config_invalid", "models.small: address is missing"],
  ["an address of another kind", SMALL.replace("http:", "ftp:"), "config_invalid", "models.small.address"],
  ["no context", SMALL.replace("context: 8000, ", ""), "config_invalid", "models.small.context"],
  ["an answer longer than the context", SMALL.replace("context: 8000", "context: 500"), "config_invalid", "leaves no room"],
  ["a key in place of its variable", SMALL.replace("context", "key: sk-proj-1234567890, context"), "config_invalid", "models.small.key"],
  ["a timeout of an hour", SMALL.replace("context", "timeout: 1h, context"), "config_invalid", "models.small.timeout"],
])("%s is taught", async (_what, text, code, words) => {
  const { problems } = await settingsOf(`{ small: ${text} }`);
  expect(problems.map((problem) => problem.code)).toContain(code);
  expect(problems.map(({ message }) => message).join("\n")).toContain(words);
  expect(JSON.stringify(problems)).not.toContain("sk-proj-1234567890");
});

test("0 is a price", async () => {
  expect((await settingsOf(`{ small: ${SMALL.replace("0.15", "0").replace("0.6", "0")} }`)).problems).toEqual([]);
});

describe("a definition", () => {
  const models = checkedModels({ small: { provider: "anthropic", context: 8_000, prices: { input: 1, output: 1 } } });
  const asking = (model: string, instructions = "Be brief.") =>
    createSpecialist({ handle: "a", on: { "post.created": answer({ model, instructions }) } });
  const check: ModelCheck = { models, named: ["small", "broken"], mayPay: true, isInstalled: () => true };
  test.each([
    ["that asks what there is", asking("small"), check, []],
    ["that asks an unknown model", asking("smal"), check, [{ code: "model_unknown", hint: 'did you mean "small"?' }]],
    ["that asks a model whose mistake is told already", asking("broken"), check, []],
    ["without instructions", asking("small", " "), check, [{ code: "instructions_missing" }]],
    ["without a cap", asking("small"), { ...check, mayPay: false }, [{ level: "warning", code: "model_without_cap" }]],
    [
      "without the packages",
      asking("small"),
      { ...check, isInstalled: (name: string) => name !== "@ai-sdk/anthropic" },
      [
        {
          code: "model_package_missing",
          message: '"a" asks a model, but @ai-sdk/anthropic is not installed',
          hint: installCommand("anthropic"),
        },
      ],
    ],
  ])("%s", (_what, specialist, given, problems) => {
    expect(checkModels(specialist, "a.ts", given)).toMatchObject(problems);
  });

  test("the command that installs the packages names the versions of package.json", async () => {
    const { default: manifest } = (await import("../../package.json", { with: { type: "json" } })) as {
      default: { devDependencies: Record<string, string> };
    };
    for (const word of `${installCommand("anthropic")} ${installCommand("openai-compatible")}`
      .split(" ")
      .filter((one) => one.includes("@"))) {
      const at = word.lastIndexOf("@");
      expect(manifest.devDependencies[word.slice(0, at)]).toBe(word.slice(at + 1));
    }
  });
});

describe("retinue check", () => {
  const HELPER = "---\nhandle: helper\nmay: [posts.reply]\nmodel: small\n---\nAnswer questions about tea.\n";
  const checked = (files: { readonly [path: string]: string }, env = {}) =>
    inProcess(["check"], {
      cwd: project(files).root,
      env: { RETINUE_KEY_HELPER: "sk_live_0123456789abcdef", RETINUE_BASE_URL: "https://api.example.com/v1", ...env },
    });
  const settings = (over = "") =>
    `guardian: { spend: { perDay: { currency: usd, micros: 500000 } } }\nmodels: { small: ${SMALL.replace("context", `${over}context`)} }`;

  test("a Markdown definition with a model is whole, and names its model", async () => {
    const { code, stdout, stderr } = await checked({ "agents/helper.md": HELPER, "retinue.config.yaml": settings() });
    expect([code, stderr]).toEqual([0, ""]);
    expect(stdout).toMatch(/helper\s+free\s+posts\.reply\s+small/);
  });

  test("a missing key of a model is named by its variable", async () => {
    const files = { "agents/helper.md": HELPER, "retinue.config.yaml": settings("key: RETINUE_MODEL_KEY, ") };
    const { code, stderr } = await checked(files);
    expect(code).toBe(2);
    expect(stderr).toContain('the model "small" has no key');
    expect(stderr).toContain("set RETINUE_MODEL_KEY in the environment or in .env");
    expect((await checked(files, { RETINUE_MODEL_KEY: "sk-0123456789abcdef" })).code).toBe(0);
  });

  test("a data file lists events, and only for a model", async () => {
    const { stderr } = await checked({ "agents/helper.yaml": "handle: helper\non: [post.created]\n", "retinue.config.yaml": settings() });
    expect(stderr).toContain("a model that answers these events");
    const wrong = await checked({
      "agents/helper.md": HELPER.replace("model:", "on: [post.craeted]\nmodel:"),
      "retinue.config.yaml": settings(),
    });
    expect(wrong.stderr).toContain("a kind of event");
  });
});
