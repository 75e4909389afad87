/**
 * The time by which a fleet dates its rows: the server's clock, as this process estimates it. So a specialist that goes to a process whose
 * machine is an hour ahead stays in its hour. Between two looks at the server it goes on with the machine's monotonic clock.
 */
import type { Clock } from "../../core/clock.ts";
import { MINUTE } from "../../core/units.ts";

/** In milliseconds, as an expression. */
export const SERVER_NOW = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";
/** A look that took longer than this many times the best one says less than what is known. */
const POOR = 2;
/** The server tells whole milliseconds. */
const ROUNDED_MS = 1;
/** A look that is older is replaced by any other. */
const KEPT_MS = MINUTE;
/**
 * The server's clock was set back if it seems to be behind by more: it is followed then, as a machine's own clock is. Below, time stands still
 * for as long. To stand still for every correction would stop retries, schedules and polls for as long as the clock had been ahead, and would
 * protect nothing: quota ages by the ledger's clock, which never goes back (`limits/ledger-clock.ts`).
 */
const SET_BACK_MS = MINUTE;

interface Look {
  /** By the server's clock, at `at` of the monotonic one. */
  readonly server: number;
  readonly at: number;
  readonly tookMs: number;
}

export class ServerTime {
  readonly #own: Clock;
  #look: Look | undefined;
  #last = 0;
  /** The machine's timers, and the server's time once it is known. */
  readonly clock: Clock;

  constructor(own: Clock) {
    this.#own = own;
    this.clock = {
      now: () => this.#now(),
      monotonic: () => own.monotonic(),
      after: (delayMs, run) => own.after(delayMs, run),
      soon: (run) => own.soon(run),
    };
  }

  /** How far the machine's clock is ahead of the server's; 0 until that is known. */
  get aheadMs(): number {
    return this.#look === undefined ? 0 : this.#own.now() - this.#estimate(this.#look);
  }

  /** Takes what the server's clock showed in a statement that began at `askedAt`, by the monotonic clock. */
  note(server: number, askedAt: number): void {
    const at = this.#own.monotonic();
    const tookMs = at - askedAt;
    const known = this.#look;
    if (known !== undefined && at - known.at < KEPT_MS && tookMs > POOR * known.tookMs && this.#agrees(known, { server, tookMs })) return;
    this.#look = { server: server + tookMs / 2, at, tookMs };
  }

  /**
   * The server's clock is at least what it showed, and at most that and the time of the look. What is known may be outside: a machine's
   * monotonic clock stands still while it is suspended.
   */
  #agrees(known: Look, { server, tookMs }: Pick<Look, "server" | "tookMs">): boolean {
    const estimate = this.#estimate(known);
    const errorMs = known.tookMs / 2 + ROUNDED_MS;
    return estimate + errorMs >= server && estimate - errorMs <= server + tookMs;
  }

  #now(): number {
    if (this.#look === undefined) return this.#own.now();
    const now = Math.floor(this.#estimate(this.#look));
    if (now > this.#last || this.#last - now > SET_BACK_MS) this.#last = now;
    return this.#last;
  }

  #estimate({ server, at }: Look): number {
    return server + this.#own.monotonic() - at;
  }
}
