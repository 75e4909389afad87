/** Variables: the process wins over `.env`, our own stay out of definitions, and a `.env` with keys is nobody else's to read. */
import { chmodSync } from "node:fs";
import { expect, onTestFinished, test } from "vitest";
import { loadConfig } from "../../src/config/config.ts";
import {
  definitionVariables,
  openEnvironment,
  parseBoolean,
  parseWhole,
  shareVariables,
  takeOwnVariables,
  withoutOwn,
} from "../../src/config/environment.ts";
import { project } from "../harness/project.ts";

const KEY = "RETINUE_KEY_SCOUT=sk_live_0123456789abcdef\n";

test.each([
  ["readable by its owner alone, with a key", 0o600, KEY, []],
  ["readable by the group, with a key", 0o640, KEY, ["env_readable"]],
  ["readable by everybody, with a webhook secret", 0o644, "RETINUE_WEBHOOK_SECRET=whsec_0123456789\n", ["env_readable"]],
  ["readable by everybody, without a secret", 0o644, "RETINUE_SET=b\n", []],
])("a .env that is %s", async (_name, mode, text, codes) => {
  const { root, write } = project({});
  chmodSync(write(".env", text), mode);
  const { warnings } = await loadConfig({ cwd: root, env: {} });
  expect(warnings.map(({ code }) => code)).toEqual(codes);
  for (const { hint, message } of warnings) {
    expect(hint).toContain("chmod 600");
    expect(message).not.toContain("0123456789");
  }
});

/** Sets variables of this process until the test is over. */
function processHas(variables: { readonly [name: string]: string | undefined }): void {
  const set = (given: { readonly [name: string]: string | undefined }): void => {
    for (const [name, value] of Object.entries(given))
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
  };
  const before = Object.fromEntries(Object.keys(variables).map((name) => [name, process.env[name]]));
  onTestFinished(() => set(before));
  set(variables);
}

test("a variable of the process wins over .env, which is read again each time; an empty one is none", () => {
  const { root, write } = project({ ".env": "RETINUE_SET=a\nRETINUE_STORE=\nRETINUE_ZONE= UTC \n" });
  const environment = openEnvironment({ cwd: root, variables: { RETINUE_AGENTS: "bots", RETINUE_SET: "b" } });
  const get = (): readonly (string | undefined)[] => ["SET", "STORE", "ZONE", "AGENTS"].map((name) => environment.get(`RETINUE_${name}`));
  expect(get()).toEqual(["b", undefined, "UTC", "bots"]);
  expect([environment.describe("RETINUE_SET"), environment.describe("RETINUE_ZONE")]).toEqual(["RETINUE_SET", "RETINUE_ZONE (.env)"]);
  write(".env", "RETINUE_SET=a\nRETINUE_STORE=sqlite:x\n");
  expect(get()).toEqual(["b", "sqlite:x", undefined, "bots"]);
  expect(environment.entries("RETINUE_S")).toEqual([
    ["RETINUE_SET", "b"],
    ["RETINUE_STORE", "sqlite:x"],
  ]);
});

test("a name that every object has is no variable", () => {
  const environment = openEnvironment({ cwd: project().root, variables: {} });
  expect(["constructor", "__proto__", "toString"].map((name) => environment.get(name))).toEqual([undefined, undefined, undefined]);
});

test("our own variables are taken out of the process, and still read from what is taken", () => {
  processHas({ RETINUE_KEY_TEST: "sk_live_0123456789", PLAIN_OF_TEST: "one" });
  const taken = takeOwnVariables();
  expect([process.env["RETINUE_KEY_TEST"], taken["RETINUE_KEY_TEST"], taken["PLAIN_OF_TEST"]]).toEqual([
    undefined,
    "sk_live_0123456789",
    "one",
  ]);
  process.env["PLAIN_OF_TEST"] = "two";
  expect(taken["PLAIN_OF_TEST"]).toBe("two");
  const rest = withoutOwn(taken);
  expect([rest["RETINUE_KEY_TEST"], rest["PLAIN_OF_TEST"]]).toEqual([undefined, "two"]);
  processHas({ RETINUE_KEY_TEST: "again" });
  expect(definitionVariables()).toMatchObject({ PLAIN_OF_TEST: "two" });
  expect(definitionVariables()).not.toHaveProperty("RETINUE_KEY_TEST");
});

test("definitions see .env as it is now: never our own, never over a variable that is set, and none that is gone", () => {
  processHas({ SET_BEFORE: "mine", OF_FILE: undefined, RETINUE_KEY_TEST: undefined });
  const { root, write } = project({ ".env": "SET_BEFORE=file\nOF_FILE=one\nRETINUE_KEY_TEST=sk_live_0123456789\n" });
  const shared = shareVariables(root);
  const seen = (): readonly (string | undefined)[] => ["SET_BEFORE", "OF_FILE", "RETINUE_KEY_TEST"].map((name) => process.env[name]);
  expect([shared.refresh(), seen()]).toEqual([false, ["mine", "one", undefined]]);
  write(".env", "OF_FILE=two\n");
  expect([shared.refresh(), seen()]).toEqual([true, ["mine", "two", undefined]]);
  write(".env", "");
  expect([shared.refresh(), seen()]).toEqual([true, ["mine", undefined, undefined]]);
});

test("booleans and numbers are read strictly", () => {
  expect(["1", "TRUE", "yes", "on", "0", "False", "no", "off", "", "2", "y", "null"].map(parseBoolean)).toEqual([
    ...Array<boolean>(4).fill(true),
    ...Array<boolean>(4).fill(false),
    ...Array<undefined>(4).fill(undefined),
  ]);
  expect(["0", "65535", "-1", "65536", "1e3", "1.0", " 1", "", "0x10", "9".repeat(16)].map((text) => parseWhole(text, 0, 65_535))).toEqual([
    0,
    65_535,
    ...Array<undefined>(8).fill(undefined),
  ]);
  const most = Number.MAX_SAFE_INTEGER;
  expect([`${most}`, `${most}0`, "9007199254740993", "9".repeat(16)].map((text) => parseWhole(text, 0, most))).toEqual([
    most,
    undefined,
    undefined,
    undefined,
  ]);
});
