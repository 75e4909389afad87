/** How events are counted that were at work when the process ended: the guilty one is parked, the others are not. */
import { describe, expect, test } from "vitest";
import { asEventId, asHandle } from "../../../src/core/ids.ts";
import { seededRandom } from "../../../src/core/random.ts";
import { virtualClock } from "../../../src/core/virtual-clock.ts";
import type { NewEvent } from "../../../src/contract/event.ts";
import { MAX_CRASHES } from "../../../src/live/live-event.ts";
import { openSqliteStore } from "../../../src/store/sqlite/store.ts";

const ONE = asHandle("one");
const TWO = asHandle("two");
const event = (specialist: typeof ONE, name: string): NewEvent => ({
  specialist,
  id: asEventId(name),
  kind: "post.created",
  payload: { id: name },
  via: "poll",
  hops: 0,
});

async function inbox(...events: readonly NewEvent[]) {
  const clock = virtualClock();
  const store = openSqliteStore({ path: ":memory:", clock, random: seededRandom(1) });
  await clock.run(store.putEvents({ events }, clock.now()));
  return {
    claim: async (who: typeof ONE) => (await clock.run(store.claimEvents(who, clock.now(), 16))).map(({ id }) => String(id)),
    crash: () => clock.run(store.recover(clock.now(), 0)),
    parked: async () => (await store.parkedEvents(undefined, 10)).map(({ id }) => String(id)),
  };
}

describe("after the process ended in the middle of work", () => {
  test("what was at work is claimed alone, and before what is new", async () => {
    const { claim, crash } = await inbox(event(ONE, "a"), event(ONE, "b"), event(ONE, "c"));
    expect(await claim(ONE)).toEqual(["a", "b", "c"]);
    await crash();
    expect(await claim(ONE)).toEqual(["a"]);
    expect(await claim(ONE)).toEqual(["b"]);
  });

  test("only what was at work every time is parked", async () => {
    const { claim, crash, parked } = await inbox(event(ONE, "a"), event(ONE, "b"));
    for (let i = 0; i < MAX_CRASHES; i++) {
      await claim(ONE);
      await crash();
    }
    expect(await claim(ONE)).toEqual(["b"]);
    expect(await parked()).toEqual(["a"]);
  });

  test("the last chance of one event is not shared with that of another specialist", async () => {
    const { claim, crash, parked } = await inbox(event(ONE, "a"), event(TWO, "b"));
    for (let i = 0; i < MAX_CRASHES - 1; i++) {
      expect([...(await claim(ONE)), ...(await claim(TWO))]).toEqual(["a", "b"]);
      await crash();
    }
    expect(await claim(ONE)).toEqual(["a"]);
    expect(await claim(TWO)).toEqual([]); // it waits for the other
    await crash();
    expect(await claim(TWO)).toEqual(["b"]);
    expect([await claim(ONE), await parked()]).toEqual([[], ["a"]]);
  });
});
