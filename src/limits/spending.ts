/**
 * The spending ledger: whole millionths, held at the highest price before anything is sent, captured at the actual cost.
 *
 * An account is one scope (a specialist, or the Guardian) in one currency. Its rows are the spent and held amounts per window. A cap is
 * checked on every account of the chain, specialist first, in the admission itself, so posted plus held amounts never exceed a cap. Only an
 * actual cost above its hold can: it is posted in full, since it was spent, and the account is frozen.
 */
import type { Handle } from "../core/ids.ts";
import { DAY, HOUR, MINUTE, showMoney, type Micros, type Money } from "../core/units.ts";
import { calendarSpan } from "./zone.ts";

/** Owner of an account: `specialist:<handle>`, or the Guardian, whose account counts every specialist's spending too. */
export type Scope = `specialist:${string}` | "guardian";
export const GUARDIAN: Scope = "guardian";

export function scopeOf(handle: Handle): Scope {
  return `specialist:${handle}`;
}

/** The owner for display: a handle, or `everyone` for the shared account. */
export function ownerOf(scope: Scope): string {
  return scope === GUARDIAN ? "everyone" : scope.slice("specialist:".length);
}

/** Calendar windows follow the Guardian's time zone; rolling ones trail the present, so nobody spends twice around midnight. */
export const SPEND_WINDOWS = ["hour", "day", "month", "total", "rolling-hour", "rolling-day", "rolling-month"] as const;
export type SpendWindow = (typeof SPEND_WINDOWS)[number];

/** One cap: on a single action, or on the sum spent and held in a window. */
export interface Cap {
  readonly scope: Scope;
  readonly window: "action" | SpendWindow;
  readonly money: Money;
}

/** Price of an operation, by the profile. `unknown` means refusal, never zero. */
export type Price = { readonly kind: "free" } | { readonly kind: "priced"; readonly worst: Money } | { readonly kind: "unknown" };

/** One row of a window: takes money while `start <= now < until`, counts until `ends`. */
export interface SpendRow {
  readonly start: number;
  readonly until: number;
  readonly ends: number;
  held: Micros;
  posted: Micros;
}

/** Since when an account spends nothing, and why. A person ends it. */
export interface Freeze {
  readonly since: number;
  readonly reason: string;
}

export interface Account {
  readonly scope: Scope;
  readonly currency: string;
  /** By window, oldest first. */
  readonly rows: { readonly [window in SpendWindow]: SpendRow[] };
  frozen: Freeze | undefined;
}

export function newAccount(scope: Scope, currency: string): Account {
  return {
    scope,
    currency,
    rows: { hour: [], day: [], month: [], total: [], "rolling-hour": [], "rolling-day": [], "rolling-month": [] },
    frozen: undefined,
  };
}

/** Length and cell of the rolling windows. A rolling month has 30 days. */
const ROLLING: { readonly [window in SpendWindow]?: { readonly lengthMs: number; readonly cellMs: number } } = {
  "rolling-hour": { lengthMs: HOUR, cellMs: MINUTE },
  "rolling-day": { lengthMs: DAY, cellMs: 15 * MINUTE },
  "rolling-month": { lengthMs: 30 * DAY, cellMs: 6 * HOUR },
};

/** The latest time that SQLite and `Date` both support. */
export const END_OF_TIME = 8.64e15;

/** Returns the row that takes money now. An opened row is used to its end, so a change of zone takes effect with the next one. */
export function openRow(account: Account, window: SpendWindow, zone: string, now: number): SpendRow {
  const rows = account.rows[window];
  const last = rows.at(-1);
  if (last !== undefined && now < last.until) return last;
  const row = { ...rowAt(window, zone, now, last?.until ?? 0), held: 0, posted: 0 };
  rows.push(row);
  return row;
}

function rowAt(window: SpendWindow, zone: string, now: number, notBefore: number): Pick<SpendRow, "start" | "until" | "ends"> {
  if (window === "total") return { start: 0, until: END_OF_TIME, ends: END_OF_TIME };
  const rolling = ROLLING[window];
  if (rolling !== undefined) {
    const start = Math.floor(now / rolling.cellMs) * rolling.cellMs;
    return { start, until: start + rolling.cellMs, ends: start + rolling.cellMs + rolling.lengthMs };
  }
  const span = calendarSpan(window === "hour" || window === "day" ? window : "month", zone, now);
  return { start: Math.max(span.start, notBefore), until: span.end, ends: span.end };
}

/** The sum spent and held in a window, and the time at which its oldest part expires. */
export function spentIn(
  account: Account,
  window: SpendWindow,
  now: number,
): { readonly micros: Micros; readonly rows: readonly SpendRow[] } {
  const rows = account.rows[window];
  while (rows[0] !== undefined && rows[0].ends <= now) rows.shift();
  let micros = 0;
  for (const row of rows) micros += row.held + row.posted;
  return { micros, rows };
}

export type Holdable =
  | { readonly ok: true }
  | {
      readonly ok: false;
      /** `spend_cap` passes (a window moves on, a hold is released); the others need the Guardian. */
      readonly code: "spend_cap" | "spend_total" | "spend_over_cap" | "spend_no_cap" | "spend_frozen";
      readonly scope: Scope;
      readonly window: "action" | SpendWindow | undefined;
      readonly message: string;
      /** Time at which a window frees enough; undefined if none is known. */
      readonly until: number | undefined;
      /** Time since which an account is frozen. */
      readonly since: number | undefined;
    };

/** Decides if `amount` may be held on every account of the chain. Money needs a cap: without one for its currency nothing is spent. */
export function holdable(accounts: readonly Account[], caps: readonly Cap[], amount: Money, now: number): Holdable {
  if (!Number.isSafeInteger(amount.micros) || amount.micros < 0)
    return refusal("spend_over_cap", accounts[0]?.scope ?? GUARDIAN, undefined, `a price of ${amount.micros} millionths is not an amount`);
  if (amount.micros === 0) return { ok: true };
  const mine = caps.filter((cap) => cap.money.currency === amount.currency && accounts.some(({ scope }) => scope === cap.scope));
  if (!mine.some(({ window }) => window !== "action"))
    return refusal(
      "spend_no_cap",
      accounts[0]?.scope ?? GUARDIAN,
      undefined,
      `no cap allows spending ${amount.currency}: set one under spend`,
    );
  for (const account of accounts)
    if (account.frozen !== undefined)
      return {
        ...refusal("spend_frozen", account.scope, undefined, freezeReason(account.scope, amount.currency, account.frozen.reason)),
        since: account.frozen.since,
      };
  let wait: Holdable = { ok: true };
  for (const cap of mine) {
    const account = accounts.find(({ scope }) => scope === cap.scope);
    if (account === undefined) continue;
    const checked = underCap(account, cap, amount, now);
    if (checked.ok) continue;
    if (checked.code !== "spend_cap") return checked;
    if (wait.ok || (checked.until ?? Infinity) > (wait.until ?? Infinity)) wait = checked;
  }
  return wait;
}

/** True if more is spent and held in the account than one of its own caps permits. */
export function overCap(account: Account, caps: readonly Cap[], now: number): boolean {
  return caps.some(
    ({ scope, window, money }) =>
      scope === account.scope &&
      money.currency === account.currency &&
      window !== "action" &&
      spentIn(account, window, now).micros > money.micros,
  );
}

/** The reason for a freeze, for display. */
export function freezeReason(scope: Scope, currency: string, reason: string): string {
  return `${ownerOf(scope)} may spend no ${currency} until you unfreeze it: ${reason}`;
}

/** The reason of an account that is frozen because something cost more than was held for it. */
export function overrunReason(id: string, currency: string, { posted, held }: { readonly posted: Micros; readonly held: Micros }): string {
  const [cost, aside] = [posted, held].map((micros) => showMoney({ currency, micros }));
  return `${id} cost ${cost}, with a hold of ${aside}`;
}

const WORDS: { readonly [window in Cap["window"]]: string } = {
  action: "for one action",
  hour: "in this hour",
  day: "on this day",
  month: "in this month",
  total: "in all",
  "rolling-hour": "in any hour",
  "rolling-day": "in any 24 hours",
  "rolling-month": "in any 30 days",
};

function underCap(account: Account, cap: Cap, amount: Money, now: number): Holdable {
  const { window, money, scope } = cap;
  if (amount.micros > money.micros)
    return refusal("spend_over_cap", scope, window, `${showMoney(amount)} is more than the ${showMoney(money)} allowed ${WORDS[window]}`);
  if (window === "action") return { ok: true };
  const { micros, rows } = spentIn(account, window, now);
  const room = money.micros - micros;
  if (amount.micros <= room) return { ok: true };
  const message = `${showMoney({ ...money, micros })} of the ${showMoney(money)} allowed ${WORDS[window]} are spent or held`;
  if (window !== "total") return { ...refusal("spend_cap", scope, window, message), until: freeAt(rows, amount.micros - room) };
  // Spent totals never return; held ones may.
  const held = rows.reduce((sum, row) => sum + row.held, 0);
  return refusal(amount.micros <= room + held ? "spend_cap" : "spend_total", scope, window, message);
}

/** Time at which rows worth at least `missing` have expired. */
function freeAt(rows: readonly SpendRow[], missing: Micros): number | undefined {
  let freed = 0;
  for (const row of rows) {
    freed += row.held + row.posted;
    if (freed >= missing) return row.ends;
  }
  return undefined;
}

type Refusal = Extract<Holdable, { readonly ok: false }>;

function refusal(code: Refusal["code"], scope: Scope, window: Refusal["window"], message: string): Refusal {
  return { ok: false, code, scope, window, message, until: undefined, since: undefined };
}

/** The end of a hold. */
export interface Capture {
  /** Added to the posted amount. Exceeds the hold if the cost did. */
  readonly posted: Micros;
  /** Subtracted from the held amount: always the whole hold. */
  readonly released: Micros;
  readonly overrun: Micros;
}

/** Actual cost of a hold; `undefined` means unknown, which counts as all of it. Proven absence costs 0. */
export function captureOf(held: Micros, actual: Micros | undefined): Capture {
  const known = actual !== undefined && Number.isSafeInteger(actual) && actual >= 0 ? actual : held;
  return { posted: known, released: held, overrun: Math.max(0, known - held) };
}
