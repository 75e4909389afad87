/** The port of history: what people ask about events, actions and deliveries, newest first and within bounds. */
import { expect, test } from "vitest";
import { asHandle, asIntentId } from "../../src/core/ids.ts";
import { MINUTE } from "../../src/core/units.ts";
import { newWatch } from "../../src/store/sources.ts";
import { decide } from "../harness/builders.ts";
import { desk, SCOUT } from "../harness/guardian-over-store.ts";

test("one event may be at several specialists, and the newest comes first", async () => {
  const { store, on, event } = desk();
  await event("e1");
  await event("e1", { specialist: asHandle("quill") });
  expect((await on(store.findEvents("e1", 10))).map(({ specialist }) => specialist)).toEqual(["quill", "scout"]);
  expect(await on(store.findEvents("e1", 1))).toHaveLength(1);
  expect(await on(store.findEvents("e9", 10))).toEqual([]);
  expect([...(await on(store.handles()))].toSorted()).toEqual(["quill", "scout"]);
});

test("events about an object are found by their kinds", async () => {
  const { store, on, event } = desk();
  await event("post.created:p1", { payload: { id: "p1" } });
  await event("job.listed:p1", { kind: "job.listed", payload: { id: "p1" } });
  expect((await on(store.eventsAbout(["p1"], ["post.created"], 10))).map(({ id }) => id)).toEqual(["post.created:p1"]);
  expect(await on(store.eventsAbout([], ["post.created"], 10))).toEqual([]);
});

test("the newest events of one specialist come first, and none of others", async () => {
  const { store, on, event } = desk();
  for (const id of ["e1", "e2", "e3"]) await event(id);
  await event("e4", { specialist: asHandle("quill") });
  expect((await on(store.eventsOf(SCOUT, 2))).map(({ id }) => id)).toEqual(["e3", "e2"]);
  expect(await on(store.eventsOf(asHandle("nobody"), 2))).toEqual([]);
});

test("failing events are grouped, and a later success keeps the failure in the log", async () => {
  const { clock, store, on, failed } = desk();
  await failed("e1");
  await failed("e2", {}, "job.listed");
  expect(await on(store.failing(SCOUT, 1))).toMatchObject({ groups: [expect.anything() as object], groupCount: 2, eventCount: 2 });
  expect((await on(store.failedEvents({ kind: "job", limit: 10 }))).map(({ id }) => id)).toEqual(["e2"]);
  await clock.advance(2 * MINUTE);
  const [claimed] = store.claimEvents(SCOUT, clock.now(), 1);
  const run = { seq: claimed?.seq ?? 0, specialist: SCOUT, now: clock.now(), intents: [] };
  const caps = { repliesPerThread: 1, repliesPerAuthorPerHour: 1, repliesPerHour: 1, sameTextWithinMs: 0, hops: 1 };
  store.finishRun({ ...run, caps, brake: () => undefined, report: () => undefined });
  expect((await on(store.failing(SCOUT, 10))).eventCount).toBe(1);
  expect(await on(store.failedEvents({ limit: 10 }))).toMatchObject([
    { state: expect.any(String) as string },
    { failure: { message: "no model" } },
  ]);
});

test("intents are found by what is asked: noun, time, object, state", async () => {
  const { clock, store, on } = desk();
  await on(decide(store, clock.now(), [{ id: asIntentId("a"), target: "p1" }]));
  await clock.advance(MINUTE);
  await on(decide(store, clock.now(), [{ id: asIntentId("b"), operation: "jobs.apply", target: "j1", conflictKey: "b" }]));
  const ids = async (filter: object): Promise<readonly string[]> => (await on(store.intents({ limit: 10, ...filter }))).map(({ id }) => id);
  expect(await ids({})).toEqual(["b", "a"]);
  expect([await ids({ operation: "jobs" }), await ids({ operation: "posts.create" }), await ids({ operation: "post" })]).toEqual([
    ["b"],
    ["a"],
    [],
  ]);
  expect([await ids({ since: clock.now() }), await ids({ until: clock.now() - 1 })]).toEqual([["b"], ["a"]]);
  expect([await ids({ object: "p1" }), await ids({ states: ["sending"] }), await ids({ specialist: asHandle("quill") })]).toEqual([
    ["a"],
    [],
    [],
  ]);
  const [b] = await on(store.intents({ limit: 1 }));
  expect(b && (await on(store.eventOf(b)))?.id).toBe("schedule:talk:b");
});

test("actions and jobs are counted by state", async () => {
  const { clock, store, on } = desk();
  await on(decide(store, clock.now(), [{ id: asIntentId("a") }, { id: asIntentId("b"), conflictKey: "b" }]));
  const seen = async () => (await on(store.overview(clock.now(), SCOUT))).get(SCOUT);
  expect((await seen())?.counts).toEqual([{ operation: "posts.create", state: "ready", count: 2 }]);
  expect((await seen())?.held).toMatchObject([{ operation: "posts.create", lane: "act", state: "ready", count: 2 }]);
  const watch = { specialist: SCOUT, kind: "job", object: "j1", ...newWatch("job", clock.now()), dueAt: null } as const;
  await on(store.putEvents({ events: [], watches: [watch] }, clock.now()));
  expect((await seen())?.jobs).toEqual({ applied: 1 });
});
