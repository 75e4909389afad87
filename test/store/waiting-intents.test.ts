/** Any number of waiting intents takes a bounded part of memory, leaves in order, and survives the end of a process anywhere. */
import { expect, onTestFinished, test } from "vitest";
import { eventId } from "../../src/contract/event-id.ts";
import { LANES } from "../../src/contract/operations.ts";
import { tierLimits } from "../../src/contract/tiers.ts";
import { systemClock } from "../../src/core/clock.ts";
import { asHandle, asIntentId, asKeyId } from "../../src/core/ids.ts";
import { seededRandom } from "../../src/core/random.ts";
import { HOUR, SECOND } from "../../src/core/units.ts";
import { decide } from "../../src/limits/decide.ts";
import { DEFAULT_FLOORS } from "../../src/limits/lanes.ts";
import type { Present } from "../../src/live/present.ts";
import { DEFAULT_BRAKES } from "../../src/specialist/specialist.ts";
import { MEMORY, openDatabase } from "../../src/store/sqlite/database.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";

const scout = asHandle("scout");
const key = asKeyId("k1");
const T0 = Date.UTC(2026, 2, 1);
/** The most in memory: those of one lane, and those that were made since the last fold. */
const MOST = 512 + 4_096;
const MANY = { perHour: 1_000_000, perDay: 1_000_000 };

async function lab() {
  const database = openDatabase(MEMORY);
  onTestFinished(() => database.close());
  let differences: () => readonly string[] = () => ["not opened"];
  let present: Present | undefined;
  let now = T0;
  const open = async (): Promise<Store> => {
    const store = openSqliteStore({
      path: MEMORY,
      database,
      clock: systemClock(),
      random: seededRandom(1),
      onOpened: (found) => void (differences = found),
      observe: (_fact, after) => void (present = after),
    });
    await store.recover(now, 0);
    await store.registerKey(scout, key, { limits: { ...tierLimits("pro", "b"), ...MANY }, floors: DEFAULT_FLOORS }, now);
    return store;
  };
  let store = await open();
  let made = 0;
  const decideOn = async (): Promise<void> => {
    const n = made++;
    const id = asIntentId(`i${n}`);
    const about = { specialist: scout, now, caps: DEFAULT_BRAKES, brake: () => undefined, report: () => undefined };
    const what = { operation: "posts.create", input: { content: `post number ${n}` }, effect: "reconciled", lane: "act", hops: 0 } as const;
    const event = { specialist: scout, id: eventId("order", id), kind: "order", payload: {}, via: "runtime", hops: 0 } as const;
    await store.recordRun(event, { ...about, intents: [{ id, ordinal: 0, conflictKey: id, ...what }] });
  };
  return {
    database,
    differences: () => differences(),
    inMemory: () => present?.intents.size ?? 0,
    store: () => store,
    async decide(count: number) {
      for (let left = count; left > 0; left -= 500) await Promise.all(Array.from({ length: Math.min(500, left) }, decideOn));
    },
    /** As after a death, with everything committed. */
    async reopen() {
      await new Promise(setImmediate);
      store = await open();
    },
    fold: () => store.intents({ limit: 1 }),
    /** Sends what is due, a batch at a time, and returns the numbers in the order of sending. */
    async send(count: number): Promise<readonly number[]> {
      const sent: number[] = [];
      while (sent.length < count) {
        const due = store.dueIntents(scout, LANES, now, Math.min(32, count - sent.length));
        if (due.length === 0) break;
        for (const { seq, id, conflictKey, operation } of due) {
          now += 10;
          const request = {
            specialist: scout,
            key,
            operation,
            effect: "reconciled",
            lane: "act",
            price: { kind: "free" },
            intent: id,
          } as const;
          const about = { now, deadlineAt: now + SECOND, holdExpiresAt: now + HOUR, known: { may: undefined, review: false, caps: [] } };
          const admission = await store.admit({ request, intent: { seq, id, conflictKey }, ...about }, decide);
          if (admission.kind !== "admitted") throw new Error(`not admitted: ${JSON.stringify(admission)}`);
          const { attempt } = admission;
          const end = {
            key,
            attempt: attempt.seq,
            lane: "act",
            cost: 1,
            admittedAt: now,
            deadlineAt: attempt.deadlineAt,
            ending: "answered",
          } as const;
          const intent = { seq, id, change: { state: "confirmed", createdRef: `ref ${id}` } } as const;
          store.complete({ attempt, end, outcome: "confirmed", now, intent, events: [], watches: [] });
          sent.push(Number(id.slice(1)));
        }
      }
      return sent;
    },
  };
}

const numbers = (from: number, to: number): readonly number[] => Array.from({ length: to - from }, (_, i) => from + i);

test("100,000 waiting intents take a bounded part of memory, and the oldest leave first, also after a restart", async () => {
  const { decide: make, send, reopen, inMemory, fold, store } = await lab();
  for (let i = 0; i < 20; i++) {
    await make(5_000);
    expect(inMemory()).toBeLessThanOrEqual(MOST + 5_000);
  }
  await fold();
  expect(inMemory()).toBeLessThanOrEqual(512);
  expect(await send(1_000)).toEqual(numbers(0, 1_000));
  await make(10);
  expect(inMemory()).toBeLessThanOrEqual(MOST);
  await reopen();
  expect(await send(1_000)).toEqual(numbers(1_000, 2_000));
  expect(inMemory()).toBeLessThanOrEqual(MOST);
  const overview = (await store().overview(T0, scout)).get(scout);
  expect(overview?.counts.find(({ state }) => state === "ready")?.count).toBe(98_010);
  expect((overview?.held ?? []).reduce((sum, { count }) => sum + count, 0)).toBe(98_010);
});

test("waiting intents all leave, each once and in order, over restarts, new ones, and a person who cancels some", async () => {
  const { decide: make, send, reopen, fold, store, differences } = await lab();
  await make(3_000);
  const sent = [...(await send(100))];
  await fold();
  const cancelled = [700, 1_500, 2_999];
  for (const n of cancelled) {
    const intent = await store().findIntent(asIntentId(`i${n}`));
    const change = { state: "refused", code: "not_allowed", message: "no longer" } as const;
    expect(await store().moveIntent({ seq: intent?.seq ?? 0, by: "outbox", change, now: T0 })).toBe(true);
  }
  expect(differences()).toEqual([]);
  for (const count of [500, 1_000, 40, 900]) {
    sent.push(...(await send(count)));
    await make(25);
    expect(differences()).toEqual([]);
    await reopen();
    expect(differences()).toEqual([]);
  }
  sent.push(...(await send(10_000)));
  expect(sent).toEqual(numbers(0, 3_100).filter((n) => !cancelled.includes(n)));
  expect(store().nextDue(scout, LANES)).toBeUndefined();
});

test("a restored copy puts every waiting intent in doubt, also those that are only rows", async () => {
  const { decide: make, reopen, fold, store, database } = await lab();
  await make(1_500);
  await fold();
  database.db.prepare("INSERT INTO meta (name, value) VALUES ('copied_at', ?)").run(String(T0));
  await reopen();
  expect(store().dueIntents(scout, LANES, T0, 10)).toEqual([]);
  expect(await store().doubtfulIntents(scout, T0 + HOUR, 2_000)).toHaveLength(1_500);
});
