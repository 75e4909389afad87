/** The port of sources and watches: rows as written, obligations first, and what is due by part, counted as `nextDue` counts it. */
import { expect, onTestFinished, test } from "vitest";
import { LANES } from "../../src/contract/operations.ts";
import { eventId } from "../../src/contract/event-id.ts";
import { systemClock } from "../../src/core/clock.ts";
import { asHandle, asIntentId, type Handle } from "../../src/core/ids.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { seededRandom } from "../../src/core/random.ts";
import type { WorkKind } from "../../src/store/sources.ts";
import { DEFAULT_BRAKES } from "../../src/specialist/specialist.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";
import type { DraftIntent } from "../../src/specialist/intent-draft.ts";

const NOW = 1_000_000;
const scout = asHandle("scout");

const draft = (id: string, change: Partial<DraftIntent> = {}): DraftIntent => ({
  id: asIntentId(id),
  ordinal: 0,
  operation: "posts.vote",
  input: {},
  effect: "idempotent",
  lane: "act",
  hops: 0,
  conflictKey: id,
  ...change,
});

/** Stores one intent, and leaves no event behind. */
async function decide(store: Store, now: number, intent: DraftIntent): Promise<void> {
  const id = eventId("post.created", intent.id);
  await store.recordRun(
    { specialist: scout, id, kind: "post.created", payload: {}, via: "runtime", hops: 0 },
    { specialist: scout, now, intents: [intent], caps: DEFAULT_BRAKES, brake: () => undefined, report: () => undefined },
  );
}

function source(name: string, dueAt: number) {
  return { events: [], cursors: [{ specialist: scout, source: name, cursor: {}, dueAt }] };
}

/** Makes one part due from `NOW` on, and nothing before. */
const MAKE_DUE: { readonly [part in WorkKind]: (store: Store) => Promise<unknown> } = {
  deliveries: (store) =>
    store.putDelivery(
      {
        delivery: { specialist: scout, id: "d1", kind: undefined, scheme: "header", body: Buffer.from("{}") },
        plain: undefined,
        onStored: () => undefined,
      },
      NOW,
    ),
  async events(store) {
    const id = eventId("post.created", "p1");
    await store.putEvents({ events: [{ specialist: scout, id, kind: "post.created", payload: {}, via: "poll", hops: 0 }] }, 0);
    const [event] = store.claimEvents(scout, 0, 1);
    store.retryEvent(event?.seq ?? 0, { notBefore: NOW, failed: false, note: "later" });
  },
  async intents(store) {
    await decide(store, 0, draft("i1"));
    const [intent] = store.dueIntents(scout, LANES, 0, 1);
    await store.moveIntent({ seq: intent?.seq ?? 0, by: "outbox", change: { state: "ready", nextAt: NOW }, now: 0 });
  },
  async doubts(store) {
    await decide(store, 0, draft("i2"));
    const [intent] = store.dueIntents(scout, LANES, 0, 1);
    await store.moveIntent({ seq: intent?.seq ?? 0, by: "restoration", change: { state: "in_doubt", nextAt: NOW }, now: 0 });
  },
  schedules: (store) => store.putEvents(source("schedule:feed", NOW), 0),
  sources: (store) => store.putEvents(source("feed", NOW), 0),
  watches: (store) =>
    store.putEvents({ events: [], watches: [{ specialist: scout, kind: "job", object: "j1", state: "applied", data: {}, dueAt: NOW }] }, 0),
};

function openStore(): Store {
  const store = openSqliteStore({ path: ":memory:", clock: systemClock(), random: seededRandom(1) });
  onTestFinished(() => store.close());
  return store;
}

test.each(Object.keys(MAKE_DUE) as WorkKind[])("%s are due by themselves, from their time on, for their specialist alone", async (part) => {
  const store = openStore();
  await MAKE_DUE[part](store);
  expect(store.dueWork(scout, LANES, NOW - 1)).toEqual(part === "deliveries" ? [part] : []); // those never wait for a time
  expect(store.dueWork(scout, LANES, NOW)).toEqual([part]);
  expect(store.dueWork(asHandle("other"), LANES, NOW)).toEqual([]);
  expect(store.nextDue(scout, LANES)).toBeLessThanOrEqual(NOW);
});

test("an intent is due in its own lane, and one that no longer makes sense in any", async () => {
  const store = openStore();
  await decide(store, NOW, draft("i1", { expiresAt: NOW + 10 }));
  expect(store.dueWork(scout, ["act"], NOW)).toEqual(["intents"]);
  expect(store.dueWork(scout, ["reply"], NOW)).toEqual([]);
  expect(store.dueWork(scout, [], NOW + 10)).toEqual(["intents"]);
});

test("one that may have happened does not run out, so that nothing is due when its time is over", async () => {
  const store = openStore();
  await decide(store, NOW, draft("i1", { expiresAt: NOW + 10 }));
  const [intent] = store.dueIntents(scout, LANES, NOW, 1);
  const change = { state: "ready", everUnknown: true, nextAt: NOW + 100 } as const;
  await store.moveIntent({ seq: intent?.seq ?? 0, by: "outbox", change, now: NOW });
  expect(store.expireIntents(scout, NOW + 10, 1)).toEqual([]);
  expect(store.dueWork(scout, LANES, NOW + 10)).toEqual([]);
  expect(store.nextDue(scout, LANES)).toBe(NOW + 100);
});

/** Watches one object, due at a time or completed. */
async function watch(store: Store, kind: "job" | "thread", object: string, state: string, dueAt: number | null): Promise<void> {
  await store.putEvents({ events: [], watches: [{ specialist: scout, kind, object, state, data: { at: dueAt }, dueAt }] }, 0);
}

const named = (rows: readonly { readonly object: string }[]): readonly string[] => rows.map(({ object }) => object);

test("a source is one row, of its last cursor and time", async () => {
  const store = openStore();
  await store.putEvents(source("feed", NOW), 0);
  const cursors = [{ specialist: scout, source: "feed", cursor: { after: "p7" }, dueAt: null }];
  await store.putEvents({ events: [], cursors }, 1);
  expect(await store.sources(scout)).toEqual([{ name: "feed", cursor: { after: "p7" }, dueAt: null }]);
  expect(await store.sources(asHandle("other"))).toEqual([]);
});

test("cursors of one source are changed together, and keep their times", async () => {
  const store = openStore();
  const [other, none] = [asHandle("other"), asHandle("none")];
  const row = (specialist: Handle, at: number) => ({ specialist, source: "feed", cursor: { at }, dueAt: NOW + at });
  await store.putEvents({ events: [], cursors: [row(scout, 1), row(other, 2)] }, 0);
  const change = ({ at }: JsonObject) => (at === 1 ? { at: 10 } : undefined);
  await store.changeCursors("feed", [scout, other, none], change, NOW);
  await store.changeCursors("jobs", [scout], () => ({ at: 11 }), NOW);
  expect(await store.sources(scout)).toEqual([{ name: "feed", cursor: { at: 10 }, dueAt: NOW + 1 }]);
  expect(await store.sources(other)).toEqual([{ name: "feed", cursor: { at: 2 }, dueAt: NOW + 2 }]);
  expect(await store.sources(none)).toEqual([]);
});

test("due watches come with applications first, then by their time, and no more than asked for", async () => {
  const store = openStore();
  await watch(store, "thread", "p1", "open", NOW - 9);
  await watch(store, "job", "j1", "assigned", NOW - 5);
  await watch(store, "job", "j2", "applied", NOW);
  await watch(store, "job", "j3", "applied", NOW + 1);
  await watch(store, "job", "j4", "paid", null);
  expect(named(await store.dueWatches(scout, NOW, 9))).toEqual(["j2", "p1", "j1"]);
  expect(named(await store.dueWatches(scout, NOW, 2))).toEqual(["j2", "p1"]);
  expect(await store.dueWatches(asHandle("other"), NOW, 9)).toEqual([]);
});

test("a refusal postpones the due watches of one kind and state, and no other", async () => {
  const store = openStore();
  await watch(store, "job", "j1", "applied", NOW);
  await watch(store, "job", "j2", "applied", NOW + 1);
  await watch(store, "job", "j3", "assigned", NOW);
  await watch(store, "thread", "p1", "applied", NOW);
  await store.postponeWatches(scout, NOW, NOW + 50, { kind: "job", state: "applied" });
  const jobs = await store.openWatches(scout, "job", 9);
  expect(jobs.map(({ object, dueAt }) => [object, dueAt])).toEqual([
    ["j3", NOW],
    ["j2", NOW + 1],
    ["j1", NOW + 50],
  ]);
  expect(await store.findWatch(scout, "thread", "p1")).toMatchObject({ dueAt: NOW });
});

test("a completed watch is none of the open ones and counts for nothing, and is still known", async () => {
  const store = openStore();
  await watch(store, "job", "j1", "applied", NOW);
  await watch(store, "job", "j2", "applied", NOW);
  await watch(store, "job", "j3", "paid", null);
  await watch(store, "thread", "p1", "open", NOW);
  expect(await store.jobStandings(scout)).toEqual(new Map([["applied", 2]]));
  expect(named(await store.openWatches(scout, "job", 1))).toHaveLength(1);
  expect(named(await store.openWatches(scout, "thread", 9))).toEqual(["p1"]);
  expect(named(await store.watchesOf(scout, "job", ["j3", "j9", "p1"]))).toEqual(["j3"]);
  expect(await store.findWatch(scout, "job", "j3")).toEqual({ kind: "job", object: "j3", state: "paid", data: { at: null }, dueAt: null });
  expect(await store.findWatch(scout, "job", "j9")).toBeUndefined();
});
