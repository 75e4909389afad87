/** The port of usage by hour: each request, delay and payment counts once, in its hour, whatever process added it. */
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { asEventId, asHandle, asIntentId } from "../../src/core/ids.ts";
import { seededRandom } from "../../src/core/random.ts";
import { credits, DAY, HOUR, MINUTE } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { DEFAULT_RETENTION } from "../../src/runtime/retention.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";
import { HOURS_KEPT_MS } from "../../src/store/usage-hours.ts";
import { admit, endOf, withKey } from "../harness/admitted.ts";
import { decide } from "../harness/builders.ts";
import { desk, SCOUT, type Desk } from "../harness/guardian-over-store.ts";

const hours = ({ store, on }: Desk, specialist = SCOUT) => on(store.reads.hours({ specialist, since: 0 }));

/** A paid action in this hour, and a read in the next. */
async function busy(at: Desk): Promise<void> {
  const { clock, store, on } = at;
  await withKey(at);
  const [intent] = await on(decide(store, clock.now(), [{ id: asIntentId("a") }]));
  if (intent === undefined) throw new Error("it is stored");
  const admission = await admit(at, intent);
  const paid = { money: credits(4), caps: [] };
  store.complete(endOf(at, admission, { intent: { seq: intent.seq, id: intent.id, change: { state: "confirmed" } }, paid }));
  await clock.advance(HOUR);
  store.complete(endOf(at, await admit(at)));
}

test("requests and money count in their hours, before and after they are rolled up, and together for all", async () => {
  const at = desk();
  const { clock, store, on } = at;
  const from = clock.now();
  await busy(at);
  const none = { count: 0, maxMs: 0 };
  const expected = [
    { at: from, requests: 1, late: none, money: { credits: credits(4).micros } },
    { at: from + HOUR, requests: 1, late: none, money: {} },
  ];
  expect(await hours(at)).toEqual(expected);
  await on(store.prune(clock.now(), DEFAULT_RETENTION));
  expect(await hours(at)).toEqual(expected);
  expect(await on(store.reads.hours({ since: from + HOUR }))).toEqual(expected.slice(1));
  expect(await hours(at, asHandle("quill"))).toEqual([]);
});

test("an event is late by its schedule's time, or by the time at which it came", async () => {
  const at = desk();
  const { clock, store, on } = at;
  const due = clock.now();
  await clock.advance(MINUTE / 2);
  await at.event("schedule:look:1", { kind: "schedule:look", payload: { scheduledAt: due } });
  await at.event("e1");
  await clock.advance(MINUTE / 2);
  const caps = { repliesPerThread: 1, repliesPerAuthorPerHour: 1, repliesPerHour: 1, sameTextWithinMs: 0, hops: 1 };
  for (const { seq } of store.claimEvents(SCOUT, clock.now(), 5))
    store.finishRun({ seq, specialist: SCOUT, now: clock.now(), intents: [], caps, brake: () => undefined, report: () => undefined });
  const late = [{ late: { count: 1, maxMs: MINUTE } }];
  expect(await hours(at)).toMatchObject(late);
  await on(store.prune(clock.now(), DEFAULT_RETENTION));
  expect(await hours(at)).toMatchObject(late);
});

test("sums outlive their facts, for ninety days", async () => {
  const at = desk();
  const { clock, store, on } = at;
  await busy(at);
  const before = await hours(at);
  await clock.advance(60 * DAY);
  await on(store.prune(clock.now(), DEFAULT_RETENTION));
  expect((await on(store.reads.timeline({ specialist: SCOUT, limit: 5 }))).total).toBe(0);
  expect(await hours(at)).toEqual(before);
  await clock.advance(HOURS_KEPT_MS - 60 * DAY + HOUR);
  for (let n = 0; n < 3; n++) await on(store.prune(clock.now(), DEFAULT_RETENTION));
  expect(await hours(at)).toEqual([]);
});

const FACTS = 2_500;

test("a roll-up that a crash cut off is made once, and no part of it twice", async () => {
  const folder = mkdtempSync(join(tmpdir(), "retinue-hours-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const clock = virtualClock(Date.UTC(2026, 10, 21));
  const open = (name: string): Store => openSqliteStore({ path: join(folder, name), clock, random: seededRandom(1), blocking: true });
  const store = open("store.sqlite");
  const event = (n: number) =>
    ({ specialist: SCOUT, id: asEventId(`post.created:${n}`), kind: "post.created", payload: {}, via: "poll", hops: 0 }) as const;
  const shown = (of: Store) =>
    clock.run(Promise.all([of.reads.timeline({ specialist: SCOUT, limit: 1_000 }), of.reads.hours({ since: 0 })]));
  const caps = { repliesPerThread: 1, repliesPerAuthorPerHour: 1, repliesPerHour: 1, sameTextWithinMs: 0, hops: 1 };
  for (let n = 0; n < FACTS / 2; n++) {
    await clock.run(store.putEvents({ events: [event(n)] }, clock.now()));
    for (const { seq } of store.claimEvents(SCOUT, clock.now(), 1))
      store.finishRun({
        seq,
        specialist: SCOUT,
        now: clock.now() + 2 * MINUTE,
        intents: [],
        caps,
        brake: () => undefined,
        report: () => undefined,
      });
  }
  await clock.settle();
  const before = await shown(store);
  expect(before[1]).toMatchObject([{ late: { count: FACTS / 2, maxMs: 2 * MINUTE } }]);
  /** The files as a process leaves them that dies now. */
  const crashed = async (name: string): Promise<Store> => {
    for (const end of ["", "-wal"]) copyFileSync(join(folder, `store.sqlite${end}`), join(folder, `${name}${end}`));
    return open(name);
  };
  const rolling = store.rollUp(); // not committed yet
  const cutOff = await crashed("cut-off.sqlite");
  expect(await shown(cutOff)).toEqual(before);
  expect(await clock.run(rolling)).toBe(true);
  const half = await crashed("half.sqlite");
  expect(await shown(half)).toEqual(before);
  for (const one of [cutOff, half, store]) {
    while (await clock.run(one.rollUp())) continue;
    await clock.run(one.prune(clock.now(), DEFAULT_RETENTION));
    expect(await shown(one)).toEqual(before);
    await clock.run(one.close());
  }
});
