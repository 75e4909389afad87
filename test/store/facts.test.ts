/** The store of facts: memory and rows are the same thing, whatever is done and wherever it is cut off; and where they are not, it shows. */
import { describe, expect, onTestFinished, test } from "vitest";
import { eventId } from "../../src/contract/event-id.ts";
import { LANES } from "../../src/contract/operations.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { asHandle, asIntentId, asKeyId } from "../../src/core/ids.ts";
import { seededRandom } from "../../src/core/random.ts";
import { DAY, SECOND } from "../../src/core/units.ts";
import { DEFAULT_FLOORS } from "../../src/limits/lanes.ts";
import type { DraftIntent } from "../../src/specialist/intent-draft.ts";
import { DEFAULT_BRAKES } from "../../src/specialist/specialist.ts";
import { MEMORY, openDatabase } from "../../src/store/sqlite/database.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";

const scout = asHandle("scout");
const key = asKeyId("k1");
const T0 = Date.UTC(2026, 2, 1, 12);

/** A store over one disk, which can be opened again as after a death. */
function lab() {
  const database = openDatabase(MEMORY);
  onTestFinished(() => database.close());
  const clock = virtualClock(T0);
  let differences: () => readonly string[] = () => ["not opened"];
  const open = (): Store =>
    openSqliteStore({ path: MEMORY, database, clock, random: seededRandom(1), onOpened: (found) => void (differences = found) });
  let n = 0;
  const arrive = async (store: Store): Promise<void> => {
    const id = eventId("post.created", `p${++n}`);
    const event = { specialist: scout, id, kind: "post.created", payload: { id: `p${n}` }, via: "poll", hops: 0 } as const;
    await store.putEvents({ events: [event] }, clock.now());
  };
  const draft = (change: Partial<DraftIntent> = {}): DraftIntent => ({
    id: asIntentId(`i${++n}`),
    ordinal: 0,
    operation: "posts.reply",
    target: `p${n}`,
    input: { content: "thanks" },
    effect: "reconciled",
    lane: "reply",
    hops: 0,
    conflictKey: `reply ${n}`,
    ...change,
  });
  const handle = async (store: Store, intents: readonly DraftIntent[], brake: () => undefined = () => undefined): Promise<void> => {
    const [event] = await clock.run(store.claimEvents(scout, clock.now(), 1));
    store.finishRun({
      seq: event?.seq ?? 0,
      specialist: scout,
      now: clock.now(),
      intents,
      caps: DEFAULT_BRAKES,
      brake,
      report: () => undefined,
    });
  };
  const send = async (store: Store) => {
    const [intent] = store.dueIntents(scout, LANES, clock.now(), 1);
    if (intent === undefined) throw new Error("nothing is due");
    const { operation, effect, lane, id, seq, conflictKey } = intent;
    const request = { specialist: scout, key, operation, effect, lane, price: { kind: "free" }, intent: id } as const;
    const admitting = store.admit(
      {
        request,
        intent: { seq, id, conflictKey },
        now: clock.now(),
        deadlineAt: clock.now() + 30 * SECOND,
        holdExpiresAt: Infinity,
        known: { may: undefined, review: false },
      },
      () => ({ kind: "admit", charge: { lane, cost: 1 }, hold: undefined }),
    );
    const admission = await clock.run(admitting);
    if (admission.kind !== "admitted") throw new Error(admission.kind);
    const { attempt } = admission;
    const end = { key, attempt: attempt.seq, lane, cost: 1, admittedAt: attempt.startedAt, deadlineAt: attempt.deadlineAt } as const;
    const answer = (createdRef: string): void =>
      store.complete({
        attempt,
        end: { ...end, ending: "answered" },
        outcome: "confirmed",
        status: 201,
        now: clock.now(),
        intent: { seq, id, change: { state: "confirmed", createdRef } },
        events: [],
        watches: [],
      });
    return { intent, answer };
  };
  const register = (store: Store): Promise<void> =>
    clock.run(store.registerKey(scout, key, { limits: { perHour: 60, perDay: 600 }, floors: DEFAULT_FLOORS }, clock.now()));
  return { database, clock, open, differences: () => differences(), arrive, draft, handle, send, register };
}

describe("memory and rows", () => {
  test("are the same after each step of an event's life, and after a start at each of them", async () => {
    const { open, clock, differences, arrive, draft, handle, send, register } = lab();
    let store = open();
    await register(store);
    const same = async (): Promise<void> => {
      expect(differences()).toEqual([]);
      await clock.run(store.lift("halt", "nobody")); // commits what there is
      store = open(); // as after a death at this very place
      expect(differences()).toEqual([]);
    };
    await arrive(store);
    expect(differences()).toEqual([]);
    await handle(store, [draft(), draft({ ordinal: 1 })]);
    await same();
    const { answer } = await send(store);
    expect(differences()).toEqual([]);
    answer("r1");
    await same();
    expect((await store.quotaUse(key, clock.now()))?.hour.used).toBe(1);
    const [left] = store.dueIntents(scout, LANES, clock.now(), 5);
    await store.moveIntent({
      seq: left?.seq ?? 0,
      by: "outbox",
      change: { state: "parked", code: "same_words", message: "not" },
      now: T0,
    });
    await same();
    await store.moveIntent({ seq: left?.seq ?? 0, by: "retry", change: { state: "ready", nextAt: T0 }, now: T0 });
    await same();
    expect((await store.intents({ limit: 9 })).map(({ state }) => state)).toEqual(["ready", "confirmed"]);
    await same();
  });

  test("an event is handled once, though it arrives again after its rows were written and the process ended", async () => {
    const { open, clock, arrive, handle, database } = lab();
    let store = open();
    await arrive(store);
    await handle(store, []);
    await clock.run(store.prune(T0, { eventsMs: 1, intentsMs: 1, requestsMs: 1 })); // writes rows; all is too young to go
    store = open();
    const again = {
      specialist: scout,
      id: eventId("post.created", "p1"),
      kind: "post.created",
      payload: {},
      via: "poll",
      hops: 0,
    } as const;
    expect(await store.putEvents({ events: [again] }, T0)).toEqual({ fresh: [], known: 1 });
    expect(await clock.run(store.claimEvents(scout, T0, 5))).toEqual([]);
    expect(database.db.prepare("SELECT count(*) AS n FROM open").get()).toEqual({ n: 0 });
  });

  test("an event that may have ended the process is counted, though a command opened and closed the store in between", async () => {
    const { open, clock, arrive } = lab();
    const store = open();
    await arrive(store);
    await clock.run(store.claimEvents(scout, T0, 1));
    await clock.run(open().close()); // after a death
    expect(await clock.run(open().recover(T0, SECOND))).toMatchObject({ events: 1 });
  });

  test("an event that is handled long after it came stays known as long as any other", async () => {
    const { open, clock, arrive, handle } = lab();
    const store = open();
    const again = {
      specialist: scout,
      id: eventId("post.created", "p1"),
      kind: "post.created",
      payload: {},
      via: "poll",
      hops: 0,
    } as const;
    const arrives = async () => (await store.putEvents({ events: [again] }, clock.now())).fresh.length;
    const prune = () => clock.run(store.prune(clock.now(), { eventsMs: 40 * DAY, intentsMs: 40 * DAY, requestsMs: 40 * DAY }));
    await arrive(store);
    await clock.advance(60 * DAY);
    await handle(store, []);
    await prune();
    expect(await arrives()).toBe(0);
    await clock.advance(39 * DAY);
    await prune();
    expect(await arrives()).toBe(0);
    await clock.advance(2 * DAY);
    await prune();
    expect(await arrives()).toBe(1);
  });

  test("an event from before a clock was set back leaves at its time, though younger ones were looked at", async () => {
    const { open, clock, arrive, handle, database } = lab();
    const store = open();
    const prune = () => clock.run(store.prune(clock.now(), { eventsMs: 2 * DAY, intentsMs: 2 * DAY, requestsMs: 2 * DAY }));
    const kept = (): unknown => database.db.prepare("SELECT count(*) AS n FROM main.event").get()?.["n"];
    clock.jump(30 * DAY);
    await arrive(store);
    await handle(store, []);
    await prune();
    clock.jump(-30 * DAY);
    await arrive(store);
    await handle(store, []);
    await prune();
    expect(kept()).toBe(2);
    await clock.advance(3 * DAY);
    await prune();
    expect(kept()).toBe(1);
  });

  test("are the same where a decision throws before anything was done", async () => {
    const { open, differences, arrive, draft, handle, clock, register } = lab();
    const store = open();
    await register(store);
    await arrive(store);
    const angry = (): undefined => {
      throw new Error("a rule that throws");
    };
    await expect(handle(store, [draft({ textHash: "h" })], angry)).rejects.toThrow("a rule that throws");
    expect(differences()).toEqual([]);
    const event = (await store.findEvents(eventId("post.created", "p1"), 1))[0];
    expect([event?.state, store.dueIntents(scout, LANES, clock.now(), 5)]).toEqual(["running", []]);
  });
});

describe("if memory and rows differ, it shows", () => {
  /** An event that was given back, and a request without an answer. */
  async function busy() {
    const made = lab();
    const { open, clock, arrive, draft, handle, send, register } = made;
    const store = open();
    await register(store);
    await arrive(store);
    await handle(store, [draft()]);
    const { answer } = await send(store);
    await arrive(store);
    const [event] = await clock.run(store.claimEvents(scout, clock.now(), 1));
    store.retryEvent(event?.seq ?? 0, { notBefore: T0 + SECOND, failed: true, note: "later" });
    expect(made.differences()).toEqual([]);
    return { ...made, store, answer };
  }

  test.each(["event", "run", "attempt", "change"])("a fact of %s that was not written", async (table) => {
    const { database, differences } = await busy();
    database.db.exec(`DELETE FROM ${table} WHERE seq = (SELECT max(seq) FROM ${table})`);
    expect(differences()).not.toEqual([]);
  });

  test("an answer that was not written: its charge is missed as well", async () => {
    const { database, differences, answer } = await busy();
    answer("r1");
    expect(differences()).toEqual([]);
    database.db.exec("DELETE FROM answer");
    expect(differences().some((line) => line.startsWith("only in memory: cell"))).toBe(true);
  });

  test("a fact that was written twice", async () => {
    const { database, differences } = await busy();
    database.db.exec("INSERT INTO change SELECT seq + 1000, kind, subject, at, change, failed_at FROM change ORDER BY seq DESC LIMIT 1");
    expect(differences()).not.toEqual([]);
  });

  test("a row written at a fold that is not what memory has", async () => {
    const { database, differences, store } = await busy();
    await store.intents({ limit: 1 }); // folds
    expect(differences()).toEqual([]);
    database.db.exec("UPDATE intent SET next_at = 5");
    expect(differences()).not.toEqual([]);
  });
});

describe("memory has bounds", () => {
  test("payloads of a megabyte are read again when their turn comes", async () => {
    const { open, clock, differences } = lab();
    const store = open();
    const content = "x".repeat(1_024 * 1_024);
    const heap = (): number => {
      globalThis.gc?.();
      return process.memoryUsage().heapUsed;
    };
    const before = heap();
    for (let n = 0; n < 100; n++) {
      const event = { specialist: scout, id: eventId("post.created", `big${n}`), kind: "post.created", via: "poll", hops: 0 } as const;
      await clock.run(store.putEvents({ events: [{ ...event, payload: { n, content: content + n } }] }, clock.now()));
    }
    expect(heap() - before).toBeLessThan(64 * 1_024 * 1_024);
    const [first] = await clock.run(store.claimEvents(scout, clock.now(), 1));
    expect(first?.payload).toEqual({ n: 0, content: `${content}0` });
    expect(differences()).toEqual([]);
  });
});

test("stored rows can still be read after the disk has failed and nothing more is written", async () => {
  const database = openDatabase(MEMORY);
  onTestFinished(() => database.close());
  const clock = virtualClock(T0);
  const sync = (): Promise<void> => Promise.reject(new Error("EIO"));
  const store = openSqliteStore({ path: MEMORY, database: { ...database, sync }, clock, random: seededRandom(1) });
  await expect(clock.run(store.stop("pause", "scout", "a disk that fails", T0))).rejects.toMatchObject({ code: "store_lost" });
  expect(await store.intents({ limit: 1 })).toEqual([]);
  expect(await store.parkedEvents(undefined, 1)).toEqual([]);
  expect(await store.findEvents("nothing", 1)).toEqual([]);
});
