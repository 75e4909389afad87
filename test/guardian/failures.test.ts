/** Failing handlers as a person sees them: grouped by what is the same, with the place, the next try and the remedy. */
import { expect, test } from "vitest";
import { MINUTE } from "../../src/core/units.ts";
import { explainEvent, reasonOfFailing, showFailing } from "../../src/guardian/failures.ts";
import type { EventRow } from "../../src/store/history.ts";
import { desk, SCOUT } from "../harness/guardian-over-store.ts";

const row = (over: Partial<EventRow> = {}): EventRow => ({
  seq: 1,
  specialist: SCOUT,
  id: "post.created:p1",
  kind: "post.created",
  state: "ready",
  note: undefined,
  attempts: 0,
  notBefore: 0,
  createdAt: 5,
  doneAt: undefined,
  payload: {},
  ...over,
});
const failure = {
  at: 9,
  code: "handler_threw",
  message: "no model",
  pattern: "no model",
  tries: 2,
  file: "agents/scout.ts",
  line: 7,
  stack: "at it",
} as const;

test("events of one kind that fail alike are one group, with the newest message and the first next try", async () => {
  const { clock, store, on, failed } = desk();
  await failed("e1", { message: "no model for p1", file: "agents/scout.ts", line: 7 });
  await clock.advance(MINUTE);
  await failed("e2", { message: "no model for p2", tries: 3, file: "agents/scout.ts", line: 7 });
  await failed("e3", { message: "the disk is full", pattern: "the disk is full" });
  const { failing, failingCounts } = await on(showFailing(store, SCOUT));
  expect(failingCounts).toEqual({ events: 3, parked: 0, groups: 2 });
  expect(failing.find(({ count }) => count === 2)).toMatchObject({
    handle: "scout",
    what: "post.created",
    message: "no model for p2",
    id: "e2",
    nextAt: clock.now(),
    file: "agents/scout.ts",
    hint: "mend it there, then: retinue retry scout",
  });
  expect(failing.find(({ count }) => count === 1)?.hint).toBe("mend what it needs, then: retinue retry scout");
});

test("nothing that fails is no group", async () => {
  const { store, on, event } = desk();
  await event("e1");
  expect(await on(showFailing(store))).toEqual({ failing: [], failingCounts: { events: 0, parked: 0, groups: 0 } });
});

test("a reason names the event if it is one, and the kind if there are more", () => {
  const group = {
    handle: "scout",
    what: "post.created",
    code: "x",
    message: "no",
    pattern: "no",
    parked: 0,
    tries: 2,
    failedAt: 9,
    id: "e1",
    hint: "",
  };
  expect(reasonOfFailing({ ...group, count: 1 })).toEqual({ rule: "handler_failed", message: "e1: no", tries: 2, since: 9 });
  expect(reasonOfFailing({ ...group, count: 3, nextAt: 20, file: "a.ts", line: 1 })).toMatchObject({
    message: "3 post.created: no",
    until: 20,
    file: "a.ts",
  });
});

test("a failing event says its stack and its next try; a parked one that only a person moves it on", () => {
  expect(explainEvent(row({ failure, notBefore: 50 }))).toMatchObject({
    state: "failing",
    reasons: [{ rule: "handler_failed", message: "no model", tries: 2, since: 9, until: 50, stack: "at it" }],
    hint: "mend it there, then: retinue retry post.created:p1",
  });
  const parked = explainEvent(row({ state: "parked", failure, notBefore: 50 }), "p1 --as scout");
  expect([parked.state, parked.hint, parked.reasons[0]?.until]).toEqual([
    "parked",
    "mend it there, then: retinue retry p1 --as scout",
    undefined,
  ]);
  expect(explainEvent(row({ state: "parked", note: "it crashed three times" }))).toMatchObject({
    reasons: [{ rule: "handler_failed", message: "it crashed three times" }],
    hint: "retinue retry post.created:p1",
  });
});

test("an event that is done or waits has no remedy", () => {
  expect(explainEvent(row({ state: "done", doneAt: 30, failure }))).toEqual({
    id: "post.created:p1",
    about: "event",
    handle: "scout",
    what: "post.created",
    state: "done",
    since: 30,
    reasons: [],
  });
  expect(explainEvent(row({ note: "the quota is used", notBefore: 80 })).reasons).toEqual([
    { rule: "suspended", message: "the quota is used", until: 80 },
  ]);
});

test("a receipt says what was told of its action, and nothing of another shape", () => {
  const told = (kind: string, payload: EventRow["payload"]) => explainEvent(row({ state: "done", kind, payload })).reasons;
  expect(told("job.rejected", { verdict: "too short" })).toEqual([{ rule: "rejected", message: "turned down: too short" }]);
  expect(told("intent.refused", { code: "own_post", message: "no" })).toEqual([{ rule: "own_post", message: "no" }]);
  expect(told("intent.refused", { message: "no" })).toEqual([{ rule: "intent.refused", message: "no" }]);
  expect([told("post.created", { message: "no" }), told("job.rejected", { verdict: 5 }), told("intent.refused", ["no"])]).toEqual([
    [],
    [],
    [],
  ]);
});
