/** Money: held at its worst, never over a cap, settled to what it cost, and books that balance. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { asHandle } from "../../src/core/ids.ts";
import { credits, DAY, HOUR, MINUTE, type Money } from "../../src/core/units.ts";
import { GUARDIAN, holdable, newAccount, openRow, scopeOf, captureOf, spentIn, type Cap } from "../../src/limits/spending.ts";
import { MONEY_KEPT_MS } from "../../src/limits/row-lifetimes.ts";
import { cap, limitTables, openTables, SCOUT, type TestTables } from "../harness/limit-tables.ts";

const T0 = Date.parse("2026-03-10T12:00Z");
const MINE = scopeOf(SCOUT);
const BOTH = [MINE, GUARDIAN] as const;

/** Checks and holds as an admission does; true where it was allowed. */
function hold(tables: TestTables, id: string, money: Money, now: number, caps: readonly Cap[]): boolean {
  const accounts = BOTH.map((scope) => tables.spending.account(scope, money.currency, now));
  if (!holdable(accounts, caps, money, now).ok) return false;
  tables.spending.hold({ id, specialist: SCOUT, scopes: BOTH, money, expiresAt: now + DAY }, now);
  return true;
}

const why = (tables: TestTables, money: Money, now: number, caps: readonly Cap[]) =>
  holdable(
    BOTH.map((scope) => tables.spending.account(scope, money.currency, now)),
    caps,
    money,
    now,
  );

describe("caps", () => {
  test("held money counts like spent money, on the specialist and on the Guardian", () => {
    const tables = openTables();
    const caps = [cap(MINE, "day", 10), cap(GUARDIAN, "day", 15)];
    expect(hold(tables, "a", credits(6), T0, caps)).toBe(true);
    expect(hold(tables, "b", credits(5), T0, caps)).toBe(false);
    expect(hold(tables, "c", credits(4), T0, caps)).toBe(true);
    tables.spending.settle("a", credits(1).micros, T0);
    expect(hold(tables, "d", credits(5), T0, caps)).toBe(true);
    expect(why(tables, credits(1), T0, caps)).toMatchObject({ ok: false, code: "spend_cap", scope: MINE, window: "day" });
  });

  test.each([
    ["hour", T0 + HOUR],
    ["day", Date.parse("2026-03-11T00:00Z")],
    ["month", Date.parse("2026-04-01T00:00Z")],
    ["rolling-hour", T0 + HOUR + MINUTE],
    ["rolling-day", T0 + DAY + 15 * MINUTE],
    ["rolling-month", T0 + 30 * DAY + 6 * HOUR],
  ] as const)("a full %s says when it frees, and then it does", (window, until) => {
    const tables = openTables();
    const caps = [cap(MINE, window, 3)];
    expect(hold(tables, "a", credits(3), T0, caps)).toBe(true);
    tables.spending.settle("a", credits(3).micros, T0 + 1);
    expect(why(tables, credits(1), T0 + 2, caps)).toMatchObject({ code: "spend_cap", window, until });
    expect(why(tables, credits(1), until - 1, caps).ok).toBe(false);
    expect(why(tables, credits(1), until, caps).ok).toBe(true);
  });

  test("a rolling day is not fooled by midnight", () => {
    const tables = openTables();
    const late = Date.parse("2026-03-10T23:59Z");
    const caps = [cap(MINE, "day", 5), cap(MINE, "rolling-day", 5)];
    expect(hold(tables, "a", credits(5), late, caps)).toBe(true);
    expect(why(tables, credits(5), late + 2 * MINUTE, caps)).toMatchObject({ window: "rolling-day" });
  });

  test("a price above every cap is refused for good; a total that is only held may come back, a spent one does not", () => {
    const tables = openTables();
    expect(why(tables, credits(6), T0, [cap(MINE, "action", 5), cap(MINE, "day", 50)])).toMatchObject({
      code: "spend_over_cap",
      window: "action",
      until: undefined,
    });
    expect(hold(tables, "a", credits(2), T0, [cap(MINE, "total", 2)])).toBe(true);
    expect(why(tables, credits(1), T0, [cap(MINE, "total", 2)])).toMatchObject({ code: "spend_cap", window: "total", until: undefined });
    tables.spending.settle("a", credits(2).micros, T0);
    expect(why(tables, credits(1), T0, [cap(MINE, "total", 2)])).toMatchObject({ code: "spend_total", window: "total" });
  });

  test("money of a currency without a cap is not spent at all", () => {
    const tables = openTables();
    expect(why(tables, { currency: "usd", micros: 1 }, T0, [cap(MINE, "day", 5)])).toMatchObject({ code: "spend_no_cap" });
    expect(why(tables, credits(1), T0, [cap(MINE, "action", 5)])).toMatchObject({ code: "spend_no_cap" });
    expect(why(tables, credits(1), T0, [cap(scopeOf(asHandle("other")), "day", 5)])).toMatchObject({ code: "spend_no_cap" });
  });

  test.each([Number.NaN, -1, 0.5, Infinity])("%d is no amount", (micros) => {
    expect(why(openTables(), { currency: "credits", micros }, T0, [cap(MINE, "day", 5)]).ok).toBe(false);
  });

  test("the Guardian's day has 23 hours when the clock goes forward, and a new zone takes effect with the next window", () => {
    const berlin = newAccount(MINE, "credits");
    const row = openRow(berlin, "day", "Europe/Berlin", Date.parse("2026-03-29T10:00Z"));
    expect(row.ends - row.start).toBe(23 * HOUR);
    row.posted += 5;
    expect(openRow(berlin, "day", "Asia/Tokyo", Date.parse("2026-03-29T20:00Z"))).toBe(row);
    const next = openRow(berlin, "day", "Asia/Tokyo", Date.parse("2026-03-29T22:00Z"));
    expect(next.start).toBe(row.ends);
    expect(spentIn(berlin, "day", Date.parse("2026-03-29T22:00Z")).micros).toBe(0);
  });
});

describe("settling", () => {
  test("proven absence releases, an unknown price counts as all of it, and a hold is settled once", () => {
    const tables = openTables();
    const caps = [cap(MINE, "day", 9)];
    for (const id of ["a", "b"]) hold(tables, id, credits(4), T0, caps);
    tables.spending.settle("a", 0, T0);
    tables.spending.settle("b", undefined, T0);
    expect(tables.spending.settle("b", 0, T0)).toBeUndefined();
    expect(tables.spending.find("a")).toMatchObject({ state: "released", posted: 0 });
    expect(tables.spending.find("b")).toMatchObject({ state: "posted", posted: credits(4).micros });
    expect(tables.spending.balances()).toMatchObject([
      { scope: GUARDIAN, held: 0, posted: credits(4).micros },
      { scope: MINE, held: 0, posted: credits(4).micros },
    ]);
  });

  test("a cost above its hold is posted in full and freezes the specialist until the Guardian unfreezes it", () => {
    const tables = openTables();
    const caps = [cap(MINE, "day", 20), cap(GUARDIAN, "day", 100)];
    hold(tables, "a", credits(4), T0, caps);
    expect(tables.spending.settle("a", credits(9).micros, T0, caps)).toMatchObject({
      posted: credits(9).micros,
      overrun: credits(5).micros,
    });
    expect(why(tables, credits(1), T0, caps)).toMatchObject({ code: "spend_frozen", scope: MINE });
    const after = limitTables(tables.db);
    expect(after.spending.account(MINE, "credits", T0).frozen).toBeDefined();
    expect(after.spending.account(GUARDIAN, "credits", T0).frozen).toBeUndefined();
    expect(tables.spending.frozen()).toEqual([
      { scope: MINE, currency: "credits", since: T0, reason: "a cost 9 credits, with a hold of 4 credits" },
    ]);
    expect(tables.spending.unfreeze(MINE, { by: "ann", reason: "a new fee" }, T0 + 1)).toEqual(["credits"]);
    expect(tables.spending.unfreeze(MINE, { by: "ann", reason: "again" }, T0 + 2)).toEqual([]);
    expect(why(tables, credits(1), T0, caps).ok).toBe(true);
    const said = tables.db
      .prepare("SELECT kind, at, said_by, reason, held, posted FROM spend_entry WHERE said_by IS NOT NULL ORDER BY seq")
      .all();
    expect(said.map((row) => ({ ...row }))).toEqual([
      { kind: "freeze", at: T0, said_by: "retinue", reason: "a cost 9 credits, with a hold of 4 credits", held: 0, posted: 0 },
      { kind: "thaw", at: T0 + 1, said_by: "ann", reason: "a new fee", held: 0, posted: 0 },
    ]);
    expect(tables.spending.audit()).toEqual([]);
  });

  test("a cost without a hold is posted, and freezes the specialist", () => {
    const tables = openTables();
    const paid = { money: credits(2), caps: [cap(MINE, "day", 20)] };
    tables.spending.pay("a", SCOUT, paid, T0);
    expect(tables.spending.balances()).toMatchObject([
      { scope: GUARDIAN, held: 0, posted: credits(2).micros },
      { scope: MINE, held: 0, posted: credits(2).micros },
    ]);
    expect(tables.spending.frozen()).toMatchObject([{ scope: MINE, reason: "a cost 2 credits, with a hold of 0 credits" }]);
    expect(tables.spending.audit()).toEqual([]);
  });

  test("a cost below its hold gives the rest back", () => {
    const tables = openTables();
    hold(tables, "a", credits(4), T0, [cap(MINE, "day", 9)]);
    tables.spending.pay("a", SCOUT, { money: credits(3), caps: [] }, T0);
    expect(tables.spending.find("a")).toMatchObject({ state: "posted", posted: credits(3).micros });
    expect(tables.spending.frozen()).toEqual([]);
    expect(tables.spending.audit()).toEqual([]);
  });

  test("an overrun that passes the Guardian's cap freezes the Guardian's account too", () => {
    const tables = openTables();
    const caps = [cap(MINE, "day", 20), cap(GUARDIAN, "day", 5)];
    hold(tables, "a", credits(4), T0, caps);
    tables.spending.settle("a", credits(9).micros, T0, caps);
    expect(tables.spending.account(GUARDIAN, "credits", T0).frozen).toBeDefined();
  });

  test("an action in doubt stays held, and counts as spent once it expires", () => {
    const tables = openTables();
    hold(tables, "a", credits(4), T0, [cap(MINE, "day", 9)]);
    expect(tables.spending.expire(T0 + DAY - 1)).toBe(0);
    expect(tables.spending.expire(T0 + DAY)).toBe(1);
    expect(tables.spending.find("a")).toMatchObject({ state: "expired", posted: credits(4).micros });
  });

  test("money is set aside once per intent", () => {
    const tables = openTables();
    const caps = [cap(MINE, "day", 9)];
    hold(tables, "a", credits(1), T0, caps);
    expect(() => hold(tables, "a", credits(1), T0, caps)).toThrow(expect.objectContaining({ code: "hold_exists" }));
  });

  test.each([
    [5, 3, { posted: 3, released: 5, overrun: 0 }],
    [5, 8, { posted: 8, released: 5, overrun: 3 }],
    [5, undefined, { posted: 5, released: 5, overrun: 0 }],
    [5, Number.NaN, { posted: 5, released: 5, overrun: 0 }],
    [5, -1, { posted: 5, released: 5, overrun: 0 }],
  ])("held %s, cost %s", (held, actual, expected) => {
    expect(captureOf(held, actual)).toEqual(expected);
  });
});

test("in any history no cap is passed, entries sum up to balances, and a restart changes nothing", () => {
  const step = fc.record({
    kind: fc.constantFrom("hold", "settle", "expire", "forget", "wait"),
    amount: fc.integer({ min: 1, max: 6 }),
    pick: fc.nat(9),
    wait: fc.integer({ min: 0, max: 20 * HOUR }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 60 }), (steps) => {
      const tables = openTables("Europe/Berlin");
      const caps = [
        cap(MINE, "hour", 8),
        cap(MINE, "day", 12),
        cap(MINE, "rolling-day", 12),
        cap(GUARDIAN, "day", 14),
        cap(GUARDIAN, "month", 40),
      ];
      const open: string[] = [];
      let now = T0;
      for (const [i, { kind, amount, pick, wait }] of steps.entries()) {
        if (kind === "wait") now += wait;
        else if (kind === "forget") tables.forget();
        else if (kind === "expire") tables.spending.expire(now);
        else if (kind === "settle")
          tables.spending.settle(open[pick % Math.max(1, open.length)] ?? "", credits(Math.min(amount, 1)).micros, now);
        else if (hold(tables, `i${i}`, credits(amount), now, caps)) open.push(`i${i}`);
        const again = limitTables(tables.db, "Europe/Berlin");
        for (const { scope, window, money } of caps) {
          const live = spentIn(tables.spending.account(scope, "credits", now), window === "action" ? "total" : window, now).micros;
          expect(live).toBeLessThanOrEqual(money.micros);
          expect(spentIn(again.spending.account(scope, "credits", now), window === "action" ? "total" : window, now).micros).toBe(live);
        }
        expect(tables.spending.audit()).toEqual([]);
      }
      tables.close();
    }),
    { numRuns: 40 },
  );
});

test("in any history with overruns the books balance, a frozen account holds nothing, and a restart changes nothing", () => {
  const step = fc.record({
    kind: fc.constantFrom("hold", "pay", "unheld", "thaw", "thaw all", "forget", "prune"),
    amount: fc.integer({ min: 0, max: 9 }),
    pick: fc.nat(9),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const tables = openTables();
      const caps = [cap(MINE, "total", 60), cap(GUARDIAN, "day", 12)];
      const open: string[] = [];
      let spent = 0;
      for (const [i, { kind, amount, pick }] of steps.entries()) {
        const now = T0 + i * MINUTE;
        const wasFrozen = tables.spending.frozen().length > 0;
        let overran = false;
        let taken = false;
        const id = open[pick % Math.max(1, open.length)] ?? "";
        if (kind === "forget") tables.forget();
        else if (kind === "prune") tables.prune(now);
        else if (kind === "thaw") tables.spending.unfreeze(MINE, { by: "ann", reason: "looked" }, now);
        else if (kind === "thaw all") tables.spending.unfreeze(GUARDIAN, { by: "ann", reason: "looked" }, now);
        else if (kind === "unheld") {
          tables.spending.pay(`u${i}`, SCOUT, { money: credits(amount), caps }, now);
          spent += amount;
          overran = amount > 0;
        } else if (kind === "pay" && id !== "") {
          const held = tables.spending.find(id)?.money.micros ?? 0;
          tables.spending.pay(id, SCOUT, { money: credits(amount), caps }, now);
          open.splice(open.indexOf(id), 1);
          spent += amount;
          overran = credits(amount).micros > held;
        } else if (kind === "hold" && amount > 0) {
          taken = hold(tables, `i${i}`, credits(amount), now, caps);
          if (taken) open.push(`i${i}`);
        }
        const frozen = tables.spending.frozen().map(({ scope }) => scope);
        expect({ heldWhileFrozen: wasFrozen && taken, wentOn: overran && !frozen.includes(MINE) }).toEqual({
          heldWhileFrozen: false,
          wentOn: false,
        });
        expect(tables.spending.audit()).toEqual([]);
        for (const { posted } of tables.spending.balances()) expect(posted).toBe(credits(spent).micros);
        for (const scope of BOTH)
          expect(limitTables(tables.db).spending.account(scope, "credits", now)).toEqual(tables.spending.account(scope, "credits", now));
      }
      tables.close();
    }),
    { numRuns: 60 },
  );
});

test("the books still balance after old entries were carried into one sum", () => {
  const tables = openTables();
  const caps = [cap(MINE, "total", 1_000)];
  for (let i = 0; i < 40; i++) {
    hold(tables, `i${i}`, credits(2), T0 + i * MINUTE, caps);
    if (i !== 7) tables.spending.settle(`i${i}`, credits(1).micros, T0 + i * MINUTE);
  }
  const balances = tables.spending.balances();
  expect(tables.prune(T0 + MONEY_KEPT_MS + DAY)).toBeGreaterThan(100);
  expect(tables.spending.balances()).toEqual(balances);
  expect(tables.spending.audit()).toEqual([]);
  tables.spending.settle("i7", 0, T0 + MONEY_KEPT_MS + DAY);
  expect(tables.spending.audit()).toEqual([]);
});
