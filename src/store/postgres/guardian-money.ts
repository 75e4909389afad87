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
  overCap,
  overrunReason,
  SPEND_WINDOWS,
  spentIn,
  type Account,
  type Cap,
  type SpendRow,
  type SpendWindow,
} from "../../limits/spending.ts";
import type { EndedHold, OwnMoney, SharedMoney } from "../sqlite/shared-money.ts";
import { readSums } from "./guardian-sums.ts";
import { inSchema } from "./in-schema.ts";
import type { PostgresConnection } from "./open-connection.ts";
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
  #mine: OwnMoney = NOT_ATTACHED;
  /** Currencies of which a cost exceeded its hold, and the reason: the sum of all is not judged yet. */
  readonly #overruns = new Map<string, string>();
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

  attach(mine: OwnMoney): void {
    this.#mine = mine;
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
    if (this.#mine.own(money.currency).frozen !== undefined) return () => undefined; // the decision says so
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
  ended({ id, currency, released, posted, overrun, passed }: EndedHold): void {
    const purse = this.#purseOf(currency);
    const isCapped = (window: SpendWindow): boolean => purse.caps.some((cap) => cap.window === window);
    if (released > posted && passed.some((window) => purse.caps.length === 0 || isCapped(window))) {
      purse.granted -= released - posted;
      purse.owed += released - posted;
    }
    if (purse.caps.length === 0) return; // nothing is asked of the server for money without a cap
    this.#payOwedLater(currency, purse);
    if (overrun <= 0) return;
    this.#overruns.set(currency, overrunReason(id, currency, { posted, held: released }));
    this.#judgeLater(currency);
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
    const { micros } = spentIn(this.#mine.own(currency), "total", this.#options.clock.now());
    return granted - micros;
  }

  async #ask(currency: string, purse: Purse, need: Micros): Promise<void> {
    const { clock } = this.#options;
    for (let i = 0; i <= RETURN_TRIES; i++) {
      const { granted, others } = await this.#inTurn(() => this.#grant(currency, purse, need));
      if (granted > 0 || others === 0) break;
      if (i === 0) await this.#notify(currency);
      await sleep(clock, RETURN_MS);
    }
    const { frozen } = purse.rows;
    if (frozen !== undefined && this.#mine.own(currency).frozen === undefined) await this.#mine.followFreeze(currency, frozen);
  }

  /** One transaction, under the lock of the Guardian's money. */
  async #grant(currency: string, purse: Purse, need: Micros): Promise<{ readonly granted: Micros; readonly others: Micros }> {
    const { schema, holder, clock } = this.#options;
    const connection = await this.#connect();
    const q = inSchema(connection, schema);
    const now = clock.now();
    try {
      await Promise.all([q("BEGIN"), q("SELECT pg_advisory_xact_lock(hashtextextended('retinue money ' || $1, 0))", [schema])]);
      const { account, outstanding, others, holders } = await readSums(q, { schema, currency, holder, now });
      purse.rows = account;
      const room = Math.min(
        ...purse.caps
          .filter(({ window }) => window !== "action")
          .map(
            ({ window, money }) =>
              (window === "action" ? Infinity : money.micros - spentIn(copyOf(account), window, now).micros) - outstanding,
          ),
      );
      const share = room === Infinity ? need : Math.floor(room / (PART * Math.max(1, holders)));
      const granted = account.frozen !== undefined || room < need ? 0 : Math.max(need, share);
      if (granted > 0) await q(ADD_TO_GRANT, [holder, currency, granted]);
      await q("COMMIT");
      purse.granted += granted;
      return { granted, others: account.frozen === undefined ? others : 0 };
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

  /**
   * Once the cost is stored: calls the grants back, and freezes the account if all together have spent more than a cap permits. The server may
   * not know yet what the others have released.
   */
  async #judge(currency: string): Promise<void> {
    const reason = this.#overruns.get(currency);
    if (reason === undefined) return;
    await this.#mine.stored();
    await this.#inTurn(() => this.#notify(currency));
    let isOver = await this.#isOver(currency);
    for (let i = 0; isOver && i < RETURN_TRIES; i++) {
      await sleep(this.#options.clock, RETURN_MS);
      isOver = await this.#isOver(currency);
    }
    if (isOver) await this.#mine.freeze(currency, reason);
    if (this.#overruns.get(currency) === reason) this.#overruns.delete(currency);
  }

  async #isOver(currency: string): Promise<boolean> {
    const { schema, holder, clock } = this.#options;
    const now = clock.now();
    const sums = await this.#inTurn(async () => readSums(inSchema(await this.#connect(), schema), { schema, currency, holder, now }));
    return overCap(sums.account, this.#purseOf(currency).caps, now);
  }

  #judgeLater(currency: string): void {
    this.#judge(currency).catch(() => undefined); // the server is away: it is judged when the session is there again
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
    await this.#mine.stored().catch(unpaid);
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
      if (
        this.#closed ||
        !(this.#isListening || this.#overruns.size > 0 || [...this.#purses.values()].some(({ granted, owed }) => granted > 0 || owed > 0))
      )
        return;
      const owing = async (): Promise<void> => {
        await this.#connect();
        for (const currency of this.#overruns.keys()) this.#judgeLater(currency);
        // A notice of the time between has not arrived.
        await Promise.all([...this.#purses.keys()].map((currency) => this.#giveBack(currency)));
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

const NOT_ATTACHED: OwnMoney = {
  own: (currency) => newAccount(GUARDIAN, currency),
  stored: () => Promise.resolve(),
  freeze: () => Promise.resolve(),
  followFreeze: () => Promise.resolve(),
};

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
