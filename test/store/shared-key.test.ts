/** Two specialists on one key, through the real store: what either owes, both set calls aside for, in whatever order they come. */
import { join } from "node:path";
import { afterEach, describe, expect, test } from "vitest";
import type { WatchWrite } from "../../src/contract/event.ts";
import type { Lane } from "../../src/contract/operations.ts";
import { TIER_LIMITS } from "../../src/contract/tiers.ts";
import { systemClock } from "../../src/core/clock.ts";
import { asHandle, asKeyId, type Handle } from "../../src/core/ids.ts";
import { seededRandom } from "../../src/core/random.ts";
import { DAY, SECOND } from "../../src/core/units.ts";
import { decide } from "../../src/limits/decide.ts";
import { CALLS_PER_OBLIGATION, DEFAULT_FLOORS, laneShares, maxObligations, READ_BACK_CALLS } from "../../src/limits/lanes.ts";
import type { Attempt } from "../../src/outbox/intent.ts";
import { MEMORY } from "../../src/store/sqlite/database.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";
import type { Admission } from "../../src/store/admission.ts";
import { folder } from "../harness/process.ts";

const T0 = Date.UTC(2026, 2, 1);
const KEY = asKeyId("shared");
const [SCOUT, QUILL] = [asHandle("scout"), asHandle("quill")];
/** An hour that never binds, so that the day's shares are what is seen. */
const LIMITS = { perHour: TIER_LIMITS.free.perDay, perDay: TIER_LIMITS.free.perDay };
const MOST = maxObligations(laneShares(LIMITS.perDay));

const stores: Store[] = [];
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
});

async function open(path = MEMORY): Promise<Store> {
  const store = openSqliteStore({ path, clock: systemClock(), random: seededRandom(1) });
  stores.push(store);
  for (const handle of [SCOUT, QUILL]) await store.registerKey(handle, KEY, { limits: LIMITS, floors: DEFAULT_FLOORS }, T0);
  return store;
}

function ask(store: Store, specialist: Handle, lane: Lane, operation: string, now = T0): Promise<Admission> {
  return store.admit(
    {
      request: {
        specialist,
        key: KEY,
        operation,
        effect: "read",
        lane,
        price: { kind: "free" },
        promises: operation === "jobs.apply" ? 1 : 0,
      },
      now,
      deadlineAt: now + 30 * SECOND,
      holdExpiresAt: now,
      known: { may: undefined, review: false, caps: [] },
    },
    decide,
  );
}

function followed(specialist: Handle, object: string): WatchWrite {
  return { specialist, kind: "job", object, state: "applied", data: {}, dueAt: T0 + SECOND };
}

/** Answers an application: the job is followed from then on. */
async function follow(store: Store, attempt: Attempt, specialist: Handle, job: string): Promise<void> {
  const { seq, lane, cost, startedAt: admittedAt, deadlineAt } = attempt;
  store.complete({
    attempt,
    end: { key: KEY, attempt: seq, lane, cost, admittedAt, deadlineAt, ending: "answered" },
    outcome: "confirmed",
    now: T0,
    events: [],
    watches: [],
  });
  await store.putEvents({ events: [], watches: [followed(specialist, job)] }, T0);
}

/** Applies until the key can promise no more; answers are in flight for a while, as `delay` says. Returns what each took on. */
async function applyAll(store: Store, seed: number): Promise<{ readonly scout: number; readonly quill: number }> {
  const random = seededRandom(seed);
  const owed = { scout: 0, quill: 0 };
  const refusals = new Set<string>();
  const flying: { readonly attempt: Attempt; readonly who: Handle; readonly job: string }[] = [];
  for (let n = 0; n < 3 * MOST; n++) {
    const who = random.next() < 0.5 ? SCOUT : QUILL;
    const answer = await ask(store, who, "act", "jobs.apply");
    if (answer.kind === "admitted") {
      owed[who === SCOUT ? "scout" : "quill"]++;
      flying.push({ attempt: answer.attempt, who, job: `job${n}` });
    } else refusals.add(answer.kind === "wait" ? answer.rule : answer.kind);
    while (flying.length > 0 && random.next() < 0.4) {
      const [first] = flying.splice(random.int(flying.length), 1);
      if (first !== undefined) await follow(store, first.attempt, first.who, first.job);
    }
  }
  for (const { attempt, who, job } of flying) await follow(store, attempt, who, job);
  expect([...refusals]).toEqual(["obligations_full"]);
  return owed;
}

describe("two specialists on one key", () => {
  test.each([1, 2, 3, 4, 5, 6])("promise together what the key can keep, answered or not (seed %i)", async (seed) => {
    const store = await open();
    const { scout, quill } = await applyAll(store, seed);
    expect(scout).toBeGreaterThan(0);
    expect(quill).toBeGreaterThan(0);
    expect(scout + quill).toBe(MOST);
  });

  test("racing with 64 applications at once, they promise what the key can keep and no more", async () => {
    const store = await open();
    const all = await Promise.all(Array.from({ length: 64 }, (_, i) => ask(store, i % 2 === 0 ? SCOUT : QUILL, "act", "jobs.apply")));
    expect(all.filter(({ kind }) => kind === "admitted")).toHaveLength(MOST);
  });

  test.each([7, 8, 9])("one that polls all it can leaves the calls the other needs to deliver (seed %i)", async (seed) => {
    const store = await open();
    const { scout, quill } = await applyAll(store, seed);
    let polled = 0;
    while ((await ask(store, QUILL, "poll", "jobs.list")).kind === "admitted") polled++;
    const reserve = READ_BACK_CALLS + CALLS_PER_OBLIGATION * (scout + quill);
    expect(polled).toBeLessThanOrEqual(LIMITS.perDay - MOST - reserve);
    let delivered = 0;
    while ((await ask(store, SCOUT, "obligation", "jobs.get")).kind === "admitted") delivered++;
    expect(delivered).toBeGreaterThanOrEqual(reserve);
  });

  test("plan with what the key has left, whoever of them promised it", async () => {
    const store = await open();
    const before = await store.laneBudget(KEY, "poll", T0);
    const jobs = Array.from({ length: MOST }, (_, job) => `job${job}`);
    await store.putEvents({ events: [], watches: jobs.map((job) => followed(SCOUT, job)) }, T0);
    const kept = laneShares(LIMITS.perDay).kept[0] ?? 0;
    expect(before - (await store.laneBudget(KEY, "poll", T0))).toBe(READ_BACK_CALLS + CALLS_PER_OBLIGATION * MOST - kept);
    // What a specialist that is defined no longer left behind holds its neighbours up for a month at most.
    expect(await store.laneBudget(KEY, "poll", T0 + 31 * DAY)).toBe(before);
  });

  test("are shown with what it has used, once, by a store that has just been opened", async (context) => {
    const path = join(folder(context), "store.sqlite");
    const before = await open(path);
    const own = { limits: LIMITS, floors: DEFAULT_FLOORS };
    await before.registerKey(asHandle("hand"), asKeyId("of its own"), own, T0);
    const answer = await ask(before, SCOUT, "reply", "posts.reply");
    if (answer.kind !== "admitted") throw new Error("it waits");
    await follow(before, answer.attempt, SCOUT, "job1");
    await stores.pop()?.close();
    const store = await open(path);
    const usage = await store.usage(T0 + SECOND);
    expect(["hand", "quill", "scout"].map((handle) => usage.get(asHandle(handle))?.quota?.day.used)).toEqual([0, 1, 1]);
    expect((await store.quotaUse(KEY, T0 + SECOND))?.day.used).toBe(1);
  });
});
