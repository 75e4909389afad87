/** The port of the inbox: an event is stored once, claimed by one handler at a time, and retried or parked by its rules. */
import { describe, expect, test } from "vitest";
import { asEventId, asHandle } from "../../src/core/ids.ts";
import { MINUTE } from "../../src/core/units.ts";
import { failureNote } from "../../src/store/failure.ts";
import { desk, SCOUT, type Desk } from "../harness/guardian-over-store.ts";

const claim = ({ store, clock }: Desk, limit = 10) => store.claimEvents(SCOUT, clock.now(), limit);
const event = (id: string, over: object = {}) =>
  ({ specialist: SCOUT, id: asEventId(id), kind: "post.created", payload: { id }, via: "poll", hops: 0, ...over }) as const;

test("an event that comes again is known, and moves its source's cursor all the same", async () => {
  const { clock, store, on } = desk();
  const put = (source: string) =>
    on(store.putEvents({ events: [event("e1")], cursors: [{ specialist: SCOUT, source, cursor: { at: source }, dueAt: 5 }] }, clock.now()));
  expect(await put("feed")).toMatchObject({ fresh: [{ id: "e1" }], known: 0 });
  expect(await put("jobs")).toMatchObject({ fresh: [], known: 1 });
  expect((await on(store.sources(SCOUT))).map(({ name, cursor, dueAt }) => [name, cursor, dueAt])).toEqual([
    ["feed", { at: "feed" }, 5],
    ["jobs", { at: "jobs" }, 5],
  ]);
});

test("an event is claimed once until it is given back, in its thread one at a time", async () => {
  const here = desk();
  await here.on(
    here.store.putEvents({ events: [event("e1", { thread: "t" }), event("e2", { thread: "t" }), event("e3")] }, here.clock.now()),
  );
  const [first, third] = claim(here);
  expect([first?.id, third?.id]).toEqual(["e1", "e3"]);
  expect(claim(here)).toEqual([]);
  here.store.retryEvent(first?.seq ?? 0, { notBefore: here.clock.now() + MINUTE, failed: true, note: "no" });
  expect(claim(here)).toEqual([]);
  await here.clock.advance(MINUTE);
  expect(claim(here)).toMatchObject([{ id: "e1", attempts: 1, payload: { id: "e1" }, beganAt: first?.beganAt }]);
});

describe("a parked event", () => {
  test("is claimed no more until a person tries it again, once", async () => {
    const here = desk();
    await here.parked("e1", "it crashed");
    expect([claim(here), await here.on(here.store.parkedEvents(SCOUT, 5))]).toMatchObject([[], [{ id: "e1", note: "it crashed" }]]);
    const again = (id: string) => here.on(here.store.unparkEvent(SCOUT, id, here.clock.now()));
    expect([await again("e1"), await again("e1"), await again("e9")]).toEqual([true, false, false]);
    expect(claim(here)).toMatchObject([{ id: "e1" }]);
    expect(await here.on(here.store.parkedEvents(asHandle("quill"), 5))).toEqual([]);
  });
});

describe("failed events are tried again", () => {
  const failing = async (): Promise<Desk> => {
    const here = desk();
    await here.failed("plain");
    await here.event("timed");
    const timed = claim(here).find(({ id }) => id === "timed");
    const note = failureNote({ at: 1, code: "x:later", message: "later", pattern: "later", tries: 1, timed: true });
    here.store.retryEvent(timed?.seq ?? 0, { notBefore: here.clock.now() + 60 * MINUTE, failed: true, note });
    await here.parked("parked", failureNote({ at: 1, code: "x:no", message: "no", pattern: "no", tries: 5 }));
    return here;
  };

  test.each([
    ["untimed", 1, ["plain"]],
    ["waiting", 2, ["plain", "timed"]],
    ["parked", 3, ["parked", "plain", "timed"]],
  ] as const)("%s: %d of them", async (which, count, ids) => {
    const here = await failing();
    expect(await here.on(here.store.retryFailed(SCOUT, which, here.clock.now()))).toBe(count);
    expect(
      claim(here)
        .map(({ id }) => String(id))
        .toSorted(),
    ).toEqual(ids);
  });

  test("and those of others are not", async () => {
    const here = await failing();
    expect(await here.on(here.store.retryFailed(asHandle("quill"), "parked", here.clock.now()))).toBe(0);
  });
});
