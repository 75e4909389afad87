import { expect, test } from "vitest";
import {
  canBecome,
  DROPPED,
  FINAL,
  FOR_A_PERSON,
  GOES_FIRST,
  INTENT_STATES,
  isDecidable,
  MAYBE_VISIBLE,
  OPEN,
  originsOf,
  SETTLED,
  TIMED,
  UNDER_WAY,
  UNSENT,
  VISIBLE,
  type IntentState,
  type Mover,
} from "../../src/outbox/intent.ts";
import { RECEIPT_KINDS } from "../../src/outbox/receipts.ts";

const pairs = INTENT_STATES.flatMap((from) => INTENT_STATES.map((to) => [from, to] as const));

test("a final state never moves again, and every other can come to an end", () => {
  expect(FINAL).toEqual(["confirmed", "refused", "cancelled"]);
  expect(pairs.filter(([from, to]) => FINAL.includes(from) && canBecome(from, to))).toEqual([]);
  const ends = new Set<IntentState>(FINAL);
  for (const _ of INTENT_STATES) for (const [from, to] of pairs) if (ends.has(to) && canBecome(from, to)) ends.add(from);
  expect([...ends].toSorted()).toEqual([...INTENT_STATES].toSorted());
});

test("only an action that waits for the limits is sent, and only a sent one can be confirmed without a person", () => {
  expect(INTENT_STATES.filter((from) => canBecome(from, "sending"))).toEqual(["ready"]);
  expect(originsOf("outbox", "refused")).toEqual(["ready"]);
  expect(originsOf("answer", "confirmed")).toEqual(["sending"]);
  expect(originsOf("settle", "confirmed")).toEqual(["in_doubt", "pending", "parked"]);
  expect(originsOf("approval", "ready")).toEqual(["proposed"]);
  expect(originsOf("retry", "ready")).toEqual(["parked"]);
  expect(INTENT_STATES.filter(isDecidable)).toEqual(["in_doubt", "pending", "parked"]);
});

test("each set of states is what its readers rely on", () => {
  expect({ UNSENT, UNDER_WAY, DROPPED, FOR_A_PERSON, OPEN, TIMED, GOES_FIRST, SETTLED, VISIBLE, MAYBE_VISIBLE }).toEqual({
    UNSENT: ["proposed", "ready"],
    UNDER_WAY: ["sending", "in_doubt"],
    DROPPED: ["refused", "cancelled"],
    FOR_A_PERSON: ["proposed", "pending", "parked"],
    OPEN: ["proposed", "ready", "sending", "in_doubt", "pending", "parked"],
    TIMED: ["ready", "in_doubt"],
    GOES_FIRST: ["ready", "sending"],
    SETTLED: ["confirmed", "refused", "cancelled", "parked"],
    VISIBLE: ["confirmed", "pending"],
    MAYBE_VISIBLE: ["cancelled", "parked"],
  });
  expect(RECEIPT_KINDS.toSorted()).toEqual(["intent.confirmed", "intent.parked", "intent.pending", "intent.refused"]);
});

test("a state or a move that the tables lack does not compile", () => {
  // @ts-expect-error -- a new state belongs into STATES
  const state: IntentState = "lost";
  expect(INTENT_STATES).not.toContain(state);
  const by: Mover = "retry";
  // @ts-expect-error -- what is tried again is ready, and confirmed by nobody
  expect(originsOf(by, "confirmed")).toEqual([]);
});
