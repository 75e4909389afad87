/** What a person decides of actions nobody could settle, and of what is parked: real rows, no network. */
import { foreignCode, type ErrorCode } from "../../src/core/error-codes.ts";
import { describe, expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { asEventId, asHandle, asIntentId, asKeyId } from "../../src/core/ids.ts";
import { systemRandom } from "../../src/core/random.ts";
import { credits, DAY } from "../../src/core/units.ts";
import { decide } from "../../src/limits/decide.ts";
import { DEFAULT_FLOORS } from "../../src/limits/lanes.ts";
import { scopeOf } from "../../src/limits/spending.ts";
import type { Effect } from "../../src/contract/operations.ts";
import { createGuardian, type Guardian } from "../../src/guardian/guardian.ts";
import { DEFAULT_BRAKES } from "../../src/specialist/specialist.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";
import { spentBy } from "../harness/spent-by.ts";

const SCOUT = asHandle("scout");
const KEY = asKeyId("k1");

interface Desk {
  readonly store: Store;
  readonly guardian: Guardian;
  /** A paid action whose answer was lost with its process. */
  readonly inDoubt: (id: string, effect: Effect) => Promise<void>;
  /** The same, once it was given up to look for it. */
  readonly isParked: (id: string, effect: Effect, code: ErrorCode) => Promise<void>;
  readonly spent: () => Promise<{ readonly posted: number; readonly held: number }>;
}

async function desk(): Promise<Desk> {
  const clock = systemClock();
  const store = openSqliteStore({ path: ":memory:", clock, random: systemRandom() });
  onTestFinished(() => store.close());
  await store.registerKey(SCOUT, KEY, { limits: { perHour: 1_000, perDay: 10_000 }, floors: DEFAULT_FLOORS }, clock.now());
  const inDoubt = async (id: string, effect: Effect): Promise<void> => {
    const now = clock.now();
    const event = { specialist: SCOUT, id: asEventId(`event-${id}`), kind: "job.listed", payload: {}, via: "poll", hops: 0 } as const;
    const intent = {
      id: asIntentId(id),
      ordinal: 0,
      operation: "jobs.create",
      input: {},
      effect,
      lane: "act",
      conflictKey: id,
      hops: 0,
    } as const;
    const run = { specialist: SCOUT, now, intents: [intent], caps: DEFAULT_BRAKES, brake: () => undefined, report: () => undefined };
    await store.recordRun(event, run);
    const row = await store.findIntent(id);
    if (row === undefined) throw new Error("the intent is not there");
    const admission = await store.admit(
      {
        request: {
          specialist: SCOUT,
          key: KEY,
          operation: "jobs.create",
          effect,
          lane: "act",
          price: { kind: "priced", worst: credits(5) },
        },
        intent: { seq: row.seq, id: row.id, conflictKey: id },
        now,
        deadlineAt: now + 1_000,
        holdExpiresAt: now + 7 * DAY,
        known: { may: ["jobs.create"], review: false, caps: [{ scope: scopeOf(SCOUT), window: "day", money: credits(50) }] },
      },
      decide,
    );
    expect(admission.kind).toBe("admitted");
    await store.recover(clock.now(), 0);
    expect((await store.findIntent(id))?.state).toBe("in_doubt");
  };
  const isParked = async (id: string, effect: Effect, code: ErrorCode): Promise<void> => {
    await inDoubt(id, effect);
    const row = await store.findIntent(id);
    const change = { state: "parked", code, message: "nobody knows" } as const;
    await store.moveIntent({ seq: row?.seq ?? 0, by: "read-back", change, now: clock.now() });
  };
  const spent = async () => {
    const [row] = await spentBy(store, SCOUT, clock.now());
    return { posted: row?.postedMicros ?? 0, held: row?.heldMicros ?? 0 };
  };
  return { store, guardian: createGuardian({ store, clock, members: async () => [] }), inDoubt, isParked, spent };
}

const FIVE = credits(5).micros;

describe("an action in doubt", () => {
  test("that happened is confirmed, with the id of what came to be, and its money is spent", async () => {
    const { store, guardian, inDoubt, spent } = await desk();
    await inDoubt("i1", "at-most-once");
    expect(await spent()).toEqual({ posted: 0, held: FIVE });
    await guardian.settle({ id: "i1", verdict: "happened", created: "job_9" });
    expect(await store.findIntent("i1")).toMatchObject({ state: "confirmed", createdRef: "job_9" });
    expect(await guardian.why({ id: "i1" })).toMatchObject({ state: "confirmed", created: "job_9" });
    expect(await spent()).toEqual({ posted: FIVE, held: 0 });
  });

  test("that did not happen is sent again, on the money held for it", async () => {
    const { store, guardian, inDoubt, spent } = await desk();
    await inDoubt("i1", "at-most-once");
    await guardian.settle({ id: "i1", verdict: "did-not" });
    expect(await store.findIntent("i1")).toMatchObject({ state: "ready", everUnknown: false });
    expect(await spent()).toEqual({ posted: 0, held: FIVE });
  });

  test("that is given up is never sent again, and counts as spent, since it may have happened", async () => {
    const { store, guardian, inDoubt, spent } = await desk();
    await inDoubt("i1", "at-most-once");
    await guardian.settle({ id: "i1", verdict: "give-up" });
    expect(await store.findIntent("i1")).toMatchObject({ state: "cancelled", code: "given_up" });
    expect(await spent()).toEqual({ posted: FIVE, held: 0 });
  });

  test("that the network refuses in a word of its own is not told what ends a rule of that name", async () => {
    const { store, guardian, inDoubt } = await desk();
    await inDoubt("i1", "at-most-once");
    const row = await store.findIntent("i1");
    const change = { state: "refused", code: foreignCode("paused"), message: "this account is paused" } as const;
    await store.moveIntent({ seq: row?.seq ?? 0, by: "read-back", change, now: Date.now() });
    const why = await guardian.why({ id: "i1" });
    expect(why).toMatchObject({ state: "refused", reasons: [{ rule: "paused", message: "this account is paused" }] });
    expect(why.hint).toBeUndefined();
  });

  test("is decided once, and not by a retry", async () => {
    const { guardian, inDoubt } = await desk();
    await inDoubt("i1", "at-most-once");
    await expect(guardian.retry({ id: "i1" })).rejects.toMatchObject({ code: "may_have_happened" });
    await guardian.settle({ id: "i1", verdict: "happened" });
    await expect(guardian.settle({ id: "i1", verdict: "did-not" })).rejects.toMatchObject({ code: "not_in_doubt" });
    await expect(guardian.settle({ id: "i2", verdict: "did-not" })).rejects.toMatchObject({ code: "nothing_found" });
  });

  test.each([
    ["at-most-once", "absent_at_most_once"],
    ["reconciled", "absence_unprovable"],
    ["reconciled", "absent_unproven"],
    ["reconciled", "read_back_too_long"],
  ] as const)("that is %s and parked as %s is not sent again by retry, since it may have happened", async (effect, code) => {
    const { store, guardian, isParked } = await desk();
    await isParked("i1", effect, code);
    await expect(guardian.retry({ id: "i1" })).rejects.toMatchObject({ code: "may_have_happened" });
    expect((await store.findIntent("i1"))?.state).toBe("parked");
    expect((await guardian.why({ id: "i1" })).hint).toContain("check on the network, then: retinue settle i1");
  });

  test("that was looked for after every attempt, and was not there, is sent again by retry", async () => {
    const { store, guardian, isParked } = await desk();
    await isParked("i1", "reconciled", "attempts_spent");
    expect((await guardian.why({ id: "i1" })).hint).toContain("retinue retry i1");
    await guardian.retry({ id: "i1" });
    expect((await store.findIntent("i1"))?.state).toBe("ready");
  });
});

describe("a parked event", () => {
  test("is handled again once, and named by its own id", async () => {
    const { store, guardian } = await desk();
    const event = { specialist: SCOUT, id: asEventId("post.created:p1"), kind: "post.created", payload: {}, via: "poll", hops: 0 } as const;
    await store.putEvents({ events: [event] }, 1);
    const [claimed] = store.claimEvents(SCOUT, 2, 1);
    store.parkEvent(claimed?.seq ?? 0, 3, "it threw");
    expect(await guardian.why({ id: "post.created:p1" })).toMatchObject({
      about: "event",
      state: "parked",
      reasons: [{ message: expect.stringContaining("it threw") }],
    });
    expect((await guardian.status({})).parked).toMatchObject([{ id: "post.created:p1", handle: "scout" }]);
    await guardian.retry({ id: "post.created:p1" });
    expect((await store.findEvents("post.created:p1", 1))[0]?.state).toBe("ready");
    await expect(guardian.retry({ id: "post.created:p1" })).rejects.toMatchObject({ code: "nothing_parked" });
  });
});
