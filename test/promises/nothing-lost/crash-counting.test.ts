/** How events are counted that were at work when the process ended: the guilty one is parked, the others are not. */
import { describe, expect, test } from "vitest";
import type { Transport } from "../../../src/client/transport.ts";
import { sleep } from "../../../src/core/clock.ts";
import { asEventId, asHandle } from "../../../src/core/ids.ts";
import { seededRandom } from "../../../src/core/random.ts";
import { SECOND } from "../../../src/core/units.ts";
import { virtualClock } from "../../../src/core/virtual-clock.ts";
import type { NewEvent } from "../../../src/contract/event.ts";
import { LAST_TRY_AFTER_MS, MAX_CRASHES } from "../../../src/live/live-event.ts";
import { createSpecialist } from "../../../src/specialist/specialist.ts";
import type { Retried } from "../../../src/store/inbox.ts";
import { openSqliteStore } from "../../../src/store/sqlite/store.ts";
import { virtualRuntime } from "../../harness/harness.ts";

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
    retry: (which: Retried) => clock.run(store.retryFailed(ONE, which, clock.now())),
    settle: () => clock.advance(LAST_TRY_AFTER_MS),
    failure: async (name: string) => (await store.eventsOf(ONE, 10)).find(({ id }) => String(id) === name)?.failure,
    parked: async () => (await store.parkedEvents(undefined, 10)).map(({ id }) => String(id)),
  };
}

describe("after the process ended in the middle of work", () => {
  test("an event that was at work is claimed alone, and before new ones", async () => {
    const { claim, crash } = await inbox(event(ONE, "a"), event(ONE, "b"), event(ONE, "c"));
    expect(await claim(ONE)).toEqual(["a", "b", "c"]);
    await crash();
    expect(await claim(ONE)).toEqual(["a"]);
    expect(await claim(ONE)).toEqual(["b"]);
  });

  test("only what was at work every time is parked", async () => {
    const { claim, crash, settle, parked } = await inbox(event(ONE, "a"), event(ONE, "b"));
    for (let i = 0; i < MAX_CRASHES; i++) {
      await settle();
      await claim(ONE);
      await crash();
    }
    await settle();
    expect(await claim(ONE)).toEqual(["b"]);
    expect(await parked()).toEqual(["a"]);
  });

  test("nothing is parked by processes that end soon after their starts, whatever ends them", async () => {
    const { claim, crash, settle, parked } = await inbox(event(ONE, "a"));
    for (let i = 0; i < MAX_CRASHES - 1; i++) {
      expect(await claim(ONE)).toEqual(["a"]);
      await crash();
    }
    for (let i = 0; i < 10; i++) {
      expect(await claim(ONE)).toEqual([]);
      await crash();
    }
    await settle();
    expect([await claim(ONE), await parked()]).toEqual([["a"], []]);
    await crash();
    expect([await claim(ONE), await parked()]).toEqual([[], ["a"]]);
  });

  test("the reason for the wait of a last try is there to be read", async () => {
    const { claim, crash, failure } = await inbox(event(ONE, "a"));
    for (let i = 0; i < MAX_CRASHES - 1; i++) {
      await claim(ONE);
      await crash();
    }
    expect(await failure("a")).toMatchObject({ message: "the process ended 2 times while this was handled", tries: 2, timed: true });
  });

  test("an order or a new definition has it tried at once, and counts anew", async () => {
    const { claim, crash, retry, failure, parked } = await inbox(event(ONE, "a"));
    for (let i = 0; i < MAX_CRASHES - 1; i++) {
      await claim(ONE);
      await crash();
    }
    expect(await retry("waiting")).toBe(1);
    expect([await claim(ONE), (await failure("a"))?.tries]).toEqual([["a"], 2]);
    await crash();
    expect([await claim(ONE), await parked()]).toEqual([["a"], []]);
  });

  test("the last chance of one event is not shared with that of another specialist", async () => {
    const { claim, crash, settle, parked } = await inbox(event(ONE, "a"), event(TWO, "b"));
    for (let i = 0; i < MAX_CRASHES - 1; i++) {
      expect([...(await claim(ONE)), ...(await claim(TWO))]).toEqual(["a", "b"]);
      await crash();
    }
    await settle();
    expect(await claim(ONE)).toEqual(["a"]);
    expect(await claim(TWO)).toEqual([]); // it waits for the other
    await crash();
    await settle();
    expect(await claim(TWO)).toEqual(["b"]);
    expect([await claim(ONE), await parked()]).toEqual([[], ["a"]]);
  });

  test("the last tries of many specialists follow one another at once, one at a time", async () => {
    const clock = virtualClock();
    const random = seededRandom(1);
    const store = openSqliteStore({ path: ":memory:", clock, random });
    const handles = Array.from({ length: 60 }, (_, i) => asHandle(`s${i}`));
    await clock.run(store.putEvents({ events: handles.map((handle) => event(handle, handle)) }, clock.now()));
    for (let i = 0; i < MAX_CRASHES - 1; i++) {
      for (const handle of handles) store.claimEvents(handle, clock.now(), 16);
      await clock.run(store.recover(clock.now(), 0));
    }
    let [atWork, most, handled] = [0, 0, 0];
    const work = async (): Promise<void> => {
      most = Math.max(most, ++atWork);
      await sleep(clock, 10);
      atWork--;
      handled++;
    };
    const watch = { feed: false, mentions: false, threads: false } as const;
    const specialists = handles.map((handle) =>
      createSpecialist({ handle, id: handle, tier: "pro", watch, on: { "post.created": () => work() } }),
    );
    const transport: Transport = () => Promise.resolve({ kind: "never-left", reason: "nobody is asked" });
    const runtime = virtualRuntime({ specialists, store, transport, keyOf: () => "sk_live_0123456789abcdef", clock, random });
    await clock.run(runtime.start());
    await clock.advance(LAST_TRY_AFTER_MS + 5 * SECOND); // those that nobody woke would look again only then
    expect({ handled, most }).toEqual({ handled: handles.length, most: 1 });
    await clock.run(runtime.stop());
  });
});
