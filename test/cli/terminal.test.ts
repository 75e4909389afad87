/** Text of others steers no terminal: whatever a network, its people or a definition wrote, no command prints it as it came. */
import { globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test, type TestContext } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { foreignCode } from "../../src/core/error-codes.ts";
import { Refused } from "../../src/core/errors.ts";
import { ANNOUNCEMENT_NAMES, createAnnouncer, type Announcements } from "../../src/core/events.ts";
import { asHandle } from "../../src/core/ids.ts";
import { parseJson } from "../../src/core/json.ts";
import { silentLogger } from "../../src/core/log.ts";
import { seededRandom } from "../../src/core/random.ts";
import { credits } from "../../src/core/units.ts";
import { createLocalNetwork } from "../../src/local-network/local-network.ts";
import type { CallResult } from "../../src/guardian/call-operation.ts";
import { controlPath, serveControl } from "../../src/guardian/control-socket.ts";
import type { Guardian } from "../../src/guardian/guardian.ts";
import type { ActionEntry, LogEntry } from "../../src/guardian/log-entries.ts";
import type { Snapshot } from "../../src/guardian/status.ts";
import type { Explanation } from "../../src/guardian/explanation.ts";
import { main } from "../../src/cli/main.ts";
import { folder } from "../harness/process.ts";
import { asking } from "../harness/visitor.ts";
import { failingShown, failureEntry } from "../harness/failures-shown.ts";
import { timelineEvent } from "../harness/timeline-shown.ts";
import { HOSTILE, poisoned, steered } from "../harness/hostile.ts";
import { inProcess, retinue } from "../harness/cli.ts";

const CLI = join(import.meta.dirname, "../../src/cli");
const AT = Date.UTC(2026, 10, 21, 9);
const SCOUT = asHandle("scout");
/** A text that is to be poisoned. */
const WORD = "word";

const waits = { about: "action" as const, id: WORD, handle: WORD, what: WORD, target: WORD, message: WORD, since: AT };
const approval = { hash: "0".repeat(64), cost: { currency: WORD, micros: credits(2).micros }, since: AT, expiresAt: AT };
const readFailure = { times: 3, since: AT, message: WORD };
const gap = { after: WORD, before: WORD, since: AT, until: AT };

const SNAPSHOT: Snapshot = {
  at: AT,
  running: { pid: 1, since: AT, baseUrl: WORD, set: "b" },
  totals: { approvals: 1, parked: 1, doubts: 1, pending: 1, undelivered: 1, stopped: 1, drift: 1, changed: 1 },
  failing: [failingShown(WORD, AT)],
  failingCounts: { events: 2, parked: 0, groups: 1 },
  halts: [{ scope: WORD, since: AT, reason: WORD }],
  pauses: [{ scope: WORD, since: AT, reason: WORD }],
  frozen: [{ scope: "guardian", currency: WORD, since: AT, reason: WORD }],
  approvals: [{ id: WORD, handle: WORD, what: WORD, target: WORD, input: { content: WORD }, ...approval }],
  parked: [waits],
  doubts: [waits],
  pending: [waits],
  undelivered: [waits],
  models: [{ model: WORD, handle: WORD, code: foreignCode(WORD), message: WORD, since: AT, until: AT }],
  stopped: [{ rule: "drift", code: foreignCode(WORD), message: WORD, handle: WORD, operation: WORD, since: AT, probeAt: AT }],
  drift: [
    {
      operation: WORD,
      severity: "breaking",
      kind: "type-change",
      record: "post",
      path: WORD,
      type: WORD,
      firstSeenMs: AT,
      lastSeenMs: AT,
      count: 1,
    },
  ],
  specialists: [
    {
      handle: WORD,
      tier: "pro",
      trust: WORD,
      accountId: WORD,
      retired: false,
      actions: { [HOSTILE]: 1 },
      open: { [HOSTILE]: 1 },
      quota: { hour: { used: 1, limit: 2 }, day: { used: 1, limit: 2 } },
      cooldown: { until: AT, reason: WORD },
      money: [{ currency: WORD, postedMicros: 1, heldMicros: 1, dayMicros: 1 }],
      jobs: { [HOSTILE]: 1 },
      held: [{ operation: WORD, rule: "spend_cap", message: WORD, count: 7, until: AT }],
      waits: [{ lane: "reply", rule: "conflict", message: WORD, since: AT, until: AT }],
      parked: { code: "x:word", message: WORD, since: AT, probeAt: AT },
      sources: [{ name: WORD, dueAt: AT, gaps: [gap], readFailure }],
    },
  ],
  money: [{ currency: WORD, postedMicros: 1, heldMicros: 1, dayMicros: 1, dayCapMicros: 1 }],
  webhooks: {
    url: WORD,
    route: WORD,
    unsigned: true,
    counts: {
      stored: 1,
      known: 1,
      hints: 0,
      full: 0,
      failed: 0,
      refused: { unsigned: 1, mismatch: 0, stale: 0, early: 0 },
      bySecret: [],
      byScheme: {},
      malformed: 0,
      tooLarge: 0,
      evicted: 0,
      open: 0,
      rateLimited: 1,
      misaddressed: 1,
    },
    specialists: [
      {
        handle: SCOUT,
        state: "unregistered",
        health: { state: "healthy", reported: 1, missed: 0, missedInRow: 0, lastReportedAt: AT },
        registration: { kind: "deferred", why: WORD },
        deliveries: [{ kind: WORD, state: "parked", count: 1 }],
      },
    ],
  },
};

const EXPLANATION: Explanation = {
  id: WORD,
  about: "intent",
  handle: WORD,
  what: WORD,
  target: WORD,
  state: WORD,
  since: AT,
  reasons: [{ rule: "x:word", message: WORD, lane: "reply", window: WORD, since: AT, until: AT }],
  hint: WORD,
  input: { content: WORD, [HOSTILE]: WORD, list: [WORD], empty: "" },
  event: { id: WORD, kind: WORD, at: AT, author: WORD, object: WORD, title: WORD, text: WORD },
  approval,
};
const OVER: Explanation = { ...EXPLANATION, approval: { ...approval, over: { how: "rejected", message: WORD, at: AT } } };

const ENTRY: ActionEntry = {
  about: "action",
  seq: 1,
  id: WORD,
  at: AT,
  handle: WORD,
  operation: WORD,
  target: WORD,
  state: "refused",
  code: WORD,
  message: WORD,
  created: WORD,
  words: WORD,
};
const STATES = ["proposed", "ready", "sending", "in_doubt", "confirmed", "refused", "pending", "cancelled", "parked"] as const;
const DELIVERY = { seq: 1, specialist: SCOUT, id: WORD, kind: WORD, state: "parked", scheme: WORD, note: WORD, receivedAt: AT, bytes: 9 };
const READ: CallResult = { kind: "read", value: { content: WORD, [HOSTILE]: [WORD] } };
const CALLS: { readonly [operation: string]: CallResult } = {
  "posts.list": READ,
  "posts.get": { kind: "waits", until: AT, message: WORD },
  "posts.create": { kind: "write", intent: WORD, state: "ready", created: WORD, code: WORD, message: WORD, until: AT },
};

const ORDER = { seq: 1, at: AT, who: WORD, from: "command", what: WORD, subject: WORD, why: WORD, result: WORD, code: WORD } as const;

/** A Guardian all of whose words are hostile. */
function hostileGuardian(): Guardian {
  const hostile = async () => ({ message: HOSTILE });
  const page = (entries: readonly LogEntry[]) => ({ entries: poisoned(entries, ["about", "state"]), next: 1 });
  return {
    status: async () => poisoned(SNAPSHOT, ["set", "lane", "severity", "tier"]),
    orders: async () => ({ entries: [poisoned(ORDER, ["from"])], next: 1, total: 2 }),
    inbox: async () => [],
    events: async () => ({ entries: [poisoned(timelineEvent(WORD, AT), ["state", "outcome"])], next: 1, total: 2 }),
    jobs: async () => ({ columns: [] }),
    usage: async () => ({ hours: [] }),
    log: async () => page([failureEntry(WORD, AT), ...STATES.map((state) => ({ ...ENTRY, state }))]),
    deliveries: async () => ({ entries: [poisoned(DELIVERY)], next: 1 }),
    delivery: async ({ seq }) => ({ ...poisoned(DELIVERY), body: seq === 1 ? HOSTILE : JSON.stringify({ [HOSTILE]: HOSTILE }) }),
    why: async ({ id }) => {
      if (id === "nothing") throw new Refused(foreignCode(HOSTILE), HOSTILE, { hint: HOSTILE, file: HOSTILE, expected: HOSTILE });
      if (id === "over") return poisoned(OVER, ["about", "how"]);
      const about = id === "specialist" || id === "operation" || id === "event" ? id : "intent";
      return poisoned({ ...EXPLANATION, about }, ["about"]);
    },
    recording: async () =>
      poisoned(
        { recording: 1, handle: WORD, event: { id: WORD, kind: WORD, at: AT, payload: { [HOSTILE]: WORD } }, state: { [HOSTILE]: WORD } },
        ["recording"],
      ),
    approve: hostile,
    reject: hostile,
    pause: hostile,
    resume: hostile,
    lift: hostile,
    unfreeze: hostile,
    retry: hostile,
    settle: hostile,
    backup: hostile,
    halt: async () => ({
      message: HOSTILE,
      inFlight: [{ id: HOSTILE, handle: HOSTILE, operation: HOSTILE, target: HOSTILE, startedAt: AT, deadlineAt: AT }],
    }),
    call: async ({ operation }) => poisoned(CALLS[operation] ?? READ, ["kind", "state"]),
  };
}

const about = { at: AT, handle: WORD };
const ANNOUNCED: Announcements = {
  poll: { ...about, source: WORD, fresh: 1, skipped: 0 },
  gap: { ...about, source: WORD, ...gap },
  delivery: { ...about, kind: WORD, state: "parked", fresh: 0, message: WORD },
  run: { ...about, event: WORD, kind: WORD, result: "failed", intents: 0, message: WORD, seq: 1, beganAt: AT, startedAt: AT },
  step: { ...about, event: WORD, step: WORD, startedAt: AT },
  intent: { ...about, id: WORD, operation: WORD, state: "refused", target: WORD, words: WORD, code: WORD, message: WORD },
  request: { ...about, operation: WORD, lane: WORD, outcome: WORD, status: 200, tookMs: 1, admissionMs: 1 },
  job: { ...about, job: WORD, state: "paid", title: WORD },
  wait: { ...about, lane: WORD, rule: WORD, until: AT + 5, message: WORD },
  parked: { ...about, code: WORD, message: WORD },
  drift: { ...about, operation: WORD, path: WORD, kind: WORD },
  order: { ...about, what: WORD, who: WORD, subject: WORD, code: WORD },
  definition: { ...about, file: WORD, message: WORD },
};

/** A store at work, as commands find it; what works on it is hostile. */
async function hostileStore(context: TestContext) {
  const cwd = folder(context);
  const path = join(cwd, "store.sqlite");
  const announcer = createAnnouncer();
  const control = await serveControl({
    path: controlPath(path),
    guardianOf: hostileGuardian,
    announcer,
    log: silentLogger(),
    onStop: () => undefined,
  });
  let closed = false;
  const close = async (): Promise<void> => {
    if (!closed) await control.close();
    closed = true;
  };
  context.onTestFinished(close);
  return { cwd, announcer, close, store: `sqlite:${path}` };
}

const COMMANDS: readonly (readonly string[])[] = [
  ["status"],
  ["log"],
  ["log", "--orders"],
  ["log", "--events", "--as", "scout"],
  ["log", "--record", "event"],
  ["deliveries"],
  ["deliveries", "1"],
  ["deliveries", "2"],
  ["why", "intent"],
  ["why", "over"],
  ["why", "event"],
  ["why", "specialist"],
  ["why", "operation"],
  ["why", "nothing"],
  ["approve", "intent", "--yes"],
  ["approve", "intent"],
  ["approve", "over"],
  ["reject", "intent", "--reason", "no"],
  ["pause"],
  ["resume"],
  ["halt"],
  ["halt", "--lift"],
  ["thaw", "--reason", "looked"],
  ["retry", "intent"],
  ["settle", "intent", "--happened"],
  ["call", "posts.list", "--as", "scout"],
  ["call", "posts.get", "p1", "--as", "scout"],
  ["call", "posts.create", "--as", "scout", "--input", "{}"],
  ["backup", "copy.sqlite"],
];

test.for(COMMANDS.map((args) => [args.join(" "), args] as const))("%s", async ([, args], context) => {
  const { cwd, store } = await hostileStore(context);
  for (const env of [{ NO_COLOR: "1" }, { FORCE_COLOR: "1" }]) {
    const { stdout, stderr } = await inProcess([...args, "--store", store], { cwd, env });
    expect(steered(stdout)).toEqual([]);
    expect(steered(stderr)).toEqual([]);
    expect(stdout + stderr).toContain("\\u009b");
  }
  const json = await inProcess([...args, "--store", store, "--json"], { cwd });
  expect(steered(json.stdout + json.stderr)).toEqual([]);
  // Machines get the value as it is.
  expect(JSON.stringify(parseJson(json.stdout))).toContain(JSON.stringify(HOSTILE).slice(1, -1));
});

test("log --follow", async (context) => {
  const { cwd, store, announcer, close } = await hostileStore(context);
  let written = "";
  const last = Promise.withResolvers<void>();
  const stdout = {
    write(text: string) {
      written += text;
      if (written.includes("the end")) last.resolve();
    },
  };
  const followed = Promise.withResolvers<void>();
  const on = announcer.on.bind(announcer);
  Object.assign(announcer, {
    on(...args: Parameters<typeof on>) {
      followed.resolve();
      return on(...args);
    },
  });
  const following = main(["log", "--follow", "--store", store], { cwd, env: {}, stdout, stderr: stdout });
  await followed.promise;
  const hostile = poisoned(ANNOUNCED, ["state", "result"]);
  for (const name of ANNOUNCEMENT_NAMES) announcer.emit(name as "poll", hostile[name] as Announcements["poll"]);
  announcer.emit("definition", { ...ANNOUNCED.definition, message: "the end" });
  await last.promise;
  await close();
  expect(await following).toBe(1);
  expect(written).toContain("the runtime that was followed has ended");
  expect(steered(written)).toEqual([]);
});

test("commands print through the one output: nothing else writes to a stream but the question and the live pictures", () => {
  const files = globSync("**/*.ts", { cwd: CLI }).filter((file) => /\.write\(/.test(readFileSync(join(CLI, file), "utf8")));
  expect(files.toSorted()).toEqual(["asking.ts", "live-view.ts", "main.ts", "output.ts", "watch-status.ts"]);
});

const TALKER = `
import { defineSpecialist } from "retinue";
const HOSTILE = ${JSON.stringify(HOSTILE)};
export default defineSpecialist({
  handle: "scout",
  tier: "pro",
  watch: { feed: { from: "start" } },
  may: ["posts.reply", "posts.vote"],
  review: ["posts.vote"],
  on: {
    "post.created": (post, act) => {
      act.log.warn(HOSTILE, { [HOSTILE]: HOSTILE, content: post.content });
      act.reply(post, HOSTILE);
      act.vote(post);
      if (post.content?.includes("throw")) throw new Error(HOSTILE);
    },
  },
});
`;

/** A network on which somebody hostile posts, and a project whose definition says what it read. */
async function hostileWorld(context: TestContext) {
  const cwd = folder(context);
  mkdirSync(join(cwd, "agents"));
  writeFileSync(join(cwd, "agents/scout.ts"), TALKER);
  const network = createLocalNetwork({ clock: systemClock(), random: seededRandom(7), residents: false, scale: 0.05 });
  const listening = await network.listen({ set: "b" });
  context.onTestFinished(async () => {
    await listening.close();
    await network.stop();
  });
  const { key } = network.provision({ handle: "scout", tier: "pro", set: "b" });
  const other = asking(network, "b", network.provision({ handle: "quill", tier: "pro", set: "b" }).key);
  for (const content of [HOSTILE, `throw ${HOSTILE}`])
    await other("POST", "/v1/posts", { body: { content: content.replace("\uD800", "") } });
  network.start();
  const options = {
    cwd,
    env: { RETINUE_KEY_SCOUT: key, RETINUE_BASE_URL: listening.baseUrls.b ?? "" },
    nodeOptions: ["--conditions=retinue-source"],
  };
  return {
    run: (...args: readonly string[]) => retinue(args, options),
    runUntil: (until: RegExp) => retinue(["run"], { ...options, until }),
  };
}

const ALL_HANDLED = /^(?=[^]*replied to)(?=[^]*failed at handling post\.created)(?=[^]*retinue approve i)/;

test("run, and what it leaves: status, log, why, approve and doctor", async (context) => {
  const { run, runUntil } = await hostileWorld(context);
  const { code, stdout, stderr } = await runUntil(ALL_HANDLED);
  expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
  expect(stdout).toMatch(ALL_HANDLED);
  expect(steered(stdout)).toEqual([]);
  const left = parseJson((await run("status", "--json")).stdout) as { readonly approvals: readonly { readonly id: string }[] };
  const id = left.approvals[0]?.id ?? "";
  for (const args of [["status"], ["log"], ["why", id], ["why", "scout"], ["approve", id], ["approve", id, "--yes"], ["doctor"]]) {
    const { stdout: said, stderr: complained } = await run(...args);
    expect([args, ...steered(said), ...steered(complained)]).toEqual([args]);
  }
});

test("check, and an error with its stack", async (context) => {
  const cwd = folder(context);
  mkdirSync(join(cwd, "agents"));
  writeFileSync(join(cwd, "agents/odd.yaml"), `handle: ${JSON.stringify(HOSTILE)}\n${JSON.stringify(HOSTILE)}: 1\n`);
  writeFileSync(join(cwd, "agents/throws.ts"), `throw new Error(${JSON.stringify(HOSTILE)});`);
  for (const args of [["check"], ["check", "--json"], ["plan"], [HOSTILE], ["why", HOSTILE], ["settle", "x", `--${HOSTILE}`]]) {
    const { code, stdout, stderr } = await inProcess([...args, "--base-url", "http://127.0.0.1:1"], { cwd, env: { DEBUG: "1" } });
    expect([args, code, ...steered(stdout), ...steered(stderr)]).toEqual([args, 2]);
  }
});
