/** Status: one value of everything, from the store alone where nothing runs, and looking changes nothing. */
import { expect, onTestFinished, test } from "vitest";
import { asHandle, asIntentId, asKeyId, type Handle } from "../../src/core/ids.ts";
import { systemRandom } from "../../src/core/random.ts";
import { credits, DAY } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { showSpecialists, showStatus } from "../../src/guardian/status.ts";
import { decideHold } from "../../src/limits/hold-decision.ts";
import { DEFAULT_FLOORS } from "../../src/limits/lanes.ts";
import { DEFAULT_RETENTION } from "../../src/runtime/retention.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { scopeOf, type Cap } from "../../src/limits/spending.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";
import { decide, memberOf } from "../harness/builders.ts";
import { harness } from "../harness/harness.ts";
import { desk } from "../harness/guardian-over-store.ts";
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

const dayCap = (handle: Handle): Cap => ({ scope: scopeOf(handle), window: "day", money: { currency: "credits", micros: 5_000_000 } });

test("money of all together is the sum of the specialists', held and spent, with the Guardian's own caps", async () => {
  const here = await harness({
    specialists: [{ handle: "scout" }, { handle: "quill" }],
    guardianCaps: createSpecialist({ handle: "x", spend: { perDay: credits(10) } }).spend,
  });
  const { store, clock, guardian } = here;
  const caps = [dayCap(asHandle("scout")), dayCap(asHandle("quill"))];
  for (const [i, handle] of ["scout", "quill"].map(asHandle).entries()) {
    const hold = { id: `m${i}`, specialist: handle, money: { currency: "credits", micros: 2_000_000 }, expiresAt: clock.now() + DAY };
    await clock.run(store.openHold({ hold, now: clock.now(), known: { caps, halt: undefined } }, decideHold));
  }
  store.endHold({ id: "m0", actual: 1_000_000, caps: [], now: clock.now() });
  const { money, specialists } = await clock.run(guardian.status({}));
  expect(money).toEqual([
    { currency: "credits", postedMicros: 1_000_000, heldMicros: 2_000_000, dayMicros: 3_000_000, dayCapMicros: 10_000_000 },
  ]);
  expect(specialists.flatMap((one) => one.money).map(({ dayCapMicros }) => dayCapMicros)).toEqual([undefined, undefined]);
});
