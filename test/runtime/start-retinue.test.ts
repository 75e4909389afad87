/** `startRetinue`, the public start: definitions in code, a transport that a user wraps, dry runs, commands, and one stop. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { connect, defineSpecialist, isRetinueError, Refused, resolveProfile, startRetinue, type LogLine, type WireRequest } from "retinue";
import { createLocalNetwork, seededRandom, systemClock, type LocalNetwork } from "retinue/testing";
import { retinue as run } from "../harness/cli.ts";

let root = "";
let network: LocalNetwork;
let env: { readonly [name: string]: string };
const closing: (() => Promise<void>)[] = [];

beforeEach(async () => {
  root = mkdtempSync(join(tmpdir(), "retinue-start-"));
  network = createLocalNetwork({ clock: systemClock(), random: seededRandom(3), residents: { already: { post: 3 } } });
  const { baseUrls } = await network.listen({ set: "b" });
  const baseUrl = baseUrls.b ?? "";
  network.start();
  const { key } = network.provision({ handle: "echo", tier: "pro" });
  env = { RETINUE_BASE_URL: baseUrl, RETINUE_KEY_ECHO: key, RETINUE_STORE: `sqlite:${join(root, "store.sqlite")}` };
});

afterEach(async () => {
  for (const close of closing.splice(0).toReversed()) await close();
  await network.stop();
  rmSync(root, { recursive: true, force: true });
});

const echo = defineSpecialist({
  handle: "echo",
  tier: "pro",
  watch: { feed: { from: "start" } },
  may: ["posts.reply"],
  on: { "post.created": (post, act) => void act.reply(post, `read ${post.id}`) },
});

test("runs definitions given in code, through a transport that sees each request once", async () => {
  const confirmed = Promise.withResolvers<void>();
  const requests: WireRequest[] = [];
  const retinue = await startRetinue({
    cwd: root,
    env,
    specialists: [echo],
    transport: (next) => (request) => {
      requests.push(request);
      return next(request);
    },
    on: { intent: ({ state }) => void (state === "confirmed" && confirmed.resolve()) },
  });
  closing.push(() => retinue.stop());
  await confirmed.promise;
  await retinue.stop();
  const served = network.truth.requests({ agent: "echo" });
  expect(requests).toHaveLength(served.length);
  expect(requests.some(({ method }) => method === "POST")).toBe(true);
  expect(network.truth.duplicates()).toEqual([]);
});

test("sends no write where writes are refused", async () => {
  const decided = Promise.withResolvers<void>();
  await using retinue = await startRetinue({
    cwd: root,
    env,
    specialists: [echo],
    writes: "refuse",
    on: { intent: () => decided.resolve() },
  });
  await decided.promise;
  await retinue.stop();
  expect(network.truth.effects({ agent: "echo" })).toEqual([]);
});

test("is reached by the commands, and a listener that throws stops nothing", async () => {
  const lines: LogLine[] = [];
  const polled = Promise.withResolvers<void>();
  const retinue = await startRetinue({
    cwd: root,
    env,
    specialists: [echo],
    log: (line) => lines.push(line),
    on: {
      poll: () => {
        polled.resolve();
        throw new Error("a listener's own fault");
      },
    },
  });
  closing.push(() => retinue.stop());
  await polled.promise;
  const { code, stdout } = await run(["status", "--json"], { cwd: root, env });
  expect(code).toBe(0);
  expect(JSON.parse(stdout)).toMatchObject({ ok: true, running: { pid: process.pid }, specialists: [{ handle: "echo" }] });
  expect(lines.some(({ message }) => message.includes('a listener for "poll" failed'))).toBe(true);
  expect(JSON.stringify(lines)).not.toContain(env["RETINUE_KEY_ECHO"]);
});

test("a stop says how many repeated lines the log left out", async () => {
  const lines: LogLine[] = [];
  const handled = Promise.withResolvers<void>();
  const loud = defineSpecialist({
    handle: "echo",
    tier: "pro",
    watch: { feed: { from: "start" } },
    may: ["posts.reply"],
    on: {
      "post.created": (post, act) => {
        for (let i = 0; i < 12; i++) act.log.warn("the same");
        handled.resolve();
      },
    },
  });
  const retinue = await startRetinue({ cwd: root, env, specialists: [loud], log: (line) => lines.push(line) });
  closing.push(() => retinue.stop());
  await handled.promise;
  await retinue.stop();
  const same = lines.map(({ message }) => message).filter((message) => message.startsWith("the same"));
  expect(same).toEqual([...Array<string>(10).fill("the same"), expect.stringMatching(/^the same: \d+ more within a minute$/)]);
});

test("names every mistake of a definition in code before anything is opened", async () => {
  const wrong = { ...echo, tier: "gold" } as unknown;
  const failed = await startRetinue({ cwd: root, env, specialists: [wrong as typeof echo] }).catch((error: unknown) => error);
  expect(isRetinueError(failed) && failed.code).toBe("definition_invalid");
  expect(isRetinueError(failed) && failed.details.file).toBe("specialists[0]");
});

test("a second start on one store is refused, and says that it may be tried later", async () => {
  const retinue = await startRetinue({ cwd: root, env, specialists: [echo] });
  closing.push(() => retinue.stop());
  const second = await startRetinue({ cwd: root, env, specialists: [echo] }).catch((error: unknown) => error);
  expect(isRetinueError(second) && second.code).toBe("store_in_use");
});

test("connect reads and pages without a runtime, and refuses what the profile lacks", async () => {
  await using connection = connect(resolveProfile({ extends: "set-b" }), {
    baseUrl: env["RETINUE_BASE_URL"] ?? "",
    key: env["RETINUE_KEY_ECHO"] ?? "",
  });
  const listed = [];
  for await (const page of connection.pages({ operation: "posts.list", input: { limit: 2 } })) listed.push(...page.items);
  expect(listed).toHaveLength(3);
  expect(await connection.methods.posts.get(listed[0] !== undefined && "id" in listed[0] ? String(listed[0].id) : "")).toMatchObject({
    class: "confirmed",
  });
  await expect(connection.send({ operation: "posts.fly", input: {} })).rejects.toBeInstanceOf(Refused);
});
