/** A backlog of any length takes a bounded part of memory, is handled in order, and survives the end of a process anywhere. */
import { expect, onTestFinished, test } from "vitest";
import { eventId } from "../../src/contract/event-id.ts";
import { asHandle } from "../../src/core/ids.ts";
import { seededRandom } from "../../src/core/random.ts";
import { HOUR } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import type { Present } from "../../src/live/present.ts";
import { DEFAULT_BRAKES } from "../../src/specialist/specialist.ts";
import { MEMORY, openDatabase } from "../../src/store/sqlite/database.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";

const scout = asHandle("scout");
const BACKLOG = 3_000;
/** The most events of one specialist in memory, unless they wait for a time. */
const MOST = 1_000;

function lab() {
  const database = openDatabase(MEMORY);
  onTestFinished(() => database.close());
  const clock = virtualClock(Date.UTC(2026, 2, 1));
  let differences: () => readonly string[] = () => ["not opened"];
  let present: Present | undefined;
  const open = () =>
    openSqliteStore({
      path: MEMORY,
      database,
      clock,
      random: seededRandom(1),
      onOpened: (found) => void (differences = found),
      observe: (_fact, after) => void (present = after),
    });
  let store = open();
  let n = 0;
  return {
    clock,
    differences: () => differences(),
    inMemory: () => present?.events.size ?? 0,
    /** As after a death, with everything committed. */
    async reopen() {
      await clock.advance(1);
      store = open();
    },
    fold: () => clock.run(store.intents({ limit: 1 })),
    async arrive(count: number) {
      const event = () => {
        const id = String(n++);
        return { specialist: scout, id: eventId("post.created", id), kind: "post.created", payload: { id }, via: "poll", hops: 0 } as const;
      };
      await store.putEvents({ events: Array.from({ length: count }, event) }, clock.now());
    },
    claim: () => clock.run(store.claimEvents(scout, clock.now(), 16)),
    finish: (seq: number) =>
      store.finishRun({
        seq,
        specialist: scout,
        now: clock.now(),
        intents: [],
        caps: DEFAULT_BRAKES,
        brake: () => undefined,
        report: () => undefined,
      }),
    delay: (seq: number) => store.retryEvent(seq, { notBefore: clock.now() + HOUR, failed: true, note: "not now" }),
    isDue: async () => store.dueWork(scout, [], clock.now()).includes("events"),
    room: () => store.hasRoomForEvents(scout),
  };
}

test("it is handled in order, also over restarts and when more arrives meanwhile", async () => {
  const { arrive, claim, finish, inMemory, differences, reopen, fold, isDue, room } = lab();
  await arrive(BACKLOG);
  expect(inMemory()).toBe(MOST);
  expect(await room()).toBe(false);
  const handled: string[] = [];
  const drift: string[] = [];
  for (let round = 0; await isDue(); round++) {
    for (const { seq, payload } of await claim()) {
      handled.push((payload as { readonly id: string }).id);
      finish(seq);
    }
    if (round % 20 === 3) await arrive(10);
    if (round % 20 === 9) await fold();
    if (round % 20 === 15) {
      drift.push(...differences());
      await reopen();
      drift.push(...differences());
    }
    expect(inMemory()).toBeLessThanOrEqual(MOST);
  }
  expect(drift).toEqual([]);
  expect(handled.length).toBeGreaterThan(BACKLOG + 50);
  expect(handled).toEqual(Array.from({ length: handled.length }, (_, n) => String(n)));
});

test("events that wait for a time do not keep those behind them from being handled", async () => {
  const { arrive, claim, delay, finish, clock, isDue, differences, reopen } = lab();
  await arrive(BACKLOG);
  let delayed = 0;
  while (delayed < MOST + 200)
    for (const { seq } of await claim()) {
      delay(seq);
      delayed++;
    }
  expect(differences()).toEqual([]);
  await reopen();
  let handled = 0;
  while (await isDue())
    for (const { seq } of await claim()) {
      finish(seq);
      handled++;
    }
  expect(handled).toBe(BACKLOG - delayed);
  await clock.advance(HOUR);
  while (await isDue())
    for (const { seq } of await claim()) {
      finish(seq);
      handled++;
    }
  expect(handled).toBe(BACKLOG);
  expect(differences()).toEqual([]);
});
