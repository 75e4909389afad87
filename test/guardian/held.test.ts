/** Waiting actions: seven of a kind are one line, under the rule that holds them, with until when if time ends it. */
import { expect, test } from "vitest";
import { MINUTE } from "../../src/core/units.ts";
import { heldText, showHeld, withHeld, type HeldShown } from "../../src/guardian/held.ts";
import type { Reason } from "../../src/guardian/explanation.ts";
import { asIntentId } from "../../src/core/ids.ts";
import { decide } from "../harness/builders.ts";
import { desk, SCOUT, type Desk } from "../harness/guardian-over-store.ts";
import { propose } from "../harness/proposed.ts";

const held = async (on: Desk["on"], store: Desk["store"], now: number) => (await on(store.overview(now))).get(SCOUT)?.held ?? [];

const group = (over: Partial<HeldShown> = {}): HeldShown => ({
  operation: "posts.create",
  rule: "quota_window",
  message: "the hour is full",
  count: 7,
  ...over,
});

test("actions are grouped by operation and rule: their own, that of their lane, or the Guardian's approval", async () => {
  const { clock, store, on } = desk();
  await on(
    decide(
      store,
      clock.now(),
      Array.from({ length: 3 }, (_, i) => ({ id: asIntentId(`a${i}`), conflictKey: `a${i}` })),
    ),
  );
  await on(propose(store, { id: "p1", input: { content: "x" }, now: clock.now() }));
  const until = clock.now() + MINUTE;
  const waits = [{ lane: "act", rule: "quota_window", message: "the hour is full", until }] as const;
  expect(showHeld(await held(on, store, clock.now()), waits, clock.now())).toEqual([
    { operation: "posts.create", rule: "quota_window", message: "the hour is full", count: 3, until },
    { operation: "posts.reply", rule: "approval_wanted", message: "the Guardian's approval", count: 1 },
  ]);
  expect(showHeld(await held(on, store, clock.now()), [], clock.now())).toHaveLength(1);
});

test("an action that was delayed itself says its own rule until its time, and that of its lane afterwards", async () => {
  const { clock, store, on } = desk();
  const [intent] = await on(decide(store, clock.now(), [{ id: asIntentId("a1") }]));
  const nextAt = clock.now() + MINUTE;
  const change = { state: "ready", nextAt, code: "spend_cap", message: "the day is spent" } as const;
  await on(store.moveIntent({ seq: intent?.seq ?? 0, by: "outbox", change, now: clock.now() }));
  const waits = [{ lane: "act", rule: "paused", message: "paused: rest", until: nextAt }] as const;
  expect(showHeld(await held(on, store, clock.now()), waits, clock.now())).toMatchObject([{ rule: "spend_cap", until: nextAt }]);
  await clock.advance(MINUTE);
  const [later] = showHeld(await held(on, store, clock.now()), waits, clock.now());
  expect([later?.rule, later?.until]).toEqual(["paused", undefined]);
});

test("a reason takes the actions that it holds, and those without a listed reason follow", () => {
  const reasons: readonly Reason[] = [
    { rule: "quota_window", message: "x" },
    { rule: "paused", message: "y" },
  ];
  const held = [
    group(),
    group({ operation: "posts.reply", count: 2 }),
    group({ rule: "spend_cap", message: "the day is spent", count: 1, until: 5 }),
  ];
  expect(withHeld(reasons, held)).toEqual([
    { rule: "quota_window", message: "x", held: "7 posts.create, 2 posts.reply" },
    { rule: "paused", message: "y" },
    { rule: "spend_cap", message: "1 posts.create waits: the day is spent", until: 5 },
  ]);
  expect(withHeld([], [])).toEqual([]);
});

test("one waits, and several wait", () => {
  expect([heldText(group({ count: 1 })), heldText(group())]).toEqual([
    "1 posts.create waits for quota_window",
    "7 posts.create wait for quota_window",
  ]);
});
