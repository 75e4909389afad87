/** The mistakes people make when they start something: one screen, exit code 2, and nothing half-started. */
import { createServer } from "node:net";
import { existsSync, mkdirSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, onTestFinished, test } from "vitest";
import { project } from "../harness/project.ts";
import { retinue } from "../harness/cli.ts";

const KEY = "sk_live_0123456789abcdef";
const GOOD = { "agents/scout.yaml": "handle: scout\nmay: [posts.reply]\n" };
const MAX_SCREEN = 12;

interface Mistake {
  readonly name: string;
  readonly args: readonly string[];
  readonly files?: { readonly [path: string]: string };
  readonly env?: { readonly [name: string]: string };
  readonly code: string;
  readonly shows: readonly string[];
  /** Default 2: a person has to change something, and nobody is to start it again. */
  readonly exit?: number;
}

/** Nobody listens there. */
const NOWHERE = "http://127.0.0.1:1/v1";
const run = (...args: readonly string[]): readonly string[] => ["run", "--base-url", NOWHERE, ...args];

const MISTAKES: readonly Mistake[] = [
  { name: "no base address", args: ["run"], code: "base_url_missing", shows: ["--base-url", "RETINUE_BASE_URL"] },
  { name: "a base address that is none", args: ["run", "--base-url", "ftp://x"], code: "base_url_invalid", shows: ["https://"] },
  { name: "a network that is down", args: run(), code: "network_unreachable", shows: ["127.0.0.1:1", "ECONNREFUSED"], exit: 1 },
  { name: "an unknown set", args: run("--set", "c"), code: "set_unknown", shows: ['"a" or "b"'] },
  { name: "a profile that is not there", args: run("--profile", "no.yaml"), code: "profile_missing", shows: ["no.yaml"] },
  { name: "no key", args: run(), env: { RETINUE_KEY_SCOUT: "" }, code: "key_missing", shows: ["RETINUE_KEY_SCOUT"] },
  { name: "a key of the other set", args: run(), env: { RETINUE_KEY_SCOUT: "sk-agent-a-b-c" }, code: "key_of_other_set", shows: ["Set A"] },
  {
    name: "an unknown tier",
    args: run(),
    files: { "agents/scout.yaml": "handle: scout\ntier: gold" },
    code: "definition_invalid",
    shows: ["scout.yaml:2", "free"],
  },
  {
    name: "a tier the set lacks",
    args: run("--set", "a"),
    files: { "agents/scout.yaml": "handle: scout\ntier: growth" },
    code: "tier_not_in_set",
    shows: ["growth"],
  },
  {
    name: "a handle used twice",
    args: run(),
    files: { ...GOOD, "agents/two.yaml": "handle: scout" },
    code: "handle_twice",
    shows: ["two.yaml"],
  },
  {
    name: "a broken definition",
    args: run(),
    files: { ...GOOD, "agents/x.ts": "\nexport default {{" },
    code: "definition_syntax",
    shows: ["x.ts:2"],
  },
  {
    name: "a definition without a default export",
    args: run(),
    files: { ...GOOD, "agents/x.ts": "export const a = 1;" },
    code: "default_missing",
    shows: ["x.ts", "export default"],
  },
  {
    name: "a negative limit",
    args: run(),
    files: { "agents/scout.yaml": "handle: scout\nspend: {perDay: -1}" },
    code: "definition_invalid",
    shows: ["scout.yaml:2"],
  },
  { name: "no definitions", args: run("--agents", "nobody"), code: "agents_unreadable", shows: ["nobody", "--agents"] },
  { name: "a time that is none", args: run("--for", "soon"), code: "option_invalid", shows: ["--for", "90s"] },
  { name: "a store nobody can read", args: run("--store", "mysql:x"), code: "store_invalid", shows: ["sqlite:"] },
  { name: "a demo of an unknown set", args: ["demo", "--set", "c"], code: "set_unknown", shows: ["a or b"] },
  { name: "a demo on a port that is none", args: ["demo", "--port", "99999"], code: "option_invalid", shows: ["--port", "65535"] },
  { name: "a demo whose data is a folder", args: ["demo", "--data", "agents"], code: "network_data_unreadable", shows: ["agents"] },
  { name: "a demo of nobody", args: ["demo", "--agents", "nobody"], code: "agents_unreadable", shows: ["nobody"] },
  { name: "a network of an unknown set", args: ["network", "--set", "c"], code: "set_unknown", shows: ["a or b"] },
  { name: "a call of what is not there", args: ["call", "post.list", "--as", "scout"], code: "operation_unknown", shows: ["posts.list"] },
  { name: "a call as nobody", args: ["call", "posts.list"], code: "option_missing", shows: ["--as"] },
  { name: "a look at a store that is not there", args: ["status"], code: "store_missing", shows: ["store.sqlite"] },
  { name: "a verdict that is none", args: ["settle", "i1"], code: "verdict_missing", shows: ["--happened"] },
];

describe("a mistake is shown on one screen, and nothing is half-started:", () => {
  test.each(MISTAKES)("$name", async ({ args, files = GOOD, env = {}, code, shows, exit = 2 }) => {
    const { root } = project(files);
    const before = readdirSync(root).toSorted();
    const temporary = project().root;
    const all = { RETINUE_KEY_SCOUT: KEY, TMPDIR: temporary, NODE_COMPILE_CACHE: "/tmp/retinue-test-cache", ...env };
    const json = await retinue([...args, "--json"], { cwd: root, env: all });
    expect(JSON.parse(json.stdout)).toMatchObject({ error: { code, message: expect.any(String) } });
    expect(json).toMatchObject({ code: exit, stderr: "" });
    const {
      expected = "",
      hint = "",
      message,
      file = "",
      line = "",
    } = (JSON.parse(json.stdout) as { error: { [name: string]: string } }).error;
    for (const text of shows) expect(`${message} ${file}:${line} ${expected} ${hint}`).toContain(text);
    expect(readdirSync(root).toSorted()).toEqual(before);
    expect(readdirSync(temporary)).toEqual([]);
  });

  test("for people: at most a screen, without a stack", async () => {
    const { root } = project(GOOD);
    const { code, stdout, stderr } = await retinue(run(), { cwd: root, env: { RETINUE_KEY_SCOUT: KEY } });
    expect({ code, stdout }).toEqual({ code: 1, stdout: "" });
    expect(stderr.split("\n").length).toBeLessThan(MAX_SCREEN);
    expect(stderr).toMatch(/^error: no answer from http:\/\/127.0.0.1:1/);
    expect(stderr).not.toMatch(/^ {4}at /m);
  });
});

describe("a store that cannot be used stops the start, and stays as it is:", () => {
  const started = async (prepare: (file: string) => void, exit = 2) => {
    const { root } = project(GOOD);
    const server = createServer();
    await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    const address = server.address();
    const port = typeof address === "object" && address !== null ? address.port : 0;
    const file = join(root, "store.sqlite");
    prepare(file);
    const content = (): Buffer | undefined =>
      existsSync(file) && readdirSync(root).includes("store.sqlite") ? readSafely(file) : undefined;
    const before = content();
    const done = await retinue(["run", "--base-url", `http://127.0.0.1:${port}/v1`, "--store", `sqlite:${file}`, "--json"], {
      cwd: root,
      env: { RETINUE_KEY_SCOUT: KEY },
    });
    expect(done.code).toBe(exit);
    expect(content()).toEqual(before);
    return (JSON.parse(done.stdout) as { error: { code: string; hint: string } }).error;
  };

  test("one of a newer version", async () => {
    const { code, hint } = await started((file) => withDatabase(file, "PRAGMA user_version = 99"));
    expect(code).toBe("store_newer");
    expect(hint).toMatch(/upgrade/);
  });

  test("another program's", async () => {
    expect((await started((file) => withDatabase(file, "CREATE TABLE things (a)"))).code).toBe("store_foreign");
  });

  test("a folder", async () => {
    expect((await started((file) => mkdirSync(file))).code).toBe("store_unreadable");
  });

  test("one that is at work already, which may pass: a service manager is to try again", async () => {
    const holder = await started((file) => {
      const lock = new DatabaseSync(`${file}-lock`);
      lock.exec("PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE");
      onTestFinished(() => lock.close());
    }, 1);
    expect(holder.code).toBe("store_in_use");
  });
});

test("a port in use stops the demo and the network before anything is begun", async () => {
  const { root } = project(GOOD);
  const temporary = project().root;
  const server = createServer();
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => void server.close());
  const address = server.address();
  const port = typeof address === "object" && address !== null ? String(address.port) : "";
  const env = { TMPDIR: temporary, NODE_COMPILE_CACHE: "/tmp/retinue-test-cache" };
  for (const command of ["demo", "network"]) {
    const { code, stdout } = await retinue([command, "--port", port, "--json"], { cwd: root, env });
    expect({ code, ...JSON.parse(stdout) }).toMatchObject({
      code: 1,
      error: { code: "port_in_use", hint: expect.stringContaining("port") },
    });
  }
  expect(readdirSync(temporary)).toEqual([]);
});

function withDatabase(file: string, sql: string): void {
  const db = new DatabaseSync(file);
  db.exec(sql);
  db.close();
}

function readSafely(file: string): Buffer | undefined {
  try {
    return readFileSync(file);
  } catch {
    return undefined; // a folder
  }
}
