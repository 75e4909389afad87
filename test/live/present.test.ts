/** The present: made from facts alone, the same when they are applied twice, bounded, and tidy once work is over. */
import { describe, expect, test } from "vitest";
import { asHandle, asIntentId, asKeyId } from "../../src/core/ids.ts";
import type { AnswerFact, AttemptFact, Fact, IntentSeed, RunFact } from "../../src/live/facts.ts";
import { INTENTS_OF_RUN } from "../../src/live/facts.ts";
import { differing, pictureOf } from "../../src/live/picture.ts";
import { Present } from "../../src/live/present.ts";
import { eventFact as event } from "../harness/event-fact.ts";

const SCOUT = asHandle("scout");
const KEY = asKeyId("k1");
const seed = (ordinal: number, over: Partial<IntentSeed> = {}): IntentSeed => ({
  id: asIntentId(`i${ordinal}`),
  ordinal,
  operation: "posts.create",
  input: {},
  effect: "reconciled",
  lane: "act",
  conflictKey: "k",
  hops: 0,
  state: "ready",
  ...over,
});
const run = (seq: number, of: number, ...intents: readonly IntentSeed[]): RunFact => ({
  fact: "run",
  seq,
  at: seq,
  event: of,
  specialist: SCOUT,
  intents,
});
const attempt = (seq: number, intent: number): AttemptFact => ({
  fact: "attempt",
  seq,
  at: seq,
  intent,
  specialist: SCOUT,
  key: KEY,
  operation: "posts.create",
  target: undefined,
  lane: "act",
  cost: 1,
  deadlineAt: seq + 100,
});
const answer = (seq: number, of: number, over: Partial<AnswerFact> = {}): AnswerFact => ({
  fact: "answer",
  seq,
  at: seq,
  attempt: of,
  outcome: "confirmed",
  status: 201,
  note: undefined,
  countedAt: seq,
  set: { state: "confirmed", createdRef: "p1", settledAt: seq },
  ...over,
});
const presentOf = (...facts: readonly Fact[]): Present => {
  const present = new Present();
  for (const fact of facts) present.apply(fact);
  return present;
};
const I0 = 2 * INTENTS_OF_RUN;
const WALK = [event(1), run(2, 1, seed(0, { textHash: "h" })), attempt(3, I0), answer(4, 3)] as const;

test("an event becomes its run's intent, a request, and a settled effect", () => {
  const present = presentOf(...WALK.slice(0, 3));
  expect([present.events.size, present.byId("i0")?.state, present.attempts.size]).toEqual([0, "sending", 1]);
  expect([present.conflict("k", -1)?.id, present.conflict("k", I0)]).toEqual(["i0", undefined]);
  present.apply(WALK[3]);
  expect(present.byId("i0")).toMatchObject({ state: "confirmed", attempt: 1, unanswered: 1, createdRef: "p1" });
  expect([present.attempts.size, present.conflict("k", -1), present.touched.settled.size, present.last]).toEqual([0, undefined, 1, 4]);
});

test("facts that are applied again change nothing", () => {
  for (let upTo = 1; upTo <= WALK.length; upTo++) {
    const facts = WALK.slice(0, upTo);
    const [once, twice] = [presentOf(...facts), presentOf(...facts, ...facts.slice(1))];
    expect(differing(pictureOf(twice), pictureOf(once))).toEqual([]);
    expect(twice.byId("i0")).toEqual(once.byId("i0"));
  }
});

test("a request that certainly had no effect is not counted as one that may have", () => {
  const limited = presentOf(...WALK.slice(0, 3), answer(4, 3, { outcome: "limited", set: { state: "ready", nextAt: 50 } }));
  expect(limited.byId("i0")).toMatchObject({ state: "ready", attempt: 1, unanswered: 0, firstRequest: 3, lastRequest: 3 });
  limited.apply(attempt(5, I0));
  expect(limited.byId("i0")).toMatchObject({ attempt: 2, unanswered: 1, firstRequest: 3, lastRequest: 5 });
});

test("a change of an event or intent counts once, and none of what is unknown", () => {
  const present = presentOf(
    event(1),
    { fact: "change", seq: 2, at: 2, of: "event", subject: 1, set: { state: "parked", note: "no" } },
    { fact: "change", seq: 2, at: 2, of: "event", subject: 1, set: { note: "an older fact" } },
    { fact: "change", seq: 3, at: 3, of: "event", subject: 99, set: { note: "nobody's" } },
    { fact: "change", seq: 4, at: 4, of: "intent", subject: 99, set: { state: "parked" } },
  );
  expect(present.events.get(1)).toMatchObject({ state: "parked", note: "no", last: 2 });
});

test("a text is said with its run, and no longer once it is dropped; what is made is told once", () => {
  const told: string[] = [];
  const present = new Present();
  present.onSpoken = ({ id }, change) => void told.push(`${id} ${change}`);
  for (const fact of WALK) present.apply(fact);
  present.apply(event(5));
  present.apply(run(6, 5, seed(1, { textHash: "h", id: asIntentId("i1") }), seed(2, { id: asIntentId("i2") })));
  present.apply({ fact: "change", seq: 7, at: 7, of: "intent", subject: 6 * INTENTS_OF_RUN + 1, set: { state: "refused", code: "x:no" } });
  expect(told).toEqual(["i0 said", "i0 made", "i1 said", "i1 unsaid"]);
});

test("open requests of a key are its own, without the one that is asked about", () => {
  const present = presentOf(event(1), run(2, 1, seed(0), seed(1)), attempt(3, I0), { ...attempt(4, I0 + 1), key: asKeyId("k2") });
  expect([...present.attemptsOf(KEY)]).toMatchObject([{ lane: "act", cost: 1 }]);
  expect([...present.attemptsOf(KEY, 3)]).toEqual([]);
});

test("the last try of an event lasts while it is handled", () => {
  const present = presentOf(event(1));
  const [one] = present.events.values();
  if (one === undefined) throw new Error("no event");
  one.isClaimed = true;
  expect(present.lastTries.isTaken(one.specialist)).toBe(false);
  present.lastTries.begin(one);
  expect(present.lastTries.isTaken(one.specialist)).toBe(true);
  one.isClaimed = false;
  expect(present.lastTries.isTaken(one.specialist)).toBe(false);
  one.isClaimed = true;
  present.dropEvent(one);
  expect(present.lastTries.isTaken(one.specialist)).toBe(false);
});

describe("memory", () => {
  test("a specialist without open work takes none", () => {
    const present = presentOf(event(1), run(2, 1));
    expect([...present.specialists()]).toEqual([]);
  });

  test("beyond a thousand events the newest are numbers, which come back in their order", () => {
    const present = presentOf(...Array.from({ length: 1_500 }, (_, i) => event(i + 1)));
    expect([present.events.size, present.eventCount(SCOUT), present.touched.queued.size]).toEqual([1_000, 1_500, 500]);
    expect(present.hasNext(SCOUT)).toBe(true);
    expect([present.unqueue(SCOUT, 32), present.unqueue(SCOUT, 31).slice(0, 2)]).toEqual([[], [1_001, 1_002]]);
    expect([present.eventCount(SCOUT), present.hasNext(SCOUT)]).toEqual([1_000, false]);
  });

  test("an event that is queued leaves with all older ones", () => {
    const present = presentOf(...Array.from({ length: 1_010 }, (_, i) => event(i + 1)));
    expect(present.unqueueUpTo(SCOUT, 1_003)).toEqual([1_001, 1_002, 1_003]);
    expect([present.unqueueUpTo(SCOUT, 5), present.unqueueUpTo(asHandle("nobody"), 1)]).toEqual([[], []]);
  });

  test("a long payload is left to its row", () => {
    const present = presentOf(event(1, { payload: "x".repeat(16 * 1_024) }), event(2, { payload: "x".repeat(16 * 1_024 + 1) }));
    expect([...present.events.values()].map(({ payload }) => payload?.length)).toEqual([16 * 1_024, undefined]);
  });

  test("all payloads together are bounded, and an event that is over makes room", () => {
    const payload = "x".repeat(16 * 1_024);
    const count = (32 * 1_024 * 1_024) / payload.length;
    const present = new Present();
    for (let i = 1; i <= count + 1; i++) present.apply(event(i, { payload, specialist: asHandle(`s${i % 10}`) }));
    expect(present.events.get(count + 1)?.payload).toBeUndefined();
    present.apply(run(count + 2, 1));
    present.apply(event(count + 3, { payload }));
    expect(present.events.get(count + 3)?.payload).toHaveLength(payload.length);
  });
});
