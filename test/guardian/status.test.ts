/** Status: one value of everything, from the store alone where nothing runs, and looking changes nothing. */
import { expect, onTestFinished, test } from "vitest";
import { defined } from "../../src/core/defined.ts";
import { asHandle, asIntentId, asKeyId } from "../../src/core/ids.ts";
import { systemRandom } from "../../src/core/random.ts";
import { credits, DAY, HOUR } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { Fatal } from "../../src/core/errors.ts";
import { needsOf } from "../../src/guardian/needs-you.ts";
import { showSpecialists, showStatus } from "../../src/guardian/status.ts";
import { DEFAULT_FLOORS } from "../../src/limits/lanes.ts";
import { DEFAULT_RETENTION } from "../../src/runtime/retention.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { decide, memberOf } from "../harness/builders.ts";
import { desk } from "../harness/guardian-over-store.ts";
import { harness } from "../harness/harness.ts";
import { propose } from "../harness/proposed.ts";

const SCOUT = asHandle("scout");
const KEY = asKeyId("k1");

test("looking at the quota and pruning under a clock set forward frees nothing", async () => {
  const clock = virtualClock();
  const store = openSqliteStore({ path: ":memory:", clock, random: systemRandom() });
  onTestFinished(() => clock.run(store.close()));
  const now = clock.now();
  const limits = { perHour: 2, perDay: 10 };
  await clock.run(store.registerKey(SCOUT, KEY, { limits, floors: DEFAULT_FLOORS }, now));
  const admission = await clock.run(
    store.admit(
      {
        request: { specialist: SCOUT, key: KEY, operation: "posts.list", effect: "read", lane: "poll", price: { kind: "free" } },
        now,
        deadlineAt: now,
        holdExpiresAt: now,
        known: { may: [], review: false, caps: [] },
      },
      (view) => ({ kind: "admit", charge: { lane: view.request.lane, cost: 1 }, hold: undefined }),
    ),
  );
  if (admission.kind !== "admitted") throw new Error("it was not admitted");
  const end = {
    key: KEY,
    attempt: admission.attempt.seq,
    lane: "poll",
    cost: 1,
    admittedAt: now,
    deadlineAt: now,
    ending: "answered",
  } as const;
  await clock.run(store.complete({ attempt: admission.attempt, end, outcome: "confirmed", now, events: [], watches: [] }));
  clock.jump(2 * DAY);
  await clock.run(store.prune(clock.now(), DEFAULT_RETENTION));
  const [shown] = await clock.run(showSpecialists(store, clock, {}));
  expect(shown?.quota).toEqual({ hour: { used: 1, limit: 2 }, day: { used: 1, limit: 10 } });
});

test("a store that nothing has used is an empty status", async () => {
  const { clock, store, on } = desk();
  expect(await on(showStatus({ store, clock }))).toMatchObject({
    at: clock.now(),
    running: undefined,
    halts: [],
    approvals: [],
    parked: [],
    specialists: [],
    failingCounts: { events: 0, parked: 0, groups: 0 },
    webhooks: undefined,
  });
});

test("work that waits for a person is listed by its reason", async () => {
  const { clock, store, on, parked } = desk();
  await on(propose(store, { id: "p1", input: { content: "x" }, now: clock.now() }));
  await parked("e1", "it crashed three times");
  const ready = (await on(decide(store, clock.now(), [{ id: asIntentId("a1") }]))).find(({ id }) => id === "a1");
  await on(
    store.moveIntent({
      seq: ready?.seq ?? 0,
      by: "outbox",
      change: { state: "parked", code: "attempts_spent", message: "five tries" },
      now: clock.now(),
    }),
  );
  const status = await on(showStatus({ store, clock }));
  expect(status.approvals).toMatchObject([{ id: "p1", what: "posts.reply", cost: credits(2) }]);
  expect(status.parked).toMatchObject([
    { id: "e1", message: "it crashed three times" },
    { id: "a1", what: "posts.create", message: "five tries" },
  ]);
  expect(status.specialists).toMatchObject([
    { handle: "scout", open: { proposed: 1, parked: 1 }, awaiting: { count: 1 }, quota: undefined },
  ]);
});

test("a deliverable that was refused is listed while its job is ours and no other one is under way", async () => {
  const { clock, store, on } = desk();
  const submit = (id: string) =>
    ({ id: asIntentId(id), operation: "jobs.submit", target: "j1", conflictKey: "j1", lane: "obligation" }) as const;
  const [first] = await on(decide(store, clock.now(), [submit("s1")]));
  await on(
    store.moveIntent({
      seq: first?.seq ?? 0,
      by: "outbox",
      change: { state: "refused", code: "x:no", message: "too long" },
      now: clock.now(),
    }),
  );
  const watch = { specialist: SCOUT, kind: "job", object: "j1", state: "assigned", data: {}, dueAt: null } as const;
  const undelivered = async () => (await on(showStatus({ store, clock }))).undelivered.map(({ id }) => id);
  expect(await undelivered()).toEqual([]);
  await on(store.putEvents({ events: [], watches: [watch] }, clock.now()));
  expect(await undelivered()).toEqual(["s1"]);
  await on(decide(store, clock.now(), [submit("s2")]));
  expect(await undelivered()).toEqual([]);
});

test("a running specialist shows its own trouble, waits and caps; a stopped one its row", async () => {
  const { clock, store, on } = desk();
  await on(store.suspend(SCOUT, { code: "key_refused", message: "401" }, clock.now()));
  expect((await on(showSpecialists(store, clock, {})))[0]?.parked).toEqual({ code: "key_refused", message: "401", since: clock.now() });
  const member = memberOf({ spend: { perDay: credits(5) } });
  member.waits = new Map([["act", { until: 9, since: 1, rule: "quota_window", message: "full" }]]);
  const [shown] = await on(showSpecialists(store, clock, { members: [member] }));
  expect(shown).toMatchObject({
    parked: undefined,
    waits: [{ lane: "act", rule: "quota_window" }],
    money: [{ currency: "credits", postedMicros: 0, dayCapMicros: credits(5).micros }],
  });
});

test("a store that is lost and cannot be read either is said to be lost, with what memory knows", async () => {
  const here = await harness({ specialists: [{ handle: "scout" }] });
  const { store, clock, runtime } = here;
  const live = { runtime, startedAt: clock.now(), baseUrl: "http://network" };
  const broken = { ...store, reads: { ...store.reads, waitingIntents: () => Promise.reject(new Error("disk I/O error")) } };
  await expect(clock.run(showStatus({ store: broken, clock, live }))).rejects.toThrow("disk I/O error");
  const since = clock.now();
  runtime.storeLost(new Fatal("store_lost", "the store could not commit: disk I/O error", { hint: "restore a backup" }));
  await clock.advance(HOUR);
  const status = await clock.run(showStatus({ store: broken, clock, live }));
  expect(status.storeLost?.message).toMatch(/^the store could not commit: disk I\/O error; it cannot be read either/);
  expect(status.specialists.map(({ handle }) => handle)).toEqual(["scout"]);
  expect(needsOf(status).needs).toMatchObject([{ key: "store_lost", since, hint: "restore a backup" }]);
  const read = await clock.run(showStatus({ store, clock, live }));
  expect([needsOf(read).at - since, needsOf(read).needs[0]]).toMatchObject([HOUR, { key: "store_lost", since, hint: "restore a backup" }]);
});

test("a specialist that waits for its past says so, and one that has begun does not", async () => {
  const { clock, store, on } = desk();
  const members = [memberOf({ handle: "scout" }), memberOf({ handle: "clerk" })];
  const shown = await on(showSpecialists({ ...store, awaitsPast: (handle) => handle === "clerk" }, clock, { members }));
  expect(shown.map(({ handle, awaitsPast }) => [handle, awaitsPast?.message])).toEqual([
    ["clerk", "its past is still being read from the server; it begins once that is here"],
    ["scout", undefined],
  ]);
});

test("a store of a fleet shows the stops of its own specialists, and those of everyone: it does not hear when others end", async () => {
  const { store, clock, runtime } = await harness({ specialists: [{ handle: "scout" }] });
  const stop = (handle?: string) => ({ ...defined({ handle }), code: "operation_missing", message: "404", since: 1, probeAt: undefined });
  const breakers = { ...runtime.parts.breakers, stops: () => [stop("scout"), stop("elsewhere"), stop()] as never };
  const live = {
    runtime: { ...runtime, members: () => [], parts: { ...runtime.parts, breakers } },
    startedAt: 0,
    baseUrl: "http://network",
  };
  const shown = async (has?: (handle: string) => boolean) =>
    (await clock.run(showStatus({ store, clock, live: { ...live, ...defined({ has }) } }))).stopped.map(({ handle }) => handle);
  expect(await shown()).toEqual(["scout", "elsewhere", undefined]);
  expect(await shown((handle) => handle === "scout")).toEqual(["scout", undefined]);
});
