/** Settings: flags over environment over file, checked, with every mistake named. */
import { chmodSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, test } from "vitest";
import { loadConfig, readConfig, type Flags } from "../../src/config/config.ts";
import type { Variables } from "../../src/config/environment.ts";
import { storeFile } from "../../src/config/store-address.ts";
import { CREDITS, DAY, MICROS_PER_UNIT } from "../../src/core/units.ts";
import { project } from "../harness/project.ts";

const settings = (text: string): string => `export default ${text};`;

describe("precedence", () => {
  const file = {
    "retinue.config.ts": settings(
      `{ network: { baseUrl: "https://file.example", set: "a" }, store: "sqlite:file.sqlite", agents: "from-file" }`,
    ),
  };
  const rows: readonly { name: string; env: Variables; flags: Flags; dotenv?: string; baseUrl: string; set: string; store: string }[] = [
    { name: "the file alone", env: {}, flags: {}, baseUrl: "https://file.example", set: "a", store: "file.sqlite" },
    {
      name: ".env over the file",
      env: {},
      flags: {},
      dotenv: "RETINUE_SET=b\nRETINUE_STORE='sqlite:dotenv.sqlite'",
      baseUrl: "https://file.example",
      set: "b",
      store: "dotenv.sqlite",
    },
    {
      name: "the environment over .env",
      env: { RETINUE_SET: "b", RETINUE_BASE_URL: "https://env.example/v1" },
      flags: {},
      dotenv: "RETINUE_SET=a",
      baseUrl: "https://env.example/v1",
      set: "b",
      store: "file.sqlite",
    },
    {
      name: "flags over all",
      env: { RETINUE_SET: "b", RETINUE_BASE_URL: "https://env.example" },
      flags: { set: "A", baseUrl: "https://flag.example", store: "sqlite:flag.sqlite" },
      baseUrl: "https://flag.example",
      set: "a",
      store: "flag.sqlite",
    },
    {
      name: "an empty variable is no variable",
      env: { RETINUE_SET: "", RETINUE_BASE_URL: " " },
      flags: {},
      baseUrl: "https://file.example",
      set: "a",
      store: "file.sqlite",
    },
  ];
  test.each(rows)("$name", async ({ env, flags, dotenv, baseUrl, set, store }) => {
    const { root } = project({ ...file, ...(dotenv === undefined ? {} : { ".env": dotenv }) });
    const config = await loadConfig({ flags, env, cwd: root });
    expect({ baseUrl: config.network.baseUrl, set: config.network.set, store: storeFile(config.store), agents: config.agents }).toEqual({
      baseUrl,
      set,
      store: join(root, store),
      agents: join(root, "from-file"),
    });
  });

  test("nothing at all gives the defaults", async () => {
    const { root } = project();
    expect(await loadConfig({ env: {}, cwd: root })).toMatchObject({
      file: undefined,
      agents: join(root, "agents"),
      network: { baseUrl: undefined, set: "b", profile: "set-b" },
      store: { kind: "sqlite", path: join(root, ".retinue/store.sqlite") },
      retention: { eventsMs: 30 * DAY, intentsMs: 90 * DAY, requestsMs: 30 * DAY },
      receiver: { port: undefined, allowUnsigned: false, allowPrivate: false },
      spacing: { atOnce: 2, apartMs: 50 },
      drainMs: 25_000,
    });
  });
});

test.each(["yaml", "json", "mjs"])("settings may be written as %s", async (format) => {
  const text = `{"guardian": {"zone": "Europe/Berlin", "spend": {"perDay": 5}}, "specialists": {"scout": {"tier": "pro"}}, "spacing": 0}`;
  const { root } = project({ [`retinue.config.${format}`]: format === "mjs" ? settings(text) : text });
  expect(await loadConfig({ env: {}, cwd: root })).toMatchObject({
    guardian: { zone: "Europe/Berlin", spend: { perDay: [{ currency: CREDITS, micros: 5 * MICROS_PER_UNIT }] } },
    specialists: { scout: { tier: "pro" } },
    spacing: undefined,
  });
});

interface Mistake {
  readonly name: string;
  readonly files?: { readonly [path: string]: string };
  readonly env?: Variables;
  readonly flags?: Flags;
  readonly code: string;
  readonly message: string;
}

const MISTAKES: readonly Mistake[] = [
  { name: "an unknown set", flags: { set: "c" }, code: "set_unknown", message: '--set: there is no set "c"' },
  { name: "an unknown set in .env", files: { ".env": "RETINUE_SET=x" }, code: "set_unknown", message: "RETINUE_SET (.env)" },
  {
    name: "a base address that is no URL",
    flags: { baseUrl: "example" },
    code: "base_url_invalid",
    message: "--base-url: the base address is not a URL",
  },
  {
    name: "a base address with credentials",
    env: { RETINUE_BASE_URL: "https://u:secret@x.example" },
    code: "base_url_invalid",
    message: "contains credentials",
  },
  {
    name: "a PostgreSQL server elsewhere without TLS",
    flags: { store: "postgres://u:secret@h/d" },
    code: "store_tls_missing",
    message: "--store: the store's server h is not on this machine",
  },
  { name: "a store nobody knows", env: { RETINUE_STORE: "mysql:x" }, code: "store_invalid", message: "RETINUE_STORE" },
  { name: "a port that is no number", env: { RETINUE_CONSOLE_PORT: "80a" }, code: "port_invalid", message: "RETINUE_CONSOLE_PORT" },
  {
    name: "a port that is too large",
    env: { RETINUE_WEBHOOK_PORT: "70000", RETINUE_WEBHOOK_SECRET: "s3cret" },
    code: "port_invalid",
    message: "70000",
  },
  { name: "a receiver without a secret", env: { RETINUE_WEBHOOK_PORT: "8080" }, code: "webhook_secret_missing", message: "no secret" },
  { name: "neither true nor false", env: { RETINUE_WEBHOOK_ALLOW_UNSIGNED: "maybe" }, code: "boolean_invalid", message: "maybe" },
  {
    name: "a mistyped setting",
    files: { "retinue.config.yaml": "network:\n  bseUrl: x\n" },
    code: "key_unknown",
    message: "network.bseUrl",
  },
  {
    name: "a negative cap",
    files: { "retinue.config.yaml": "guardian: {spend: {perDay: -1}}" },
    code: "config_invalid",
    message: "guardian.spend.perDay",
  },
  {
    name: "a time zone there is not",
    files: { "retinue.config.yaml": "guardian: {zone: Mars/Olympus}" },
    code: "config_invalid",
    message: "guardian.zone",
  },
  {
    name: "an empty time zone",
    files: { "retinue.config.yaml": "guardian: {zone: ''}" },
    code: "config_invalid",
    message: "guardian.zone",
  },
  {
    name: "a time zone that is no text",
    files: { "retinue.config.yaml": "guardian: {zone: 3}" },
    code: "config_invalid",
    message: "guardian.zone",
  },
  {
    name: "a price of nothing",
    files: { "retinue.config.yaml": "prices: {posts.create: null}" },
    code: "config_invalid",
    message: "prices",
  },
  {
    name: "a negative price",
    files: { "retinue.config.yaml": "prices: {posts.create: -3}" },
    code: "config_invalid",
    message: "prices",
  },
  {
    name: "a price in words",
    files: { "retinue.config.yaml": "prices: {posts.create: cheap}" },
    code: "config_invalid",
    message: "prices",
  },
  {
    name: "an override with half a reply",
    files: { "retinue.config.yaml": "specialists: {scout: {brakes: {repliesPerThread: 0.5}}}" },
    code: "config_invalid",
    message: "brakes.repliesPerThread",
  },
  {
    name: "an override with a negative cap",
    files: { "retinue.config.yaml": "specialists: {scout: {spend: {perDay: -1}}}" },
    code: "config_invalid",
    message: "spend.perDay",
  },
  {
    name: "too short a memory",
    files: { "retinue.config.yaml": "retention: {requests: 1h}" },
    code: "config_invalid",
    message: "at least 2d",
  },
  {
    name: "two config files",
    files: { "retinue.config.yaml": "", "retinue.config.ts": "" },
    code: "config_twice",
    message: "retinue.config.yaml",
  },
  { name: "a broken config file", files: { "retinue.config.ts": "export default {" }, code: "definition_syntax", message: "syntax" },
  { name: "a config file that is not there", flags: { config: "x.yaml" }, code: "file_unreadable", message: "cannot be read" },
];

describe("a mistake in the settings is named:", () => {
  test.each(MISTAKES)("$name", async ({ files = {}, env = {}, flags = {}, code, message }) => {
    const { root } = project(files);
    const { problems } = await readConfig({ env, flags, cwd: root });
    const found = problems.find((problem) => problem.code === code);
    expect(found?.message, JSON.stringify(problems)).toContain(message);
    expect(JSON.stringify(problems)).not.toContain("secret@");
    await expect(loadConfig({ env, flags, cwd: root })).rejects.toMatchObject({ name: "Misconfigured" });
  });

  test("all at once", async () => {
    const { root } = project({ "retinue.config.yaml": "stor: x\ndrainMs: -1\n" });
    const { problems } = await readConfig({ env: { RETINUE_SET: "c", RETINUE_CONSOLE_PORT: "x" }, flags: { baseUrl: "x" }, cwd: root });
    expect(problems.map(({ code }) => code).toSorted()).toEqual([
      "base_url_invalid",
      "config_invalid",
      "key_unknown",
      "port_invalid",
      "set_unknown",
    ]);
    expect(problems.find(({ code }) => code === "key_unknown")).toMatchObject({ line: 1, hint: 'did you mean "store"?' });
  });

  test("a mistyped variable, as a warning", async () => {
    const { root } = project();
    const { problems } = await readConfig({ env: { RETINUE_BASEURL: "x", RETINUE_KEY_ANY: "y" }, cwd: root });
    expect(problems).toMatchObject([{ level: "warning", code: "variable_unknown", hint: "did you mean RETINUE_BASE_URL?" }]);
  });

  test.skipIf(process.getuid?.() === 0)("a .env that may not be read", async () => {
    const { root, write } = project();
    chmodSync(write(".env", "A=1"), 0o000);
    expect((await readConfig({ env: {}, cwd: root })).problems).toMatchObject([{ code: "env_unreadable" }]);
  });
});

describe("secrets", () => {
  test("one that is too short to be taken out of answers is warned of, without saying it", async () => {
    const env = { RETINUE_WEBHOOK_SECRET: "long-enough, s3cret", RETINUE_CONSOLE_TOKEN: "t0ken", RETINUE_KEY_SCOUT_FILE: "k" };
    const { problems } = await readConfig({ flags: {}, env, cwd: project().root });
    expect(problems.map(({ code, level }) => [code, level])).toEqual([
      ["secret_short", "warning"],
      ["secret_short", "warning"],
    ]);
    expect(JSON.stringify(problems)).not.toMatch(/s3cret|t0ken|long-enough/);
  });

  test("several webhook secrets are read anew, and never shown", async () => {
    const { root, write } = project({ ".env": "RETINUE_WEBHOOK_SECRET=first-secret, second-secret\nRETINUE_WEBHOOK_PORT=0" });
    const config = await loadConfig({ env: {}, cwd: root });
    expect(config.receiver.readSecrets("scout").map((secret) => secret.reveal())).toEqual(["first-secret", "second-secret"]);
    write(".env", "RETINUE_WEBHOOK_SECRET=third-secret");
    expect(config.receiver.readSecrets("scout").map((secret) => secret.reveal())).toEqual(["third-secret"]);
    expect(JSON.stringify(config.receiver.readSecrets("scout"))).not.toContain("third");
  });

  test("a specialist's own webhook secrets take the place of those of all", async () => {
    const text = "RETINUE_WEBHOOK_SECRET=secret-of-all\nRETINUE_WEBHOOK_SECRET_DATA_WORKER=a-new-own,an-old-own\nRETINUE_WEBHOOK_PORT=0";
    const { root } = project({ ".env": text });
    const { config, problems } = await readConfig({ env: {}, cwd: root });
    const of = (handle: string) => config.receiver.readSecrets(handle).map((secret) => secret.reveal());
    expect([of("data-worker"), of("scout")]).toEqual([["a-new-own", "an-old-own"], ["secret-of-all"]]);
    expect(problems).toEqual([]);
  });

  test("an inner address is allowed by a variable, the config file or a flag, and by nothing else", async () => {
    const { root } = project();
    expect((await loadConfig({ env: {}, cwd: root })).receiver.allowPrivate).toBe(false);
    expect((await loadConfig({ env: { RETINUE_WEBHOOK_ALLOW_PRIVATE: "true" }, cwd: root })).receiver.allowPrivate).toBe(true);
    expect((await loadConfig({ env: {}, cwd: root, flags: { allowPrivate: true } })).receiver.allowPrivate).toBe(true);
    const { problems } = await readConfig({ env: { RETINUE_WEBHOOK_ALLOW_PRIVATE: "maybe" }, cwd: root });
    expect(problems).toMatchObject([{ code: "boolean_invalid" }]);
  });
});
