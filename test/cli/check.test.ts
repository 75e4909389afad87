/** `retinue check` on the mistakes people make: each has one screen, its place, what to try, and exit code 2. */
import { readdirSync } from "node:fs";
import { describe, expect, test } from "vitest";
import { project } from "../harness/project.ts";
import { inProcess, retinue } from "../harness/cli.ts";

const KEY = "sk_live_0123456789abcdef";
const ADDRESS = { RETINUE_BASE_URL: "https://api.example.com/v1" };
const good = { "agents/scout.yaml": "handle: scout\nmay: [posts.reply]\n" };

interface Case {
  readonly name: string;
  readonly files?: { readonly [path: string]: string };
  readonly args?: readonly string[];
  readonly env?: { readonly [name: string]: string };
  readonly code: string;
  readonly shows: readonly string[];
}

const CASES: readonly Case[] = [
  { name: "an unknown set", args: ["--set", "c"], code: "set_unknown", shows: ["--set", '"a" or "b"'] },
  { name: "a base address that is not a URL", args: ["--base-url", "here"], code: "base_url_invalid", shows: ["not a URL", "https://"] },
  { name: "a missing key", env: { RETINUE_KEY_SCOUT: "" }, code: "key_missing", shows: ['"scout" has no key', "RETINUE_KEY_SCOUT"] },
  {
    name: "a key of the other set",
    env: { RETINUE_KEY_SCOUT: "sk-agent-abcd-efgh" },
    code: "key_of_other_set",
    shows: ["Set A", "sk_live_"],
  },
  {
    name: "an unknown tier",
    files: { "agents/scout.yaml": "handle: scout\ntier: gold" },
    code: "definition_invalid",
    shows: ["agents/scout.yaml:2", "free, starter, growth, pro"],
  },
  {
    name: "a tier the set lacks",
    files: { "agents/scout.yaml": "handle: scout\ntier: growth" },
    args: ["--set", "a", "--no-keys"],
    code: "tier_not_in_set",
    shows: ["Set A", "growth", "agents/scout.yaml"],
  },
  {
    name: "a handle used twice",
    files: { ...good, "agents/two.yaml": "handle: scout" },
    code: "handle_twice",
    shows: ["agents/two.yaml", "scout.yaml"],
  },
  {
    name: "handles that map to one variable",
    files: { ...good, "agents/a.yaml": "handle: a-b", "agents/b.yaml": "handle: a.b" },
    args: ["--no-keys"], // what keys there are does not matter
    code: "key_variable_shared",
    shows: ["RETINUE_KEY_A_B", "agents/b.yaml"],
  },
  {
    name: "a broken agent file",
    files: { ...good, "agents/x.ts": "\nexport default {{" },
    code: "definition_syntax",
    shows: ["agents/x.ts:2"],
  },
  {
    name: "an agent file without a default",
    files: { ...good, "agents/x.ts": "export const x = 1" },
    code: "default_missing",
    shows: ["agents/x.ts", "export default"],
  },
  {
    name: "a negative limit",
    files: { "agents/scout.yaml": "handle: scout\nspend: {perDay: -5}" },
    code: "definition_invalid",
    shows: ["agents/scout.yaml:2", "-5", "never negative"],
  },
  {
    name: "a PostgreSQL server elsewhere without TLS",
    args: ["--store", "postgres://u@h/d"],
    code: "store_tls_missing",
    shows: ["h is not on this machine", "sslmode=verify-full"],
  },
  { name: "a profile that is not there", args: ["--profile", "mine.yaml"], code: "profile_missing", shows: ["mine.yaml"] },
  {
    name: "an unknown operation",
    files: { "agents/scout.yaml": "handle: scout\nmay: [posts.replay]" },
    code: "operation_unknown",
    shows: ["posts.replay", '"posts.reply"'],
  },
  {
    name: "a cron expression that cannot be read",
    files: { "agents/scout.ts": `export default { handle: "scout", schedules: { d: { cron: "61 * * * *", run() {} } } };` },
    code: "cron_invalid",
    shows: ["schedules.d", "61 * * * *"],
  },
  {
    name: "settings for nobody",
    files: { ...good, "retinue.config.yaml": "specialists: {scuot: {tier: pro}}" },
    code: "specialist_unknown",
    shows: ["scuot", '"scout"', "retinue.config.yaml"],
  },
  { name: "a folder that is not there", args: ["--agents", "nowhere"], code: "agents_unreadable", shows: ["nowhere"] },
];

describe("check", () => {
  test.each(CASES)("names $name", async ({ files = good, args = [], env = {}, code, shows }) => {
    const { root } = project(files);
    const before = readdirSync(root);
    const around = { cwd: root, env: { ...ADDRESS, RETINUE_KEY_SCOUT: KEY, ...env } };
    const people = await retinue(["check", ...args], around);
    expect(people.code).toBe(2);
    for (const text of shows) expect(people.stderr).toContain(text);
    expect(people.stderr.split("\n").length).toBeLessThan(24);
    expect(people.stderr).not.toContain("    at ");
    const machines = await inProcess(["check", ...args, "--json"], around);
    expect(machines).toMatchObject({ code: 2, stderr: "" });
    const answer: unknown = JSON.parse(machines.stdout);
    expect(answer).toMatchObject({ command: "check", ok: false, error: { code, message: expect.any(String) } });
    expect(readdirSync(root)).toEqual(before);
  });

  test("is content with a project that has no mistake", async () => {
    const { root } = project({
      ...good,
      "agents/worker/index.ts": `import { skill } from "./skill.ts";\nexport default { handle: "worker", tier: "pro", skills: [skill], may: ["jobs.apply"], on: { "job.listed": () => {} } };`,
      "agents/worker/skill.ts": `export const skill: string = "csv";`,
    });
    const env = { ...ADDRESS, RETINUE_KEY_SCOUT: KEY, RETINUE_KEY_WORKER: KEY };
    const people = await retinue(["check"], { cwd: root, env });
    expect(people).toMatchObject({ code: 0, stderr: "" });
    expect(people.stdout).toContain("2 specialists, no mistakes");
    const machines = await retinue(["check", "--json"], { cwd: root, env });
    expect(JSON.parse(machines.stdout)).toMatchObject({
      ok: true,
      problems: [],
      specialists: [
        { handle: "scout", set: "b", tier: "free" },
        { handle: "worker", set: "b", tier: "pro" },
      ],
    });
  });

  test("names the package that a store on a server needs", async () => {
    const { root } = project(good);
    const hook = `import { registerHooks } from "node:module";
      const missing = Object.assign(new Error("Cannot find package 'pg'"), { code: "ERR_MODULE_NOT_FOUND" });
      registerHooks({ resolve(name, context, next) { if (name === "pg") throw missing; return next(name, context); } });`;
    const { code, stderr } = await retinue(["check", "--no-keys", "--store", "postgres://me@127.0.0.1:1/x"], {
      cwd: root,
      nodeOptions: [`--import=data:text/javascript,${encodeURIComponent(hook)}`],
    });
    expect([code, stderr]).toEqual([2, expect.stringContaining("the package pg is not installed")]);
    expect(stderr).toContain("npm install --save-exact pg@");
  });

  test("runs from its sources without a condition, and lends them to definitions anywhere", async () => {
    const { root } = project({
      "agents/scout.ts": `import { credits, defineSpecialist } from "retinue";\nexport default defineSpecialist({ handle: "scout", spend: { perDay: credits(5) } });`,
    });
    expect(await retinue(["check"], { cwd: root, env: { ...ADDRESS, RETINUE_KEY_SCOUT: KEY } })).toMatchObject({ code: 0, stderr: "" });
  });

  test("takes the set from a profile file, unless told otherwise", async () => {
    const { root } = project({ ...good, "mine.yaml": "extends: set-a\n" });
    const around = { cwd: root, env: { ...ADDRESS, RETINUE_KEY_SCOUT: "sk-agent-abcd-efgh" } };
    const alone = await inProcess(["check", "--profile", "mine.yaml", "--json"], around);
    expect(JSON.parse(alone.stdout)).toMatchObject({ ok: true, problems: [], specialists: [{ set: "a" }] });
    const told = await inProcess(["check", "--profile", "mine.yaml", "--set", "b", "--json"], around);
    expect(JSON.parse(told.stdout)).toMatchObject({ ok: true, problems: [{ code: "profile_of_other_set", level: "warning" }] });
  });

  test("warns without failing, unless it is to be strict", async () => {
    const { root } = project({ "agents/scout.ts": `export default { handle: "scout", on: { "reply.created": () => {} } };` });
    const around = { cwd: root, env: { ...ADDRESS, RETINUE_KEY_SCOUT: KEY } };
    const people = await retinue(["check"], around);
    expect(people.code).toBe(0);
    expect(people.stderr).toContain("has no permission to write");
    expect(people.stdout).toContain("1 specialist, no mistakes, 1 warning\n");
    expect((await retinue(["check", "--strict"], around)).code).toBe(2);
  });

  test("says where deliveries must arrive and where the receiver listens, and warns of an address without a port", async () => {
    const { root } = project({ ...good });
    const network = { ...ADDRESS, RETINUE_KEY_SCOUT: KEY };
    const url = { ...network, RETINUE_WEBHOOK_URL: "https://bots.example.com/p/the-hook-secret-77/" };
    const env = { ...url, RETINUE_WEBHOOK_PORT: "8081", RETINUE_WEBHOOK_SECRET: "the-hook-secret-77" };
    const { code, stdout } = await retinue(["check"], { cwd: root, env });
    expect(code).toBe(0);
    expect(stdout).toContain("the network delivers to https://bots.example.com/p/[secret]/webhooks/<handle>");
    expect(stdout).toContain("the receiver listens at http://127.0.0.1:8081");
    const { stdout: json } = await inProcess(["check", "--json"], { cwd: root, env: url });
    expect(JSON.parse(json)).toMatchObject({ ok: true, problems: [{ code: "webhook_port_missing", level: "warning" }] });
  });

  test("says the expectation of a mistake once", async () => {
    const { root } = project({ ...good, "agents/quill.yaml": "handle: quill\ntier: gold\n" });
    const { stderr } = await inProcess(["check"], { cwd: root, env: { ...ADDRESS, RETINUE_KEY_SCOUT: KEY } });
    expect(stderr.match(/expected +a tier/g)).toHaveLength(1);
  });

  test("names each mistake of the receiver for which run would not start", async () => {
    const { root } = project({ ...good, "agents/quill.yaml": "handle: quill\nmay: [posts.reply]\n" });
    const receiver = { RETINUE_WEBHOOK_PORT: "8081", RETINUE_WEBHOOK_SECRET_QUILL: "the-hook-secret-77" };
    const env = { ...ADDRESS, ...receiver, RETINUE_KEY_SCOUT: KEY, RETINUE_KEY_QUILL: KEY, RETINUE_WEBHOOK_URL: "http://127.0.0.1:8081" };
    const codes = async (...args: readonly string[]): Promise<readonly string[]> => {
      const { stdout } = await inProcess(["check", "--json", ...args], { cwd: root, env });
      return (JSON.parse(stdout) as { problems: { code: string }[] }).problems.map(({ code }) => code);
    };
    expect(await codes()).toEqual(["webhook_secret_missing", "webhook_url_inner"]);
    expect(await codes("--no-keys")).toEqual(["webhook_url_inner"]);
  });

  test("names the mistakes of a file that others hid, those of other files, and a missing address, all at once", async () => {
    const { root } = project({
      "agents/scout.ts": `export default {
        handle: "scout", tier: "gold", may: ["post.reply", 7], watch: { feed: { maxAge: "soon" } }, spend: { perDay: 1, perHour: 2.5 },
        schedules: { daily: { cron: "61 * * * *", zone: "Mars/Olympus", run() {} }, both: { cron: "0 9 * * *", every: "1h", run() {} }, none: { every: "1h", run: 5 } },
      };`,
      "agents/helper.yaml": "handle: helper\ntire: pro\nmay: [posts.replay]\n",
      "retinue.config.yaml": "agents: agents\ndrain: 5\nguardian: {zone: Mars/Olympus}\nprices: {posts.creat: free}\n",
    });
    const { code, stderr, stdout } = await inProcess(["check"], { cwd: root, env: { RETINUE_KEY_SCOUT: KEY } });
    expect(code).toBe(2);
    const shown = [
      "tier: expected",
      "may[1]: expected",
      "watch.feed.maxAge: expected",
      "spend.perHour: expected",
      "schedules.daily.zone: expected",
      "schedules.none.run: expected",
      "either cron or every",
      'no operation "post.reply"',
      "schedules.daily: ",
      "61 * * * *",
      "tire: no such setting",
      'no operation "posts.replay"',
      '"helper" has no key',
      "drain: no such setting",
      "guardian.zone: expected",
      'prices: there is no operation "posts.creat"',
      "the network's address is not set",
    ];
    expect(shown.filter((text) => !stderr.includes(text))).toEqual([]);
    expect(stdout).toMatch(/^\d+ mistakes and \d+ warnings?$/m);
    const lines = stderr.split("\n").filter((line) => /^(error|warning):/.test(line));
    expect(new Set(lines).size).toBe(lines.length);
  });

  test("leaves the address alone where keys are", async () => {
    const { root } = project(good);
    expect(await inProcess(["check", "--no-keys"], { cwd: root })).toMatchObject({ code: 0, stderr: "" });
  });

  test("prints no key, whatever is wrong", async () => {
    const { root } = project({ ...good, ".env": `RETINUE_KEY_SCOUT=sk-agent-secret-secret\nRETINUE_SET=${KEY}` });
    const { stdout, stderr } = await retinue(["check", "--json"], { cwd: root });
    expect(stdout + stderr).not.toContain("secret-secret");
  });
});

test("a file that throws a secret while it is loaded has it taken out of the mistake", async () => {
  const thrown = 'throw new Error(`cannot use ${process.env["A_KEY"]} and ${btoa(process.env["A_SECRET"] ?? "")}`);';
  const { root } = project({ "agents/scout.ts": thrown, "good/scout.yaml": "handle: scout", "p.ts": thrown });
  const profile = ["--agents", "good", "--profile", "p.ts"];
  const env = {
    RETINUE_KEY_SCOUT: KEY,
    RETINUE_WEBHOOK_SECRET_SCOUT: "the-hook-secret-77",
    A_KEY: KEY,
    A_SECRET: "the-hook-secret-77",
    DEBUG: "1",
  };
  const run = ["run", "--base-url", "http://127.0.0.1:1/v1"];
  for (const args of [["check"], ["check", "--json"], run, ["plan", "--json"], ["check", ...profile], [...run, ...profile]]) {
    const { code, stdout, stderr } = await retinue(args, { cwd: root, env });
    expect([code, stdout + stderr]).toEqual([2, expect.stringContaining("cannot use [secret] and [secret]") as string]);
    expect(stdout + stderr).not.toMatch(/0123456789abcdef|dGhlLWhvb2stc2VjcmV0/);
  }
});

test.each(["sk_live_0123456789abcdef", `key-${"0123456789abcdef".repeat(9)}`])(
  "a key in the wrong place of a definition is not said, nor a part of it",
  async (key) => {
    const { root } = project({ "agents/scout.ts": 'export default { handle: "scout", tier: process.env["A_KEY"] };' });
    const { code, stdout, stderr } = await retinue(["check"], { cwd: root, env: { RETINUE_KEY_SCOUT: key, A_KEY: key } });
    expect([code, stderr]).toEqual([2, expect.stringContaining("tier: expected") as string]);
    expect(stdout + stderr).not.toContain("0123456789");
  },
);
