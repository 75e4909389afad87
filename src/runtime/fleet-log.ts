/** Tells in the log what happens in a fleet: each change once for the process, however many stores it has. */
import type { Clock } from "../core/clock.ts";
import { errorClass, isRetinueError, messageOf } from "../core/errors.ts";
import type { Handle } from "../core/ids.ts";
import type { LogFields, Logger } from "../core/log.ts";
import { SECOND, showDuration } from "../core/units.ts";
import { isStoreLost } from "../store/store-lost.ts";
import type { FleetProcess } from "../store/postgres/fleet-view.ts";
import type { Runtime } from "./runtime.ts";

/** Beyond it a person is told. */
export const CLOCKS_APART_MS = 2 * SECOND;
/** A thread that ran nothing for so long was stopped or blocked: work on a busy machine takes a part of it. */
const STOOD_STILL_MS = 5 * SECOND;

/** Says how far a clock is from another, and on which side. */
export function apartText(aheadMs: number): string {
  return `${showDuration(Math.round(Math.abs(aheadMs)))} ${aheadMs > 0 ? "ahead of" : "behind"}`;
}

/** The reason why the server cannot be used. */
export interface Trouble {
  readonly message: string;
  /** The remedy, if it is a mistake that somebody has to mend. */
  readonly hint: string | undefined;
  /** The time at which it began, also if the reason has changed since. */
  readonly since: number;
}

/** The same line of several stores is one if they log it within this time. */
const ONE_LINE_MS = 2 * SECOND;
/** Lines of which the time is known. */
const MAX_LINES = 100;

export class FleetLog {
  readonly #log: Logger;
  readonly #clock: Pick<Clock, "monotonic" | "now">;
  #processes: ReadonlyMap<number, FleetProcess> | undefined;
  /** The others that had shards when none was free. */
  #holders: ReadonlySet<number> = new Set();
  #handles: ReadonlySet<Handle> = new Set();
  #areApart = false;
  #trouble: (Trouble & { readonly isAll: boolean; readonly isMistake: boolean; readonly began: number }) | undefined;
  /** The store that logged a line last, and when. */
  readonly #lines = new Map<string, { readonly store: object; readonly at: number }>();

  constructor(log: Logger, clock: Pick<Clock, "monotonic" | "now">) {
    this.#log = log;
    this.#clock = clock;
  }

  /** Tells when the clocks begin to be apart, and when they agree again. */
  clocksApart(aheadMs: number): void {
    const areApart = Math.abs(aheadMs) > (this.#areApart ? CLOCKS_APART_MS / 2 : CLOCKS_APART_MS);
    if (areApart === this.#areApart) return;
    this.#areApart = areApart;
    if (!areApart) return this.#log.info("the clock of this machine agrees with the server's again");
    this.#log.warn(`the clock of this machine is ${apartText(aheadMs)} the server's`, {
      hint: "everything is dated by the server's clock; set this machine's by NTP",
    });
  }

  /** Tells that this process ran nothing for a while, which is the cause of what it finds then. `lateMs`: the time by which a timer was late. */
  woke(lateMs: number): void {
    if (lateMs < STOOD_STILL_MS) return;
    this.#log.warn(`this process stood still for ${showDuration(Math.round(lateMs / SECOND) * SECOND)}`, {
      hint: "it was stopped, or a handler blocked its thread; if that takes longer than session_timeout, its specialists go to the others",
    });
  }

  /** Tells who came and went since the last call. `own` is the number of this process. */
  members(processes: readonly FleetProcess[], own: number): void {
    const before = this.#processes;
    const now = new Map(processes.map((process) => [process.number, process]));
    this.#processes = now;
    const count = `${now.size} ${now.size === 1 ? "process shares" : "processes share"} the store`;
    const self = now.get(own);
    if (before?.has(own) !== true && self !== undefined) return this.#log.info(`joined the fleet as ${self.name}: ${count}`);
    for (const [number, { name }] of now) if (before?.has(number) === false) this.#log.info(`${name} has joined: ${count}`);
    for (const [number, { name, draining }] of before ?? []) {
      if (now.has(number)) continue;
      this.#log.info(`${name} ${draining ? "has left" : "is gone, and was not seen to drain"}: ${count}`);
    }
  }

  /** Tells of others that have lost all shards and live. Call it when no shard is free: one that shares out its shards anew is without for a moment. */
  bereft(processes: readonly FleetProcess[], own: number): void {
    const others = processes.filter(({ number, draining }) => number !== own && !draining);
    for (const { number, name, shards } of others)
      if (shards.length === 0 && this.#holders.has(number))
        this.#log.warn(
          `the others have taken the specialists of ${name}, which is still there: it is stopped, cannot use the store, or lacks definitions`,
        );
    this.#holders = new Set(others.filter(({ shards }) => shards.length > 0).map(({ number }) => number));
  }

  /** Tells how many specialists came and went since the last call. A store that was made anew has those of before. */
  specialists(runtimes: readonly Pick<Runtime, "members">[]): void {
    const members = runtimes.flatMap((runtime) => runtime.members());
    const [before, now] = [this.#handles, new Set(members.flatMap(({ specialist, retired }) => (retired ? [] : [specialist.handle])))];
    this.#handles = now;
    const has = `it has ${now.size} now`;
    const [came, gone] = [newIn(now, before), newIn(before, now)];
    if (came > 0) this.#log.info(`this process took ${counted(came)}: ${has}`);
    if (gone > 0) this.#log.info(`${counted(gone)} left this process: ${has}`);
  }

  drained(by: string): void {
    this.#log.warn(`drained by ${by}: its specialists go to the others, and it takes none until it is started again`);
  }

  /** The others cannot see a drain before the server can be used. */
  drainUntold(error: unknown): void {
    this.#log.warn("the other processes do not know of the drain yet", { message: messageOf(error) });
  }

  /** Nothing is sent, or nothing of some specialists, until the server can be used again. The reason may change meanwhile. */
  failed(error: unknown, isAll: boolean): void {
    const message = messageOf(error);
    const remedy = remedyOf(error);
    const hint = remedy ?? (isRetinueError(error) ? error.details.hint : undefined);
    const known = this.#trouble;
    // A reason that a person must remove is told also where another came first.
    const isMistake = isRetinueError(error) && errorClass(error) === "Misconfigured";
    if (known === undefined || (isAll && !known.isAll))
      this.#log.error(`${isAll ? "nothing" : "for some specialists nothing"} is sent until the store can be used again`, { message, hint });
    else if (isMistake && !known.isMistake)
      this.#log.error(`the store ${isAll ? "" : "of some specialists "}cannot be used until somebody acts`, { message, hint });
    this.#trouble = {
      message,
      hint: remedy,
      isAll: isAll || known?.isAll === true, // said once, though stores are opened and lost again meanwhile
      isMistake: isMistake || known?.isMistake === true,
      since: known?.since ?? this.#clock.now(),
      began: known?.began ?? this.#clock.monotonic(),
    };
  }

  /** The server has answered: it can be used, unless stores are lost as soon as they are opened. */
  looked(reason: Error | undefined, isAll: boolean): void {
    if (reason !== undefined) return this.failed(reason, isAll);
    if (this.#trouble !== undefined)
      this.#log.info("the store can be used again", { after: showDuration(Math.round(this.#clock.monotonic() - this.#trouble.began)) });
    this.#trouble = undefined;
  }

  /** The reason while it cannot be used. */
  get trouble(): Trouble | undefined {
    return this.#trouble;
  }

  /** The time for which it could not be used. */
  get troubleMs(): number | undefined {
    return this.#trouble && this.#clock.monotonic() - this.#trouble.began;
  }

  /** The log of one store: a warning or an error that another store has just logged is left out. */
  ofStore(): Logger {
    const store = {};
    const bound = (log: Logger, known: LogFields): Logger => {
      const line =
        (level: "warn" | "error") =>
        (message: string, fields: LogFields = {}): void => {
          if (this.#isNew(store, JSON.stringify([level, message, { ...known, ...fields }]))) log[level](message, fields);
        };
      return {
        debug: (message, fields) => log.debug(message, fields),
        info: (message, fields) => log.info(message, fields),
        warn: line("warn"),
        error: line("error"),
        child: (fields) => bound(log.child(fields), { ...known, ...fields }),
      };
    };
    return bound(this.#log, {});
  }

  #isNew(store: object, line: string): boolean {
    const [now, last] = [this.#clock.monotonic(), this.#lines.get(line)];
    if (last !== undefined && last.store !== store && now - last.at < ONE_LINE_MS) return false;
    this.#lines.delete(line);
    this.#lines.set(line, { store, at: now });
    const [oldest] = this.#lines.keys();
    if (this.#lines.size > MAX_LINES && oldest !== undefined) this.#lines.delete(oldest);
    return true;
  }
}

/** The hint of a mistake, which no process mends by itself; of a lost store that of its cause. */
function remedyOf(error: unknown): string | undefined {
  if (!isRetinueError(error)) return undefined;
  if (isStoreLost(error)) return remedyOf(error.details.cause);
  return errorClass(error) === "Misconfigured" ? error.details.hint : undefined;
}

function newIn(now: ReadonlySet<Handle>, before: ReadonlySet<Handle>): number {
  return [...now].filter((handle) => !before.has(handle)).length;
}

function counted(count: number): string {
  return `${count} ${count === 1 ? "specialist" : "specialists"}`;
}
