/** The picture of the present: whatever a start has to find again, and nothing that only one process knows. */
import { expect, test } from "vitest";
import type { EventFact } from "../../src/live/facts.ts";
import { differing, pictureOf, type Picture } from "../../src/live/picture.ts";
import { Present } from "../../src/live/present.ts";
import { eventFact as event } from "../harness/event-fact.ts";

function presentOf(...facts: readonly EventFact[]): Present {
  const present = new Present();
  for (const fact of facts) present.apply(fact);
  return present;
}

test("an unchanged event is its number alone, so that one in memory equals one that is queued", () => {
  expect([...pictureOf(presentOf(event(2), event(1)))]).toEqual([
    ["event 2 of scout", undefined],
    ["event 1 of scout", undefined],
  ]);
});

test("an event whose handler began is shown with what changed, and differs from one that waits", () => {
  const [begun, waiting] = [presentOf(event(1, { begun: true })), presentOf(event(1))].map(pictureOf);
  if (begun === undefined || waiting === undefined) throw new Error("no picture");
  expect(differing(begun, begun)).toEqual([]);
  expect(differing(begun, waiting)).toEqual([
    expect.stringMatching(/^only in rows: event 1 .*"begun":true/),
    "only in memory: event 1 of scout",
  ]);
});

test("a field that differs is a difference, and one that is undefined is none", () => {
  const pictureWith = (fields: object): Picture => new Map([["intent 1", fields]]);
  const [one] = [pictureWith({ state: "ready", input: { content: "a", tags: ["x"] }, code: undefined })];
  expect(differing(one, pictureWith({ input: { tags: ["x"], content: "a" }, state: "ready" }))).toEqual([]);
  for (const fields of [
    { state: "sending", input: { content: "a", tags: ["x"] } },
    { state: "ready", input: { content: "a", tags: ["y"] } },
    { state: "ready", input: { content: "a", tags: ["x"], more: 1 } },
    { state: "ready", input: { content: "a" } },
    { state: "ready", input: { content: "a", tags: ["x"] }, code: "x" },
  ])
    expect([differing(one, pictureWith(fields)).length, differing(pictureWith(fields), one).length]).toEqual([1, 1]);
});

test("the payload and the claim, which rows say or a start forgets, are left out", () => {
  const [begun, other] = ['{"secret":1}', '{"secret":2}'].map((payload) => pictureOf(presentOf(event(1, { begun: true, payload }))));
  if (begun === undefined || other === undefined) throw new Error("no picture");
  expect(differing(begun, other)).toEqual([]);
  expect(differing(begun, new Map()).join()).not.toMatch(/secret|isClaimed|isStored/);
});
