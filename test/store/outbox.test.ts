/** The port of the outbox: what is due, what may move where, and what an intent proves or resembles. */
import { describe, expect, test } from "vitest";
import { asEventId, asIntentId } from "../../src/core/ids.ts";
import { MINUTE } from "../../src/core/units.ts";
import type { Intent } from "../../src/outbox/intent.ts";
import { admit, endOf, KEY, withKey } from "../harness/admitted.ts";
import { decide } from "../harness/builders.ts";
import { desk, SCOUT, type Desk } from "../harness/guardian-over-store.ts";

const one = (intents: readonly Intent[], id: string): Intent => {
  const found = intents.find((intent) => intent.id === id);
  if (found === undefined) throw new Error(`no ${id}`);
  return found;
};

/** An intent whose only request got no answer. */
async function inDoubt(here: Desk, id: string): Promise<Intent> {
  const intent = one(await here.on(decide(here.store, here.clock.now(), [{ id: asIntentId(id), conflictKey: "same" }])), id);
  const change = { state: "in_doubt", nextAt: here.clock.now() + MINUTE, everUnknown: true } as const;
  here.store.complete(endOf(here, await admit(here, intent), { outcome: "unknown", intent: { seq: intent.seq, id: intent.id, change } }));
  return intent;
}

test("intents are due in their lanes and from their time, oldest first", async () => {
  const { clock, store, on } = desk();
  const intents = await on(
    decide(store, clock.now(), [
      { id: asIntentId("a") },
      { id: asIntentId("b"), lane: "reply", conflictKey: "b" },
      { id: asIntentId("c"), conflictKey: "c" },
    ]),
  );
  await on(
    store.moveIntent({
      seq: one(intents, "a").seq,
      by: "outbox",
      change: { state: "ready", nextAt: clock.now() + MINUTE },
      now: clock.now(),
    }),
  );
  const due = async (lanes: readonly Intent["lane"][]): Promise<readonly string[]> =>
    store.dueIntents(SCOUT, lanes, clock.now(), 10).map(({ id }) => id);
  expect([await due(["act"]), await due(["reply", "act"]), await due([])]).toEqual([["c"], ["b", "c"], []]);
  await clock.advance(MINUTE);
  expect(await due(["act"])).toEqual(["a", "c"]);
});

test("a move happens from the mover's states only, with its events", async () => {
  const { clock, store, on } = desk();
  const { seq } = one(await on(decide(store, clock.now(), [{ id: asIntentId("a") }])), "a");
  const told = {
    specialist: SCOUT,
    id: asEventId("intent.refused:a"),
    kind: "intent.refused",
    payload: {},
    via: "runtime",
    hops: 0,
  } as const;
  const refuse = () =>
    on(
      store.moveIntent({ seq, by: "outbox", change: { state: "refused", code: "x:no", message: "no" }, now: clock.now(), events: [told] }),
    );
  expect([
    await on(store.moveIntent({ seq, by: "settle", change: { state: "confirmed" }, now: clock.now() })),
    await refuse(),
    await refuse(),
  ]).toEqual([false, true, false]);
  expect(await on(store.findEvents("intent.refused:a", 5))).toHaveLength(1);
  expect(await on(store.moveIntent({ seq: 9_999, by: "outbox", change: { state: "refused" }, now: clock.now() }))).toBe(false);
});

test("expired intents are cancelled once, and returned as they were", async () => {
  const { clock, store, on } = desk();
  await on(
    decide(store, clock.now(), [
      { id: asIntentId("a"), expiresAt: clock.now() + 5 },
      { id: asIntentId("b"), conflictKey: "b" },
    ]),
  );
  expect(store.expireIntents(SCOUT, clock.now() + 4, 10)).toEqual([]);
  expect(store.expireIntents(SCOUT, clock.now() + 5, 10)).toMatchObject([{ id: "a", state: "ready" }]);
  expect(store.expireIntents(SCOUT, clock.now() + 5, 10)).toEqual([]);
  expect((await on(store.findIntent("a")))?.state).toBe("cancelled");
});

describe("an intent in doubt", () => {
  test("is read back from its time on, and counts its requests without an answer", async () => {
    const here = desk();
    await withKey(here);
    const { seq } = await inDoubt(here, "a");
    const doubtful = async (now: number) => (await here.on(here.store.doubtfulIntents(SCOUT, now, 10))).length;
    expect([await doubtful(here.clock.now()), await doubtful(here.clock.now() + MINUTE)]).toEqual([0, 1]);
    expect(await here.on(here.store.unansweredAttempts(seq))).toBe(1);
    await here.on(here.store.forgetSentAt(seq, here.clock.now()));
    expect((await here.on(here.store.findIntent("a")))?.sentAt).toBe(0);
  });

  test("is compared with those done to the same object, and claims what it created", async () => {
    const here = desk();
    await withKey(here);
    const first = await inDoubt(here, "a");
    await here.on(
      here.store.moveIntent({ seq: first.seq, by: "read-back", change: { state: "confirmed", createdRef: "p1" }, now: here.clock.now() }),
    );
    const second = await inDoubt(here, "b");
    const { own, others } = await here.on(here.store.similarIntents(second, 5));
    expect([own !== undefined, others.map(({ intent }) => intent.id)]).toEqual([true, ["a"]]);
    expect(await here.on(here.store.claimedRefs(second, ["p1", "p2"]))).toEqual(new Set(["p1"]));
    expect(await here.on(here.store.claimedRefs({ ...second, operation: "jobs.create" }, ["p1"]))).toEqual(new Set());
  });
});

test("the proof of reading back is kept by key and operation", async () => {
  const { clock, store, on } = desk();
  const nothing = await on(store.loadProof(KEY, "posts.create"));
  expect(nothing).toMatchObject({ proven: false, found: 0, missed: 0 });
  const proof = { proven: true, found: 2, missed: 1, latenessMs: 700 };
  await on(store.saveProof(KEY, "posts.create", proof, clock.now()));
  expect([await on(store.loadProof(KEY, "posts.create")), await on(store.loadProof(KEY, "posts.reply"))]).toEqual([proof, nothing]);
});
