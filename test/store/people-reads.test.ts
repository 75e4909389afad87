/** The reads for people: in a thread they see what they see in the process, and its end is an error of the read alone. */
import { existsSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { asEventId, asHandle, asIntentId } from "../../src/core/ids.ts";
import { seededRandom } from "../../src/core/random.ts";
import { DAY, MINUTE } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { failureNote } from "../../src/store/failure.ts";
import type { PeopleReads } from "../../src/store/people-reads.ts";
import { openDatabase } from "../../src/store/sqlite/database.ts";
import { Reader } from "../../src/store/sqlite/reader.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";
import { decide } from "../harness/builders.ts";
import { propose } from "../harness/proposed.ts";

const SCOUT = asHandle("scout");
const clock = systemClock();

function storeFile(): string {
  const folder = mkdtempSync(join(tmpdir(), "retinue-reads-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  return join(folder, "store.sqlite");
}

function opened(): Store {
  const store = openSqliteStore({ path: storeFile(), clock, random: seededRandom(1), readsBeside: true });
  onTestFinished(() => store.close());
  return store;
}

const event = (id: string) =>
  ({ specialist: SCOUT, id: asEventId(`post.created:${id}`), kind: "post.created", payload: { id }, via: "poll", hops: 0 }) as const;

/** Events in every state, actions, an approval, an order: something for each read to find. */
async function filled(store: Store): Promise<void> {
  const now = clock.now();
  await decide(store, now, [
    { id: asIntentId("a"), target: "p1" },
    { id: asIntentId("b"), operation: "jobs.apply", conflictKey: "b" },
  ]);
  await propose(store, { id: "c", input: { content: "may I?" }, now });
  await store.putEvents({ events: ["parked", "failed", "running"].map(event) }, now);
  const [parked, failed] = store.claimEvents(SCOUT, now, 10);
  store.parkEvent(parked?.seq ?? 0, now, "no room");
  const note = failureNote({ at: now, code: "handler_threw", message: "no model", pattern: "no model", tries: 1 });
  store.retryEvent(failed?.seq ?? 0, { notBefore: now + MINUTE, failed: true, note });
  const watch = { specialist: SCOUT, kind: "job", object: "j1", state: "applied", data: { title: "A poem" }, dueAt: now } as const;
  await store.putEvents({ events: [], watches: [watch] }, now);
  await store.noteOrder({ at: now, who: "mina", from: "command", what: "halt" });
}

const READS: readonly ((reads: PeopleReads) => Promise<unknown>)[] = [
  (reads) => reads.handles(),
  (reads) => reads.jobBoard(SCOUT),
  (reads) => reads.findEvents("post.created:running", 5),
  (reads) => reads.eventsAbout(["running"], ["post.created"], 5),
  (reads) => reads.eventsOf(SCOUT, 5),
  (reads) => reads.eventOf({ eventSeq: 1 }),
  (reads) => reads.failing(undefined, 5),
  (reads) => reads.failedEvents({ limit: 5 }),
  (reads) => reads.intents({ limit: 5, search: ["post"] }),
  (reads) => reads.logTotal({}),
  (reads) => reads.searchEnd({}),
  (reads) => reads.keptDeliveries({ limit: 5 }),
  (reads) => reads.keptDelivery(1),
  (reads) => reads.overview(clock.now()),
  (reads) => reads.waitingIntents(5),
  (reads) => reads.backlog(),
  (reads) => reads.money(0),
  (reads) => reads.timeline({ specialist: SCOUT, limit: 5 }),
  (reads) => reads.hours({ since: clock.now() - DAY }),
  (reads) => reads.openApprovals(5, 0),
  (reads) => reads.parkedEvents(undefined, 5),
  (reads) => reads.parkedEventCount(),
  (reads) => reads.orders({ limit: 5 }),
];

test("each read finds in the thread what it finds in the process", async () => {
  const store = opened();
  await filled(store);
  for (const read of READS) expect(await read(store.reads), read.toString()).toEqual(await read(store));
  expect(await store.reads.findEvents("post.created:running", 1)).toMatchObject([{ state: "running" }]);
  expect((await store.reads.overview(clock.now())).get(SCOUT)).toMatchObject({ awaiting: { count: 1 }, held: [{ count: 1 }, {}, {}] });
});

test("a read sees every write that was answered before it, and those of the same turn", async () => {
  const store = opened();
  for (let n = 0; n < 50; n++) {
    await store.putEvents({ events: [event(`${n}`)] }, clock.now());
    expect((await store.reads.timeline({ specialist: SCOUT, limit: 1 })).total).toBe(n + 1);
  }
  const writing = store.noteOrder({ at: 1, who: "mina", from: "command", what: "halt" });
  expect((await store.reads.orders({ limit: 1 })).total).toBe(1);
  await writing;
});

test("the process goes on while a read runs", async () => {
  const store = opened();
  await store.putEvents({ events: Array.from({ length: 20_000 }, (_, n) => event(`${n}`)) }, clock.now());
  await store.reads.handles(); // the thread is there, and the rows are committed
  const turnsOf = async (read: Promise<unknown>): Promise<number> => {
    let turns = 0;
    const done = read.then(() => "read");
    for (let first; first !== "read"; turns++)
      first = await Promise.race([done, new Promise<string>((resolve) => void setImmediate(resolve, "turn"))]);
    return turns;
  };
  expect(await turnsOf(store.backlog())).toBe(1);
  // On a busy machine one read may leave it few turns.
  let most = 0;
  for (let i = 0; i < 20 && most <= 20; i++) most = Math.max(most, await turnsOf(store.reads.backlog()));
  expect(most).toBeGreaterThan(20);
});

test("a store in memory, and one that nobody gave a thread, read in the process", async () => {
  for (const path of [":memory:", storeFile()]) {
    const store = openSqliteStore({ path, clock, random: seededRandom(1), readsBeside: path === ":memory:" });
    await filled(store);
    expect(await store.reads.parkedEventCount()).toBe(1);
    await store.close();
  }
});

function reader(path: string) {
  const time = virtualClock();
  const made = new Reader({ path, clock: time });
  onTestFinished(() => made.close());
  return { time, reader: made, read: () => made.read("parkedEventCount", []) };
}

test("the thread starts with the first read, ends after a minute without one, and starts again", async () => {
  const path = storeFile();
  openDatabase(path).close();
  const { time, reader: one, read } = reader(path);
  expect(one.isOpen).toBe(false);
  expect(await read()).toBe(0);
  await time.advance(MINUTE / 2);
  expect(await read()).toBe(0);
  await time.advance(MINUTE / 2);
  expect(one.isOpen).toBe(true);
  await time.advance(MINUTE / 2);
  expect([one.isOpen, time.pending()]).toEqual([false, 0]);
  expect(await read()).toBe(0);
});

test("the end of the thread is told to each read that waits, and the next read starts another", async () => {
  const path = storeFile();
  const { read } = reader(path);
  const failed = { code: "read_failed", message: expect.stringContaining("unable to open") as string };
  expect(existsSync(path)).toBe(false);
  const both = await Promise.allSettled([read(), read()]);
  expect(both).toMatchObject([{ reason: failed }, { reason: failed }]);
  openDatabase(path).close();
  expect(await read()).toBe(0);
});

test("a read that takes longer than a minute fails, and those behind it", async () => {
  const path = storeFile();
  openDatabase(path).close();
  const { time, reader: one, read } = reader(path);
  const reads = Promise.allSettled([read(), read()]); // the thread is not even started within this turn
  const passed = time.advance(MINUTE);
  const late = { status: "rejected", reason: { code: "read_failed", message: expect.stringContaining("minute") as string } };
  expect(await reads).toMatchObject([late, late]);
  await passed;
  expect(one.isOpen).toBe(false);
});

test("reads beyond the bound are refused, and a closed store has none that wait", async () => {
  const path = storeFile();
  openDatabase(path).close();
  const { reader: one, read } = reader(path);
  const reads = Array.from({ length: 257 }, read);
  await expect(reads.at(-1)).rejects.toMatchObject({ code: "read_failed", message: expect.stringContaining("256") as string });
  const rest = Promise.allSettled(reads.slice(0, 256));
  await one.close();
  expect((await rest).every(({ status }) => status === "rejected")).toBe(true);
});

test("a read after the store was closed is refused, and keeps no thread and no timer", async () => {
  const path = storeFile();
  openDatabase(path).close();
  const { time, reader: one, read } = reader(path);
  expect(await read()).toBe(0);
  await one.close();
  await expect(read()).rejects.toMatchObject({ code: "read_failed", message: expect.stringContaining("closed") as string });
  expect([one.isOpen, time.pending()]).toEqual([false, 0]);
});

test("an answer that comes while the store closes sets no timer", async () => {
  const path = storeFile();
  openDatabase(path).close();
  const { time, reader: one, read } = reader(path);
  expect(await read()).toBe(0);
  const late = Promise.allSettled([read()]);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 100); // the thread answers, and nobody hears it yet
  await one.close();
  expect(await late).toMatchObject([{ status: "rejected" }]);
  expect(time.pending()).toBe(0);
});

test("a store that can no longer be written still answers with what is on disk", async () => {
  const store = opened();
  await filled(store);
  expect(await store.reads.parkedEventCount()).toBe(1);
  const unwritable = { ...event("lost"), kind: Symbol("no text") as never };
  await expect(store.putEvents({ events: [unwritable] }, 1)).rejects.toMatchObject({ code: "store_lost" });
  expect(await store.reads.parkedEventCount()).toBe(1);
});
