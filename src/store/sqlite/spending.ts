/** Accounts, holds and entries in SQLite. The caller owns the transaction. */
import type { DatabaseSync } from "node:sqlite";
import { Refused } from "../../core/errors.ts";
import { asHandle, type Handle } from "../../core/ids.ts";
import type { Micros } from "../../core/units.ts";
import { MONEY_KEPT_MS, PRUNE_BATCH } from "../../limits/row-lifetimes.ts";
import type { Hold, HoldRequest } from "../../limits/verdict.ts";
import {
  GUARDIAN,
  newAccount,
  openRow,
  overCap,
  overrunReason,
  scopeOf,
  captureOf,
  END_OF_TIME,
  SPEND_WINDOWS,
  type Account,
  type Cap,
  type Scope,
  type Capture,
  type Freeze,
  type SpendWindow,
} from "../../limits/spending.ts";
import type { Paid } from "../admission.ts";
import type { Frozen } from "../controls.ts";
import { OWN_NUMBERS, type Numbers } from "./numbers.ts";
import type { SharedMoney } from "./shared-money.ts";
import { scopeFrom, startsOf, stateOf, windowOf } from "./spend-columns.ts";

/** Accounts kept in memory; each has at most about 280 rows. */
const MAX_CACHED_ACCOUNTS = 4_000;

export interface Balance {
  readonly scope: Scope;
  readonly currency: string;
  readonly held: Micros;
  readonly posted: Micros;
}

export interface BookError extends Pick<Balance, "scope" | "currency"> {
  /** `held/posted`, as the sum of the entries. */
  readonly entries: string;
  /** `held/posted`, as the account's balance. */
  readonly balance: string;
}

export interface SpendingTableOptions {
  /** Default: this store has the Guardian's whole account. */
  readonly shared?: SharedMoney | undefined;
  /** The Guardian's IANA time zone, read for each new window. */
  readonly zone: () => string;
  /** Default: a store that one process has alone. */
  readonly numbers?: Numbers;
}

export class SpendingTable {
  readonly #sql: ReturnType<typeof statements>;
  readonly #zone: () => string;
  readonly #numbers: Numbers;
  readonly #shared: SharedMoney | undefined;
  readonly #cache = new Map<string, Account>();
  /** Number of open holds, once counted: most specialists never spend. */
  #open: number | undefined;

  constructor(db: DatabaseSync, options: SpendingTableOptions) {
    this.#sql = statements(db);
    this.#zone = options.zone;
    this.#numbers = options.numbers ?? OWN_NUMBERS;
    this.#shared = options.shared;
  }

  /** The accounts of the chain, specialist first, to be passed to `decide`. */
  chain(specialist: Handle, currency: string, now: number): readonly [Account, Account] {
    const shared = this.account(GUARDIAN, currency, now);
    return [this.account(scopeOf(specialist), currency, now), this.#shared?.view(shared, now) ?? shared];
  }

  /** The account of a scope in a currency, with its live rows. */
  account(scope: Scope, currency: string, now: number): Account {
    const name = `${scope}\n${currency}`;
    const hit = this.#cache.get(name);
    if (hit !== undefined) return hit;
    const made = newAccount(scope, currency);
    for (const row of this.#sql.rows.iterate(scope, currency, now))
      made.rows[windowOf(row["span"])].push({
        start: Number(row["start"]),
        until: Number(row["until"]),
        ends: Number(row["ends"]),
        held: Number(row["held"]),
        posted: Number(row["posted"]),
      });
    const frozen = this.#sql.frozen.get(scope, currency);
    if (frozen !== undefined) made.frozen = { since: Number(frozen["since"]), reason: String(frozen["reason"]) };
    if (this.#cache.size >= MAX_CACHED_ACCOUNTS) this.#cache.clear();
    this.#cache.set(name, made);
    return made;
  }

  /** Called after `decide` admitted, in the same transaction: holds money on every scope. Throws `Refused` (`hold_exists`). */
  hold({ id, specialist, scopes, money, expiresAt }: HoldRequest, now: number): void {
    if (this.#sql.find.get(id) !== undefined)
      throw new Refused("hold_exists", `money is held for ${id} already`, { hint: "a hold is taken once per intent" });
    const starts = scopes.map((scope): [Scope, number[]] => [scope, this.#add(scope, money.currency, money.micros, 0, now)]);
    if (this.#open !== undefined) this.#open++;
    this.#sql.hold.run(id, specialist, money.currency, money.micros, JSON.stringify(starts), now, expiresAt);
    for (const scope of scopes) this.#sql.entry.run(this.#numbers.row(), scope, money.currency, "hold", id, money.micros, 0, now);
  }

  find(id: string): Hold | undefined {
    const row = this.#sql.find.get(id);
    if (row === undefined) return undefined;
    return {
      id,
      specialist: asHandle(String(row["specialist"])),
      money: { currency: String(row["currency"]), micros: Number(row["amount"]) },
      state: stateOf(row["state"]),
      posted: Number(row["posted"]),
      expiresAt: Number(row["expires_at"]),
    };
  }

  /**
   * Ends a hold: `actual` is the cost, 0 if the action provably did not happen, undefined if nobody knows (all of it counts). A cost above
   * the hold is posted in full and freezes the specialist's account, the Guardian's too if it exceeded one of `caps`. Returns undefined if
   * there is no open hold.
   */
  settle(id: string, actual: Micros | undefined, now: number, caps: readonly Cap[] = []): Capture | undefined {
    return this.#finish(id, actual, now, { expired: false, caps });
  }

  /**
   * Posts an action that happened: its hold is captured at the cost, or in full if none is stated. A cost without a hold is an overrun like
   * any other. Returns the capture, if there was a hold.
   */
  pay(id: string, specialist: Handle, paid: Paid | undefined, now: number): Capture | undefined {
    const settled = this.settle(id, paid?.money.micros, now, paid?.caps);
    if (settled !== undefined || paid === undefined || paid.money.micros === 0) return settled;
    if (this.#sql.find.get(id) !== undefined) return undefined; // it expired, and counts in full
    const { money, caps } = paid;
    const scopes = [scopeOf(specialist), GUARDIAN];
    this.correct(scopes, money, id, now);
    this.#shared?.ended({ id, currency: money.currency, released: 0, posted: money.micros, overrun: money.micros, passed: [] });
    for (const scope of scopes) this.#overrun(this.account(scope, money.currency, now), id, { held: 0, posted: money.micros }, caps, now);
    return undefined;
  }

  /** True for an open hold without an end: money that comes back, or is spent, when its job ends. */
  isStake(id: string): boolean {
    return this.hasOpenHolds && (this.find(id)?.expiresAt ?? 0) >= END_OF_TIME && this.find(id)?.state === "open";
  }

  /** Captures expired holds as spent. Returns their number, at most 1,000. */
  expire(now: number): number {
    const due = this.#sql.due.all(now, PRUNE_BATCH);
    for (const row of due) this.#finish(String(row["id"]), undefined, now, { expired: true, caps: [] });
    return due.length;
  }

  /** Posts money spent without a hold, or a later correction (negative if less was spent than posted). */
  correct(
    scopes: readonly Scope[],
    { currency, micros }: { readonly currency: string; readonly micros: number },
    id: string,
    now: number,
  ): void {
    if (!Number.isSafeInteger(micros)) throw new Refused("money_invalid", `expected whole millionths, got ${micros}`);
    for (const scope of scopes) {
      this.#add(scope, currency, 0, micros, now);
      this.#sql.entry.run(this.#numbers.row(), scope, currency, "correct", id, 0, micros, now);
    }
  }

  frozen(): Frozen[] {
    return this.#sql.allFrozen.all().map((row) => ({
      scope: scopeFrom(row["scope"]),
      currency: String(row["currency"]),
      since: Number(row["since"]),
      reason: String(row["reason"]),
    }));
  }

  /** Freezes the account that all share, so that nothing is spent in this currency. */
  freezeShared(currency: string, reason: string, now: number): void {
    this.#freeze(this.account(GUARDIAN, currency, now), { id: "", reason }, now);
  }

  /** Freezes it as another store has done, which has recorded why. */
  followFreeze(currency: string, { since, reason }: Freeze): void {
    this.account(GUARDIAN, currency, since).frozen ??= { since, reason };
    this.#sql.freeze.run(GUARDIAN, currency, since, reason);
  }

  /** Unfreezes an account and records by whom and why. Returns the currencies that were frozen. */
  unfreeze(scope: Scope, { by, reason }: { readonly by: string; readonly reason: string }, now: number): string[] {
    const currencies = this.frozen().flatMap((frozen) => (frozen.scope === scope ? [frozen.currency] : []));
    for (const currency of currencies) {
      const mine = this.#cache.get(`${scope}\n${currency}`);
      if (mine !== undefined) mine.frozen = undefined;
      this.#sql.thaw.run(scope, currency);
      this.#sql.note.run(this.#numbers.row(), scope, currency, "thaw", "", now, by, reason);
    }
    return currencies;
  }

  balances(): Balance[] {
    return this.#sql.balances.all().map((row) => ({
      scope: scopeFrom(row["scope"]),
      currency: String(row["currency"]),
      held: Number(row["held"]),
      posted: Number(row["posted"]),
    }));
  }

  /** Accounts whose entries do not sum up to the balance; empty if the books are right. */
  audit(): BookError[] {
    return this.#sql.audit.all().map((row) => ({
      scope: scopeFrom(row["scope"]),
      currency: String(row["currency"]),
      entries: String(row["entries"]),
      balance: String(row["balance"]),
    }));
  }

  forget(): void {
    this.#cache.clear();
    this.#open = undefined;
  }

  /** True if any money is held. */
  get hasOpenHolds(): boolean {
    this.#open ??= Number(this.#sql.countOpen.get()?.["n"]);
    return this.#open > 0;
  }

  prune(now: number): number {
    const before = now - MONEY_KEPT_MS;
    const rows = Number(this.#sql.pruneRows.run(now, PRUNE_BATCH).changes);
    const holds = Number(this.#sql.pruneHolds.run(before, PRUNE_BATCH).changes);
    return rows + holds + this.#carryEntries(before);
  }

  /** Adds to the rows that take money now, in memory and on disk, and returns their starts. */
  #add(scope: Scope, currency: string, held: Micros, posted: number, now: number): number[] {
    const mine = this.account(scope, currency, now);
    return SPEND_WINDOWS.map((window) => {
      const row = openRow(mine, window, this.#zone(), now);
      row.held += held;
      row.posted += posted;
      this.#sql.add.run(scope, currency, window, row.start, row.until, row.ends, held, posted);
      return row.start;
    });
  }

  #finish(
    id: string,
    actual: Micros | undefined,
    now: number,
    how: { readonly expired: boolean; readonly caps: readonly Cap[] },
  ): Capture | undefined {
    const row = this.hasOpenHolds ? this.#sql.open.get(id) : undefined;
    if (row === undefined) return undefined;
    const currency = String(row["currency"]);
    const result = captureOf(Number(row["amount"]), actual);
    const kind = how.expired ? "expire" : result.posted === 0 ? "release" : "post";
    for (const [scope, starts] of startsOf(String(row["starts"]))) {
      const account = this.account(scope, currency, now);
      const passed = this.#move(account, starts, result, now);
      if (scope === GUARDIAN) this.#shared?.ended({ ...result, id, currency, passed });
      this.#sql.entry.run(this.#numbers.row(), scope, currency, kind, id, 0 - result.released, result.posted, now);
      if (result.overrun > 0) this.#overrun(account, id, { held: result.released, posted: result.posted }, how.caps, now);
    }
    if (this.#open !== undefined) this.#open--;
    this.#sql.settled.run(how.expired ? "expired" : result.posted === 0 ? "released" : "posted", result.posted, now, id);
    return result;
  }

  /** Moves held money in the rows it was held in, however long ago. Returns the windows whose row counts no longer. */
  #move(account: Account, starts: readonly number[], { released, posted }: Capture, now: number): readonly SpendWindow[] {
    const passed: SpendWindow[] = [];
    SPEND_WINDOWS.forEach((window, i) => {
      const start = starts[i] ?? 0;
      const row = account.rows[window].find((candidate) => candidate.start === start);
      if (row !== undefined) {
        row.held -= released;
        row.posted += posted;
      }
      this.#sql.move.run(released, posted, account.scope, account.currency, window, start);
      if (row === undefined || row.ends <= now) passed.push(window);
    });
    return passed;
  }

  /** Freezes the specialist's account; the Guardian's, which all share, only if one of its own caps is exceeded. */
  #overrun(
    account: Account,
    id: string,
    { held, posted }: { readonly held: Micros; readonly posted: Micros },
    caps: readonly Cap[],
    now: number,
  ): void {
    const { scope, currency } = account;
    if (account.frozen !== undefined || (scope === GUARDIAN && !overCap(account, caps, now))) return;
    this.#freeze(account, { id, reason: overrunReason(id, currency, { posted, held }) }, now);
  }

  #freeze(account: Account, { id, reason }: { readonly id: string; readonly reason: string }, now: number): void {
    const { scope, currency } = account;
    if (account.frozen !== undefined) return;
    account.frozen = { since: now, reason };
    this.#sql.freeze.run(scope, currency, now, reason);
    this.#sql.note.run(this.#numbers.row(), scope, currency, "freeze", id, now, "retinue", reason);
  }

  /** Merges old entries into one sum per account, so that the books still balance without them. */
  #carryEntries(before: number): number {
    const last = this.#sql.lastOld.get(before, PRUNE_BATCH)?.["seq"];
    if (typeof last !== "number") return 0;
    const sums = this.#sql.oldSums.all(last);
    const { changes } = this.#sql.dropEntries.run(last);
    for (const row of sums)
      this.#sql.entry.run(
        this.#numbers.row(),
        String(row["scope"]),
        String(row["currency"]),
        "carried",
        "",
        Number(row["held"]),
        Number(row["posted"]),
        Number(row["at"]),
      );
    return Number(changes) - sums.length;
  }
}

function statements(db: DatabaseSync) {
  return {
    rows: db.prepare(
      "SELECT span, start, until, ends, held, posted FROM spend_row WHERE scope = ? AND currency = ? AND ends > ? ORDER BY span, start",
    ),
    frozen: db.prepare("SELECT since, reason FROM spend_frozen WHERE scope = ? AND currency = ?"),
    add: db.prepare(
      "INSERT INTO spend_row (scope, currency, span, start, until, ends, held, posted) VALUES (?, ?, ?, ?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET held = held + excluded.held, posted = posted + excluded.posted",
    ),
    move: db.prepare(
      "UPDATE spend_row SET held = held - ?, posted = posted + ? WHERE scope = ? AND currency = ? AND span = ? AND start = ?",
    ),
    freeze: db.prepare("INSERT INTO spend_frozen (scope, currency, since, reason) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING"),
    allFrozen: db.prepare("SELECT scope, currency, since, reason FROM spend_frozen ORDER BY scope, currency"),
    thaw: db.prepare("DELETE FROM spend_frozen WHERE scope = ? AND currency = ?"),
    hold: db.prepare(
      "INSERT INTO hold (id, specialist, currency, amount, starts, state, held_at, expires_at) VALUES (?, ?, ?, ?, ?, 'open', ?, ?)",
    ),
    find: db.prepare("SELECT specialist, currency, amount, state, posted, expires_at FROM hold WHERE id = ?"),
    countOpen: db.prepare("SELECT count(*) AS n FROM hold WHERE state = 'open'"),
    open: db.prepare("SELECT currency, amount, starts FROM hold WHERE id = ? AND state = 'open'"),
    settled: db.prepare("UPDATE hold SET state = ?, posted = ?, settled_at = ? WHERE id = ? AND state = 'open'"),
    due: db.prepare("SELECT id FROM hold WHERE state = 'open' AND expires_at <= ? ORDER BY expires_at LIMIT 0 + ?"),
    entry: db.prepare("INSERT INTO spend_entry (seq, scope, currency, kind, hold_id, held, posted, at) VALUES (?, ?, ?, ?, ?, ?, ?, ?)"),
    note: db.prepare(
      "INSERT INTO spend_entry (seq, scope, currency, kind, hold_id, held, posted, at, said_by, reason) VALUES (?, ?, ?, ?, ?, 0, 0, ?, ?, ?)",
    ),
    balances: db.prepare("SELECT scope, currency, held, posted FROM spend_row WHERE span = 'total' ORDER BY scope, currency"),
    audit: db.prepare(`
      SELECT b.scope, b.currency, coalesce(e.sums, '0/0') AS entries, b.held || '/' || b.posted AS balance
      FROM spend_row b LEFT JOIN (
        SELECT scope, currency, sum(held) || '/' || sum(posted) AS sums FROM spend_entry GROUP BY scope, currency
      ) e ON e.scope = b.scope AND e.currency = b.currency
      WHERE b.span = 'total' AND coalesce(e.sums, '0/0') <> b.held || '/' || b.posted`),
    pruneRows: db.prepare(
      "DELETE FROM spend_row WHERE (scope, currency, span, start) IN (SELECT scope, currency, span, start FROM spend_row WHERE ends <= ? AND held = 0 LIMIT 0 + ?)",
    ),
    pruneHolds: db.prepare(
      "DELETE FROM hold WHERE id IN (SELECT id FROM hold WHERE settled_at IS NOT NULL AND settled_at < ? LIMIT 0 + ?)",
    ),
    lastOld: db.prepare(
      "SELECT max(seq) AS seq FROM (SELECT seq FROM spend_entry WHERE at < ? AND kind <> 'carried' ORDER BY seq LIMIT 0 + ?)",
    ),
    oldSums: db.prepare(
      "SELECT scope, currency, sum(held) AS held, sum(posted) AS posted, max(at) AS at FROM spend_entry WHERE seq <= ? GROUP BY scope, currency",
    ),
    dropEntries: db.prepare("DELETE FROM spend_entry WHERE seq <= ?"),
  };
}
