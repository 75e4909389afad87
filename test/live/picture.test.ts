/** The picture of the present: whatever a start has to find again, and nothing that only one process knows. */
import { expect, test } from "vitest";
import { asEventId, asHandle } from "../../src/core/ids.ts";
import type { EventFact } from "../../src/live/facts.ts";
import { pictureOf } from "../../src/live/picture.ts";
import { Present } from "../../src/live/present.ts";

const SCOUT = asHandle("scout");
const event = (seq: number, over: Partial<EventFact> = {}): EventFact => ({
  fact: "event",
  seq,
  at: seq,
  specialist: SCOUT,
  id: asEventId(`e${seq}`),
  kind: "post.created",
  thread: undefined,
  payload: "{}",
  via: "poll",
  hops: 0,
  begun: false,
  delivery: undefined,
  word: undefined,
  ...over,
});

function presentOf(...facts: readonly EventFact[]): Present {
  const present = new Present();
  for (const fact of facts) present.apply(fact);
  return present;
}

test("an unchanged event is its number alone, so that one in memory equals one that is queued", () => {
  expect(pictureOf(presentOf(event(2), event(1)))).toEqual(["event 1 of scout", "event 2 of scout"]);
});

test("an event whose handler began is shown with what changed, and differs from one that waits", () => {
  const [begun] = pictureOf(presentOf(event(1, { begun: true })));
  expect(begun).toContain('"seq":1');
  expect(begun).not.toBe(pictureOf(presentOf(event(1)))[0]);
});

test("the payload and the claim, which rows say or a start forgets, are left out", () => {
  const present = presentOf(event(1, { begun: true, payload: '{"secret":1}' }));
  expect(pictureOf(present).join()).not.toMatch(/secret|isClaimed|isStored/);
});
