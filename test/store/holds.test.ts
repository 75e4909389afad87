/** The port of money outside the network: a call of a model is paid from the accounts that actions are paid from, and before it is made. */
import { expect, test } from "vitest";
import { MINUTE, microDollars, type Money } from "../../src/core/units.ts";
import { decideHold, type HoldVerdict } from "../../src/limits/hold-decision.ts";
import { GUARDIAN, scopeOf, type Cap } from "../../src/limits/spending.ts";
import { DEFAULT_RETENTION } from "../../src/runtime/retention.ts";
import { EVERYONE, type Stop } from "../../src/limits/verdict.ts";
import { desk, SCOUT, type Desk } from "../harness/guardian-over-store.ts";
import { spentBy } from "../harness/spent-by.ts";

const dayCap = (scope: Cap["scope"], micros: number): Cap => ({ scope, window: "day", money: microDollars(micros) });
const CAPS = [dayCap(scopeOf(SCOUT), 100), dayCap(GUARDIAN, 150)];
const CALL_MS = 5 * MINUTE;

function hold(
  { store, clock, on }: Desk,
  id: string,
  money: Money,
  {
    caps = CAPS,
    halt,
    specialist = SCOUT,
  }: { readonly caps?: readonly Cap[]; readonly halt?: Stop; readonly specialist?: typeof SCOUT } = {},
): Promise<HoldVerdict> {
  const now = clock.now();
  return on(store.openHold({ hold: { id, specialist, money, expiresAt: now + CALL_MS }, now, known: { caps, halt } }, decideHold));
}

const spent = async ({ store, clock, on }: Desk): Promise<readonly number[]> => {
  const [usd] = await on(spentBy(store, SCOUT, clock.now()));
  return [usd?.heldMicros ?? 0, usd?.postedMicros ?? 0];
};

test("the worst case is held, and the actual use settles it once", async () => {
  const here = desk();
  expect(await hold(here, "m1", microDollars(60))).toEqual({ kind: "hold" });
  expect(await spent(here)).toEqual([60, 0]);
  const end = { id: "m1", actual: 7, caps: CAPS, now: here.clock.now() };
  here.store.endHold(end);
  here.store.endHold(end);
  expect(await spent(here)).toEqual([0, 7]);
});

test("no two calls together pass a cap, and what was not used is free again", async () => {
  const here = desk();
  await hold(here, "m1", microDollars(60));
  expect(await hold(here, "m2", microDollars(60))).toMatchObject({ kind: "wait", rule: "spend_cap", until: expect.any(Number) as number });
  here.store.endHold({ id: "m1", actual: 10, caps: CAPS, now: here.clock.now() });
  expect(await hold(here, "m2", microDollars(60))).toEqual({ kind: "hold" });
  expect(await hold(here, "m3", microDollars(101))).toMatchObject({ kind: "refuse", code: "spend_over_cap" });
});

test("use that nobody tells, and a call whose process died, count in full", async () => {
  const here = desk();
  await hold(here, "m1", microDollars(30));
  here.store.endHold({ id: "m1", actual: undefined, caps: CAPS, now: here.clock.now() });
  await hold(here, "m2", microDollars(20));
  await here.clock.advance(CALL_MS + 1);
  await here.on(here.store.prune(here.clock.now(), DEFAULT_RETENTION));
  expect(await spent(here)).toEqual([0, 50]);
});

test("a cost above the hold is spent in full and freezes the account", async () => {
  const here = desk();
  await hold(here, "m1", microDollars(10));
  here.store.endHold({ id: "m1", actual: 25, caps: CAPS, now: here.clock.now() });
  expect(await spent(here)).toEqual([0, 25]);
  expect(await hold(here, "m2", microDollars(1))).toMatchObject({ kind: "wait", rule: "spend_frozen", until: undefined });
});

test("no call is paid while everything is halted, or the specialist paused, also one that is free", async () => {
  const here = desk();
  const halt: Stop = { scope: EVERYONE, since: 0, reason: "look first" };
  expect(await hold(here, "m1", microDollars(0), { halt })).toMatchObject({ kind: "wait", rule: "halted" });
  await here.on(here.store.stop("halt", EVERYONE, "look first", here.clock.now()));
  expect(await hold(here, "m1", microDollars(0))).toMatchObject({ kind: "wait", rule: "halted" });
  await here.on(here.store.lift("halt", EVERYONE));
  await here.on(here.store.stop("pause", SCOUT, "rest", here.clock.now()));
  expect(await hold(here, "m1", microDollars(1))).toMatchObject({ kind: "wait", rule: "paused" });
  expect(await spent(here)).toEqual([0, 0]);
});

test("nothing is held for a free call, and nothing is spent where no cap allows it", async () => {
  const here = desk();
  expect(await hold(here, "m1", microDollars(0), { caps: [] })).toEqual({ kind: "hold" });
  expect(await hold(here, "m2", microDollars(1), { caps: [] })).toMatchObject({ kind: "refuse", code: "spend_no_cap" });
  expect(await spent(here)).toEqual([0, 0]);
});
