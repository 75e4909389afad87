/** Intents in memory: which may be sent, which waits for which, and what a change sets. */
import { describe, expect, test } from "vitest";
import { asHandle, asIntentId } from "../../src/core/ids.ts";
import { INTENTS_OF_RUN, type IntentSeed } from "../../src/live/facts.ts";
import {
  asIntent,
  expires,
  headOf,
  holdsConflict,
  isFree,
  isLive,
  isReadyIn,
  isSaid,
  liveIntent,
  setOf,
  type LiveIntent,
} from "../../src/live/live-intent.ts";
import { DRY_RUN, INTENT_STATES } from "../../src/outbox/intent.ts";

const RUN = { fact: "run", seq: 7, at: 100, event: 3, specialist: asHandle("scout"), intents: [] } as const;
const seed = (over: Partial<IntentSeed> = {}): IntentSeed => ({
  id: asIntentId(`i${over.ordinal ?? 0}`),
  ordinal: 0,
  operation: "posts.reply",
  input: { content: "hello" },
  effect: "reconciled",
  lane: "reply",
  conflictKey: "k",
  hops: 1,
  state: "ready",
  ...over,
});
const intentOf = (over: Partial<IntentSeed> = {}, later: Partial<LiveIntent> = {}): LiveIntent => ({
  ...liveIntent(RUN, seed(over)),
  ...later,
});

test("an intent is numbered by its run and its place, and is refused at once if it is born so", () => {
  expect(intentOf({ ordinal: 4 })).toMatchObject({
    seq: 7 * INTENTS_OF_RUN + 4,
    eventSeq: 3,
    createdAt: 100,
    attempt: 0,
    settledAt: undefined,
  });
  expect(intentOf({ state: "refused", code: "not_allowed" })).toMatchObject({ settledAt: 100, code: "not_allowed" });
  expect(intentOf({ state: "in_doubt", everUnknown: true, sentAt: 50 })).toMatchObject({ everUnknown: true, sentAt: 50 });
});

test("memory holds what may still be sent or read back, and a conflict is what is under way", () => {
  expect(INTENT_STATES.filter((state) => isLive({ state }))).toEqual(["proposed", "ready", "sending", "in_doubt"]);
  expect(INTENT_STATES.filter((state) => holdsConflict({ state }))).toEqual(["sending", "in_doubt"]);
});

test("a text counts as said until it is dropped, unless only a dry run withheld it", () => {
  const textHash = "h";
  expect(isSaid({ textHash, state: "ready", code: undefined })).toBe(true);
  expect(isSaid({ textHash, state: "confirmed", code: undefined })).toBe(true);
  expect(isSaid({ textHash, state: "refused", code: "not_allowed" })).toBe(false);
  expect(isSaid({ textHash, state: "refused", code: DRY_RUN })).toBe(true);
  expect(isSaid({ textHash: undefined, state: "ready", code: undefined })).toBe(false);
});

describe("an intent is free", () => {
  const all = (...intents: readonly LiveIntent[]): ReadonlyMap<number, LiveIntent> => new Map(intents.map((one) => [one.seq, one]));
  const second = intentOf({ ordinal: 1 });

  test("once no earlier one of its run may still be sent", () => {
    for (const state of ["ready", "sending"] as const) {
      const first = intentOf({}, { state });
      expect([isFree(second, all(first, second)), headOf(second, all(first, second))?.id]).toEqual([false, "i0"]);
    }
    for (const state of ["in_doubt", "confirmed", "parked"] as const)
      expect(isFree(second, all(intentOf({}, { state }), second))).toBe(true);
    expect(isFree(second, all(second))).toBe(true);
  });

  test("once its target exists, and whatever other runs do", () => {
    const waiting = intentOf({ ordinal: 1, targetIntent: asIntentId("i0") });
    expect([isFree(waiting, all(waiting)), isFree({ ...waiting, target: "p1" }, all(waiting))]).toEqual([false, true]);
    const other = liveIntent({ ...RUN, seq: 6 }, seed({ ordinal: 127 }));
    expect(isFree(intentOf(), all(other))).toBe(true);
  });
});

test("an intent that may have been sent does not expire; one that waits for the Guardian does in any case", () => {
  const at = { expiresAt: 500 };
  expect(
    [intentOf(at), intentOf({ ...at, state: "proposed" }), intentOf({ ...at, state: "proposed" }, { everUnknown: true })].map(expires),
  ).toEqual([true, true, true]);
  expect([intentOf(at, { everUnknown: true }), intentOf(at, { state: "in_doubt" }), intentOf()].map(expires)).toEqual([
    false,
    false,
    false,
  ]);
});

test("a lane sends only what is ready in it", () => {
  expect([
    isReadyIn(intentOf(), ["reply", "act"]),
    isReadyIn(intentOf(), ["act"]),
    isReadyIn(intentOf({ state: "proposed" }), ["reply"]),
  ]).toEqual([true, false, false]);
});

describe("a change", () => {
  test("sets its reason anew, its end if it is one, and the rest only where it is stated", () => {
    const intent = intentOf({}, { checks: 2, code: "quota_waits" });
    expect(setOf(intent, { state: "confirmed", createdRef: "p9" }, 900, "restored")).toEqual({
      state: "confirmed",
      code: undefined,
      message: undefined,
      settledAt: 900,
      createdRef: "p9",
    });
    expect(setOf(intent, { state: "in_doubt", nextAt: 950, checked: true, everUnknown: true }, 900, "restored")).toEqual({
      state: "in_doubt",
      code: undefined,
      message: undefined,
      settledAt: undefined,
      nextAt: 950,
      checks: 3,
      everUnknown: true,
    });
  });

  test("approves into doubt what a restored store may have sent already", () => {
    const restored = intentOf({ state: "proposed", code: "restored" });
    expect(setOf(restored, { state: "ready" }, 900, "restored").state).toBe("in_doubt");
    expect(setOf(intentOf({ state: "proposed" }), { state: "ready" }, 900, "restored").state).toBe("ready");
    expect(setOf(restored, { state: "cancelled" }, 900, "restored").state).toBe("cancelled");
  });
});

test("a copy for callers has no field of memory alone", () => {
  expect(Object.keys(asIntent(intentOf()))).not.toEqual(expect.arrayContaining(["ordinal"]));
  expect(asIntent(intentOf())).toMatchObject({ id: "i0", state: "ready" });
});
