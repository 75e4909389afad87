/** The last tries of events: one at a time, and whoever waited is next. */
import { expect, test } from "vitest";
import { asHandle } from "../../src/core/ids.ts";
import { LastTries } from "../../src/live/last-tries.ts";
import { isLastTry, liveEvent, MAX_CRASHES, type LiveEvent } from "../../src/live/live-event.ts";
import { eventFact } from "../harness/event-fact.ts";

const [ONE, TWO, THREE] = [asHandle("one"), asHandle("two"), asHandle("three")];

function eventOf(specialist: typeof ONE, crashes: number): LiveEvent {
  return { ...liveEvent(eventFact(1, { specialist })), crashes };
}

test("an event has its last try after all crashes but one", () => {
  expect([0, MAX_CRASHES - 2, MAX_CRASHES - 1, MAX_CRASHES].map((crashes) => isLastTry({ crashes }))).toEqual([false, false, true, true]);
});

test("specialists have their turn in the order in which they came, those that still have such an event", () => {
  const events = new Map([
    [ONE, [eventOf(ONE, MAX_CRASHES - 1)]],
    [TWO, [eventOf(TWO, 0)]],
    [THREE, [eventOf(THREE, MAX_CRASHES - 1)]],
  ]);
  let isHandled = true;
  const tries = new LastTries(() => isHandled);
  expect(tries.isTaken(ONE)).toBe(false);
  tries.begin(eventOf(ONE, MAX_CRASHES - 1));
  for (const specialist of [THREE, TWO, ONE, THREE]) expect(tries.isTaken(specialist)).toBe(true);
  const next = () => tries.next((specialist) => events.get(specialist) ?? []);
  expect(next()).toBeUndefined(); // it has not ended
  isHandled = false;
  expect([next(), next(), next()]).toEqual([THREE, ONE, undefined]);
});
