/** The config file: found under one name, in any format, and its right parts count while its mistakes are told. */
import { join } from "node:path";
import { expect, test } from "vitest";
import { readConfigFile } from "../../src/config/config-file.ts";
import { DAY } from "../../src/core/units.ts";
import { project } from "../harness/project.ts";

test("no file is no settings, and no mistake", async () => {
  expect(await readConfigFile(project().root)).toEqual({ file: undefined, values: {}, problems: [] });
});

test("two files are refused before either counts", async () => {
  const { root } = project({ "retinue.config.ts": "export default {};", "retinue.config.yaml": "agents: bots\n" });
  expect(await readConfigFile(root)).toMatchObject({
    values: {},
    problems: [{ code: "config_twice", file: join(root, "retinue.config.ts") }],
  });
});

test("a file that is named is read, whatever else is there", async () => {
  const { root } = project({ "retinue.config.ts": "export default {};", "other.yaml": "agents: bots\n" });
  expect(await readConfigFile(root, join(root, "other.yaml"))).toMatchObject({ values: { agents: "bots" }, problems: [] });
});

test.each([
  ["retinue.config.ts", "export const settings = {};", "default_missing"],
  ["retinue.config.mjs", "throw new Error('no');", "definition_threw"],
  ["retinue.config.json", "{ agents: 'bots' }", "data_syntax"],
  ["retinue.config.ts", "export default 7;", "config_invalid"],
])("%s is told to be broken: %#", async (name, text, code) => {
  const { root } = project({ [name]: text });
  expect((await readConfigFile(root)).problems.map((problem) => problem.code)).toEqual([code]);
});

test("an empty file is no settings", async () => {
  const { root } = project({ "retinue.config.yaml": "" });
  expect(await readConfigFile(root)).toMatchObject({ values: {}, problems: [] });
});

test("the right parts count beside mistaken ones, each of which is told with its line", async () => {
  const { root } = project({
    "retinue.config.yaml": [
      "agents: bots",
      "retention: { events: 1d, requests: 2d }",
      "spacing: 5",
      "receiver: { port: 70000, host: 127.0.0.1 }",
      "specialists:",
      "  scout: { tier: gold, enabled: false }",
      '  "../x": { enabled: false }',
    ].join("\n"),
  });
  const { values, problems } = await readConfigFile(root);
  expect(new Set(problems.map(({ line }) => line))).toEqual(new Set([2, 3, 4, 6, 7]));
  expect(values).toMatchObject({
    agents: "bots",
    retention: { requests: "2d" },
    receiver: { host: "127.0.0.1" },
    specialists: { scout: { enabled: false } },
  });
  expect(values.retention?.events).toBeUndefined();
});

test("rows are kept for two days at least", async () => {
  const { root } = project({ "retinue.config.ts": `export default { retention: { events: ${2 * DAY}, intents: ${2 * DAY - 1} } };` });
  expect((await readConfigFile(root)).problems).toMatchObject([{ expected: "at least 2d" }]);
});
