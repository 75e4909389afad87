/**
 * The Guardian's money among holders. Each has a grant, and spends from it without asking: what all grants have left and what all have spent
 * never exceeds a cap together. A grant is a part of what is free, so grants shrink near a cap; where nothing is free, the others give back
 * what they have not spent. Those of a lost holder end with its session.
 */
import { sleep, type Clock, type Timer } from "../../core/clock.ts";
import { Fatal } from "../../core/errors.ts";
import type { Micros, Money } from "../../core/units.ts";
import {
  GUARDIAN,
  newAccount,
  SPEND_WINDOWS,
  spentIn,
  type Account,
  type Cap,
  type SpendRow,
  type SpendWindow,
} from "../../limits/spending.ts";
import type { EndedHold, OwnMoney, SharedMoney } from "../sqlite/shared-money.ts";
import { inSchema } from "./in-schema.ts";
import type { PostgresConnection } from "./open-connection.ts";
import { asOid, SHARD_LOCKS } from "./ownership.ts";
import { NO_SHARD } from "./row-places.ts";
import { keepAlive, type SessionTimes } from "./session-settings.ts";

export interface GuardianMoneyOptions {
  readonly schema: string;
  readonly holder: number;
  readonly clock: Clock;
  /** The server ends the session with a process that is stopped, which would keep others from the money. */
  readonly times: SessionTimes;
  /** Opens a session of its own: the one that writes has its statements in order. */
  readonly connect: () => Promise<PostgresConnection>;
}

/** A grant is this part of what is free, divided among the holders. */
const PART = 8;
/** Another holder gives back within this time, or has nothing. */
const RETURN_TRIES = 6;
const RETURN_MS = 50;
/** A request that found the grant used up by others of the same moment asks again. */
const AGAIN_MS = 1_000;

interface Purse {
  granted: Micros;
  /** A part that is given back here and not yet on the server, which counts it as granted until then. */
  owed: Micros;
  /** Amounts that are about to be held. */
  claimed: Micros;
  caps: readonly Cap[];
  /** What all have spent and hold, as last read. */
  rows: Account;
  asking: Promise<void> | undefined;
}

export class GuardianMoney implements SharedMoney {
  readonly #options: GuardianMoneyOptions;
  readonly #purses = new Map<string, Purse>();
  #own: OwnMoney["own"] = (currency) => newAccount(GUARDIAN, currency);
  #stored: OwnMoney["stored"] = () => Promise.resolve();
  /** The last to have the session for itself. */
  #turn: Promise<unknown> = Promise.resolve();
  #connection: Promise<PostgresConnection> | undefined;
  #alive: Timer | undefined;
  #again: Timer | undefined;
  #closed = false;
  #isListening = false;

  constructor(options: GuardianMoneyOptions) {
    this.#options = options;
  }

  attach({ own, stored }: OwnMoney): void {
    this.#own = own;
    this.#stored = stored;
  }

  /** The account in which everything counts as held that this store may not spend. */
  view(own: Account, now: number): Account {
    const purse = this.#purses.get(own.currency);
    if (purse === undefined || purse.caps.length === 0) return own;
    const left = this.#leftOf(own.currency, purse);
    const account: Account = { ...copyOf(purse.rows), frozen: own.frozen };
    for (const { window, money } of purse.caps) {
      if (window === "action") continue;
      const missing = money.micros - left - spentIn(account, window, now).micros;
      const rows = account.rows[window];
      if (missing > 0) rows.unshift({ start: 0, until: now + AGAIN_MS, ends: now + AGAIN_MS, held: missing, posted: 0 });
      else shorten(rows, -missing); // what was read is older than the grant
    }
    return account;
  }

  /**
   * Makes sure of a grant for an amount, if the Guardian has a cap for its currency and there is enough. Returns a function to call once the
   * amount is held, or is not.
   */
  async claim(money: Money, caps: readonly Cap[]): Promise<() => void> {
    const mine = caps.filter(({ scope, money: { currency } }) => scope === GUARDIAN && currency === money.currency);
    if (mine.length === 0 || money.micros <= 0) return () => undefined;
    this.#requireOpen();
    const purse = this.#purseOf(money.currency);
    purse.caps = mine;
    this.#payOwedLater(money.currency, purse);
    while (this.#leftOf(money.currency, purse) - purse.claimed < money.micros) {
      if (purse.asking !== undefined) {
        await purse.asking;
        continue;
      }
      const need = money.micros + purse.claimed - this.#leftOf(money.currency, purse);
      const before = purse.granted;
      purse.asking = this.#ask(money.currency, purse, need);
      try {
        await purse.asking;
      } finally {
        purse.asking = undefined;
      }
      if (purse.granted - before < need) break; // the view tells why
    }
    purse.claimed += money.micros;
    return () => {
      purse.claimed -= money.micros;
    };
  }

  /**
   * Money that comes back in a window that has passed is everybody's: the others may have been granted it since. A cost above its hold leaves the
   * others' grants too large, so they give back what they have not spent.
   */
  ended({ currency, released, posted, overrun, passed }: EndedHold): void {
    const purse = this.#purseOf(currency);
    const isCapped = (window: SpendWindow): boolean => purse.caps.some((cap) => cap.window === window);
    if (released > posted && passed.some((window) => purse.caps.length === 0 || isCapped(window))) {
      purse.granted -= released - posted;
      purse.owed += released - posted;
    }
    if (purse.caps.length === 0) return; // nothing is asked of the server for money without a cap
    this.#payOwedLater(currency, purse);
    if (overrun > 0) this.#callBack(currency).catch(() => undefined); // the server is away: nobody spends meanwhile
  }

  /** Hears from now on if others need what this holder has: also what comes back of holds that a lost one made. */
  async listen(): Promise<void> {
    this.#isListening = true;
    await this.#connect();
  }

  /** Ends its session for good: a lost store may still ask. */
  async close(): Promise<void> {
    this.#closed = true;
    this.#again?.cancel();
    await this.#end(await this.#connection?.catch(() => undefined));
  }

  #purseOf(currency: string): Purse {
    const known = this.#purses.get(currency);
    if (known !== undefined) return known;
    const made: Purse = { granted: 0, owed: 0, claimed: 0, caps: [], rows: newAccount(GUARDIAN, currency), asking: undefined };
    this.#purses.set(currency, made);
    return made;
  }

  #leftOf(currency: string, { granted }: Purse): Micros {
    const { micros } = spentIn(this.#own(currency), "total", this.#options.clock.now());
    return granted - micros;
  }

  async #ask(currency: string, purse: Purse, need: Micros): Promise<void> {
    const { clock } = this.#options;
    for (let i = 0; i <= RETURN_TRIES; i++) {
      const { granted, others } = await this.#inTurn(() => this.#grant(currency, purse, need));
      if (granted > 0 || others === 0) return;
      if (i === 0) await this.#notify(currency);
      await sleep(clock, RETURN_MS);
    }
  }

  /** One transaction, under the lock of the Guardian's money. */
  async #grant(currency: string, purse: Purse, need: Micros): Promise<{ readonly granted: Micros; readonly others: Micros }> {
    const { schema, holder, clock } = this.#options;
    const connection = await this.#connect();
    const q = inSchema(connection, schema);
    const now = clock.now();
    await Promise.all([q("BEGIN"), q("SELECT pg_advisory_xact_lock(hashtextextended('retinue money ' || $1, 0))", [schema])]);
    try {
      const [gone] = await q(GONE, [schema]); // before the rest: whatever a lost one has stored is seen then
      // One statement, and so one moment: what a holder spends meanwhile is in both parts, or in none.
      const [found] = await q(SPENT_AND_LEFT, [currency, holder, now, gone?.["holders"] ?? []]);
      const [rows, grants] = [listOf(found?.["spent"]), listOf(found?.["grants"])];
      const account = newAccount(GUARDIAN, currency);
      for (const row of rows) account.rows[windowOf(row["span"])].push(rowOf(row));
      purse.rows = account;
      const outstanding = grants.reduce((sum, { left }) => sum + Number(left), 0);
      const others = grants.reduce((sum, { left, own }) => sum + (own === true ? 0 : Number(left)), 0);
      const room = Math.min(
        ...purse.caps
          .filter(({ window }) => window !== "action")
          .map(
            ({ window, money }) =>
              (window === "action" ? Infinity : money.micros - spentIn(copyOf(account), window, now).micros) - outstanding,
          ),
      );
      const share = room === Infinity ? need : Math.floor(room / (PART * Math.max(1, grants.length)));
      const granted = room < need ? 0 : Math.max(need, share);
      if (granted > 0) await q(ADD_TO_GRANT, [holder, currency, granted]);
      await q("COMMIT");
      purse.granted += granted;
      return { granted, others };
    } catch (error) {
      await q("ROLLBACK").catch(() => undefined); // the connection may be gone; the error to report is the first one
      throw error;
    }
  }

  /**
   * Gives back what is not spent: at once here, and on the server once that has the ends of the holds that it is left of. If it lost one of
   * them, the hold would be there still, and its money given to another.
   */
  async #giveBack(currency: string): Promise<void> {
    const purse = this.#purseOf(currency);
    const left = Math.max(0, Math.floor(this.#leftOf(currency, purse) - purse.claimed));
    purse.granted -= left;
    purse.owed += left;
    await this.#payOwed(currency, purse);
  }

  /** Once the cost is stored: what the others ask for then has less room. */
  async #callBack(currency: string): Promise<void> {
    await this.#stored();
    await this.#inTurn(() => this.#notify(currency));
  }

  async #payOwed(currency: string, purse: Purse): Promise<void> {
    const { owed } = purse;
    if (owed <= 0) return;
    purse.owed = 0;
    const { schema, holder } = this.#options;
    /** Nothing of it has been sent. */
    const unpaid = (error: unknown): never => {
      purse.owed += owed;
      throw error;
    };
    await this.#stored().catch(unpaid);
    await this.#inTurn(async () => {
      const connection = await this.#connect().catch(unpaid);
      // Never twice: an answer that is lost leaves it paid, or withheld from all until this holder ends.
      await inSchema(connection, schema)(ADD_TO_GRANT, [holder, currency, 0 - owed]);
    });
  }

  #payOwedLater(currency: string, purse: Purse): void {
    this.#payOwed(currency, purse).catch(() => undefined); // it is withheld from all, and paid with the next claim or end
  }

  /** One transaction or statement after the other: those of two currencies share the session. */
  #inTurn<Result>(run: () => Promise<Result>): Promise<Result> {
    const mine = this.#turn.then(run);
    this.#turn = mine.catch(() => undefined); // who waits for it is told
    return mine;
  }

  async #notify(currency: string): Promise<void> {
    const connection = await this.#connect();
    await connection.query({ text: "SELECT pg_notify($1, $2)", values: [this.#channel, currency] });
  }

  get #channel(): string {
    return `retinue money ${this.#options.schema}`;
  }

  async #connect(): Promise<PostgresConnection> {
    this.#requireOpen();
    return (this.#connection ??= this.#open());
  }

  #requireOpen(): void {
    if (this.#closed) throw new Fatal("store_lost", "the store is closed");
  }

  async #open(): Promise<PostgresConnection> {
    let connection: PostgresConnection | undefined;
    try {
      const { connect, clock, times } = this.#options;
      connection = await connect();
      connection.onLost(() => {
        this.#connection = undefined;
        this.#listenAgain();
      });
      connection.onNotice((_channel, currency) => {
        this.#giveBack(currency).catch(() => undefined); // it is withheld from all until the next claim, or this holder's end
      });
      await connection.query({ text: `LISTEN "${this.#channel}"` });
      this.#alive = keepAlive(connection, clock, times);
      return connection;
    } catch (error) {
      this.#connection = undefined;
      await this.#end(connection);
      throw error;
    }
  }

  /** Others may need what this holder was granted, and it hears of that only while it listens. */
  #listenAgain(): void {
    this.#again = this.#options.clock.after(AGAIN_MS, () => {
      if (this.#closed || !(this.#isListening || [...this.#purses.values()].some(({ granted, owed }) => granted > 0 || owed > 0))) return;
      const owing = async (): Promise<void> => {
        await this.#connect();
        for (const [currency, purse] of this.#purses) this.#payOwedLater(currency, purse);
      };
      owing().catch(() => this.#closed || this.#listenAgain()); // the server is away: a claim says so
    });
  }

  async #end(connection: PostgresConnection | undefined): Promise<void> {
    this.#alive?.cancel();
    await connection?.close();
  }
}

const ADD_TO_GRANT = `INSERT INTO @.guardian_grant (holder, currency, granted) VALUES ($1, $2, $3)
  ON CONFLICT (holder, currency) DO UPDATE SET granted = guardian_grant.granted + excluded.granted`;

/** Lost holders, and such as have ended: no session that has locks of shards is theirs. A holder that begins later is not among them. */
const GONE = `SELECT array_agg(DISTINCT h.number) AS holders FROM @.shard s JOIN @.holder h ON h.number = s.holder
  WHERE h.backend NOT IN (SELECT pid FROM pg_locks
    WHERE locktype = 'advisory' AND objsubid = 2 AND granted AND classid::bigint = ${asOid(SHARD_LOCKS)})`;

/**
 * What all have spent by window, and what living holders have left. That is never below zero: a holder that ends has no grant any longer, and
 * what it spent is nobody's to spend again; so is a cost above its hold.
 */
const SPENT_AND_LEFT = `WITH spent AS (
    SELECT span, start, max(until) AS until, max(ends) AS ends, sum(held) AS held, sum(posted) AS posted FROM @.spend_row
    WHERE shard = ${NO_SHARD} AND currency = $1 AND ends > $3 GROUP BY span, start),
  living AS (SELECT DISTINCT holder AS number FROM @.shard WHERE holder <> ALL($4::bigint[])),
  grants AS (
    SELECT living.number = $2 AS own, greatest(coalesce(g.granted, 0) - coalesce(r.held + r.posted, 0), 0) AS left
    FROM living LEFT JOIN @.guardian_grant g ON g.holder = living.number AND g.currency = $1
    LEFT JOIN @.spend_row r ON r.shard = ${NO_SHARD} AND r.holder = living.number AND r.currency = $1 AND r.span = 'total')
  SELECT (SELECT json_agg(spent ORDER BY ends) FROM spent) AS spent, (SELECT json_agg(grants) FROM grants) AS grants`;

function listOf(value: unknown): readonly Readonly<Record<string, unknown>>[] {
  return Array.isArray(value) ? value : [];
}

function windowOf(value: unknown): (typeof SPEND_WINDOWS)[number] {
  const window = SPEND_WINDOWS.find((name) => name === value);
  if (window === undefined) throw new TypeError(`unknown spending window ${String(value)}`);
  return window;
}

function rowOf(row: Readonly<Record<string, unknown>>): SpendRow {
  const [start, until, ends, held, posted] = ["start", "until", "ends", "held", "posted"].map((name) => Number(row[name]));
  return { start: start ?? 0, until: until ?? 0, ends: ends ?? 0, held: held ?? 0, posted: posted ?? 0 };
}

/** Takes an amount out of rows, the last ones first. */
function shorten(rows: SpendRow[], amount: Micros): void {
  for (let left = amount; left > 0;) {
    const last = rows.pop();
    if (last === undefined) return;
    const rest = last.held + last.posted - left;
    left = Math.max(0, -rest);
    if (rest > 0) rows.push({ ...last, held: Math.min(last.held, rest), posted: rest - Math.min(last.held, rest) });
  }
}

/** Expired rows are dropped from an account that is read, so each reader has its own. */
function copyOf(account: Account): Account {
  const copy = newAccount(account.scope, account.currency);
  for (const window of SPEND_WINDOWS) copy.rows[window].push(...account.rows[window]);
  copy.frozen = account.frozen;
  return copy;
}
