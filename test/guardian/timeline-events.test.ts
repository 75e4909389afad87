/** The timeline for display: events with their actions and requests, by pages, with texts of others cut. */
import { expect, test } from "vitest";
import { asIntentId } from "../../src/core/ids.ts";
import { DAY, MINUTE } from "../../src/core/units.ts";
import { MAX_EVENTS } from "../../src/guardian/timeline-events.ts";
import { admit, endOf, withKey } from "../harness/admitted.ts";
import { decide } from "../harness/builders.ts";
import { desk } from "../harness/guardian-over-store.ts";
import { propose } from "../harness/proposed.ts";

test("an event has its words, its state and its action, and the action its requests", async () => {
  const at = desk();
  const { clock, store, on, guardian } = at;
  const now = clock.now();
  await withKey(at);
  const [intent] = await on(decide(store, now, [{ id: asIntentId("a"), target: "p1" }]));
  if (intent === undefined) throw new Error("it is stored");
  const change = { state: "confirmed", createdRef: "r1" } as const;
  store.complete(endOf(at, await admit(at, intent), { status: 201, intent: { seq: intent.seq, id: intent.id, change } }));
  await at.event("e1", { payload: { id: "p1", authorHandle: "amy", title: "A question", content: "How?", raw: {} } });
  const { entries, total } = await on(guardian.events({ handle: "scout", limit: 10 }));
  expect(total).toBe(2);
  expect(entries).toMatchObject([
    { id: "e1", at: now, state: "ready", author: "amy", title: "A question", text: "How?", steps: [], stepCount: 0, actions: [] },
    {
      state: "done",
      doneAt: now,
      actions: [
        {
          id: "a",
          operation: "posts.create",
          target: "p1",
          state: "confirmed",
          created: "r1",
          words: "post 0",
          attemptCount: 1,
          attempts: [{ at: now, endedAt: now, outcome: "confirmed", status: 201 }],
        },
      ],
    },
  ]);
});

test("a failed event has its failure and its next try, and an action that nobody answered has expired", async () => {
  const at = desk();
  const { clock, store, on, guardian } = at;
  await on(propose(store, { id: "c", input: { content: "may I?" }, now: clock.now(), expiresAt: clock.now() + DAY }));
  await clock.advance(2 * DAY);
  await at.failed("e1");
  const { entries } = await on(guardian.events({ handle: "scout", limit: 10 }));
  const failure = { at: clock.now(), code: "handler_threw", message: "no model", tries: 1 };
  expect(entries[0]).toMatchObject({ state: "ready", note: "no model", nextAt: clock.now() + MINUTE, failure });
  expect(entries[1]?.actions).toMatchObject([{ state: "cancelled", code: "approval_expired", attempts: [], attemptCount: 0 }]);
});

test("a page has at most a hundred events, and names where the next begins", async () => {
  const at = desk();
  const { on, guardian } = at;
  for (let n = 0; n <= MAX_EVENTS; n++) await at.event(`e${n}`);
  const first = await on(guardian.events({ handle: "scout", limit: 1_000 }));
  expect([first.entries.length, first.total, first.next]).toEqual([MAX_EVENTS, MAX_EVENTS + 1, first.entries.at(-1)?.seq]);
  const rest = await on(guardian.events({ handle: "scout", limit: 10, before: first.next ?? 0 }));
  expect([rest.entries.map(({ id }) => id), rest.next]).toEqual([["e0"], undefined]);
  expect(await on(guardian.events({ handle: "nobody", limit: 1 }))).toEqual({ entries: [], total: 0 });
});

test("usage is listed by hour", async () => {
  const at = desk();
  await withKey(at);
  at.store.complete(endOf(at, await admit(at)));
  const hour = { at: at.clock.now(), requests: 1, late: { count: 0, maxMs: 0 }, money: {} };
  expect(await at.on(at.guardian.usage({ handle: "scout", since: 0 }))).toEqual({ hours: [hour] });
  expect(await at.on(at.guardian.usage({ since: at.clock.now() + DAY }))).toEqual({ hours: [] });
});
