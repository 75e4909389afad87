/** Ended sessions are known over a restart, until they would have ended by themselves, and in a bounded number. */
import { expect, test } from "vitest";
import { DAY } from "../../src/core/units.ts";
import { openEndedSessions } from "../../src/console/ended-sessions.ts";
import { desk } from "../harness/guardian-over-store.ts";

test("an ended session is known to the next process, and forgotten once it would be over anyway", async () => {
  const { clock, store, on } = desk();
  const first = await on(openEndedSessions(store, clock));
  await on(first.add("short", clock.now() + DAY));
  await on(first.add("long", clock.now() + 30 * DAY));
  const second = await on(openEndedSessions(store, clock));
  expect(["short", "long", "other"].map((id) => second.has(id))).toEqual([true, true, false]);
  await clock.advance(2 * DAY);
  await on(second.add("third", clock.now() + DAY));
  expect(["short", "long", "third"].map((id) => second.has(id))).toEqual([false, true, true]);
});

test("of more than a thousand those that end last are kept", async () => {
  const { clock, store, on } = desk();
  const ended = await on(openEndedSessions(store, clock));
  for (let i = 1; i <= 1_010; i++) await on(ended.add(`s${i}`, clock.now() + i * 1_000));
  expect([ended.has("s1"), ended.has("s10"), ended.has("s11"), ended.has("s1010")]).toEqual([false, false, true, true]);
});
