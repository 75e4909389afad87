/** Claims of events: oldest first, one at a time in a thread, and what may have ended the process is handled alone. */
import { describe, expect, test } from "vitest";
import { asEventId } from "../../src/core/ids.ts";
import { claimable, isUnchanged, liveEvent, type LiveEvent } from "../../src/live/live-event.ts";
import { MAX_CRASHES } from "../../src/live/live-event.ts";
import { eventFact } from "../harness/event-fact.ts";

const NOW = 1_000;
const eventOf = (seq: number, over: Partial<LiveEvent> = {}): LiveEvent => ({
  ...liveEvent(eventFact(seq, { id: asEventId(`post.created:p${seq}`) })),
  ...over,
});
const claim = (events: readonly LiveEvent[], limit = 10, hasLastChance = false) => {
  const { taken, poisoned } = claimable(events, NOW, limit, () => hasLastChance);
  return [taken.map(({ seq }) => seq), poisoned.map(({ seq }) => seq)];
};

test("events are taken oldest first, up to the limit", () => {
  expect(claim([eventOf(1), eventOf(2), eventOf(3)], 2)).toEqual([[1, 2], []]);
  expect(claim([], 2)).toEqual([[], []]);
});

test("of one thread only the oldest is taken, and none while it is handled or put off", () => {
  const thread = "t1";
  expect(claim([eventOf(1, { thread }), eventOf(2, { thread }), eventOf(3)])).toEqual([[1, 3], []]);
  expect(claim([eventOf(1, { thread, isClaimed: true }), eventOf(2, { thread })])).toEqual([[], []]);
  expect(claim([eventOf(1, { thread, notBefore: NOW + 1 }), eventOf(2, { thread }), eventOf(3)])).toEqual([[3], []]);
});

test("a parked event holds nothing back", () => {
  expect(claim([eventOf(1, { thread: "t1", state: "parked" }), eventOf(2, { thread: "t1" })])).toEqual([[2], []]);
});

test("events that were put off come at their time, the longest due first", () => {
  expect(claim([eventOf(1, { notBefore: NOW + 1 }), eventOf(2, { notBefore: NOW }), eventOf(3, { notBefore: 900 }), eventOf(4)])).toEqual([
    [4, 3, 2],
    [],
  ]);
  expect(claim([eventOf(1, { notBefore: 900 }), eventOf(2), eventOf(3, { notBefore: 800 })], 2)).toEqual([[2, 3], []]);
});

describe("an event that was at work when a process ended", () => {
  test("is taken alone, after those before it", () => {
    expect(claim([eventOf(1, { crashes: 1 }), eventOf(2)])).toEqual([[1], []]);
    expect(claim([eventOf(1), eventOf(2, { crashes: 1 }), eventOf(3)])).toEqual([[1], []]);
  });

  test("has its last try only while no other has", () => {
    const last = eventOf(1, { crashes: MAX_CRASHES - 1 });
    expect(claim([last, eventOf(2)], 10, false)).toEqual([[1], []]);
    expect(claim([last, eventOf(2)], 10, true)).toEqual([[2], []]);
  });

  test("comes by its age once its wait is over, and not behind all that came since", () => {
    const last = eventOf(1, { crashes: MAX_CRASHES - 1, notBefore: NOW });
    expect(claim([last, eventOf(2), eventOf(3)])).toEqual([[1], []]);
  });

  test("too often is poison, and the others go on", () => {
    expect(claim([eventOf(1, { crashes: MAX_CRASHES }), eventOf(2), eventOf(3, { crashes: MAX_CRASHES + 5 })])).toEqual([[2], [1, 3]]);
  });
});

test("an event is unchanged until a fact is about it or a handler has begun", () => {
  expect([eventOf(5), eventOf(5, { last: 6 }), eventOf(5, { begun: true })].map(isUnchanged)).toEqual([true, false, false]);
});
