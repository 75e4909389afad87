/** What of a specialist is due, by part: told from the rows, and counted as `nextDue` counts it. */
import { expect, onTestFinished, test } from "vitest";
import { LANES } from "../../src/contract/operations.ts";
import { eventId } from "../../src/contract/event-id.ts";
import { systemClock } from "../../src/core/clock.ts";
import { asHandle, asIntentId } from "../../src/core/ids.ts";
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
