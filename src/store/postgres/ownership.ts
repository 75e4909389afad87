/**
 * The process that works on a store: the one that holds its advisory lock, on the connection that writes. PostgreSQL frees the lock when
 * that connection ends, and with it nothing more can be written: so a process that lost the store cannot act on it, whatever its clock says.
 */
import type { Clock } from "../../core/clock.ts";
import { Retryable } from "../../core/errors.ts";
import { SECOND } from "../../core/units.ts";
import type { PostgresConnection } from "./open-connection.ts";

/** The server ends a session that is silent for this long: its process is gone, or stopped. */
export const SESSION_TIMEOUT_MS = 16 * SECOND;

/** The times of a session, made of its timeout. */
export interface SessionTimes {
  readonly timeoutMs: number;
  /** A process that is idle sends a statement this often. */
  readonly aliveMs: number;
  /** Nothing leaves later than this after the last statement that the server answered: another process may have the store soon after. */
  readonly currentMs: number;
}

export function sessionTimes(timeoutMs = SESSION_TIMEOUT_MS): SessionTimes {
  return { timeoutMs, aliveMs: timeoutMs / 4, currentMs: (timeoutMs * 3) / 4 };
}

/** Settings of the session that writes. A stop within a transaction counts as silence too; a client that is gone is noticed while it waits. */
export function writerSettings({ timeoutMs }: SessionTimes): Readonly<Record<string, string>> {
  return {
    idle_session_timeout: String(timeoutMs),
    idle_in_transaction_session_timeout: String(timeoutMs),
    client_connection_check_interval: "2000",
    tcp_keepalives_idle: "5",
    tcp_keepalives_interval: "2",
    tcp_keepalives_count: "3",
    synchronous_commit: "on",
  };
}

/** How a process waits for a store that another one has. */
export interface StandBy {
  /** Called once when the wait begins. */
  readonly waiting: (owner: string) => void;
  /** Ends the wait, which then throws. */
  readonly signal: AbortSignal;
}

/** Takes the store. Throws `Retryable` (`store_in_use`) if another process has it and this one does not stand by. */
export async function takeStore(connection: PostgresConnection, schema: string, standBy: StandBy | undefined): Promise<void> {
  const lock = `hashtextextended('retinue store ' || $1, 0)`;
  const [row] = await connection.query({ text: `SELECT pg_try_advisory_lock(${lock}) AS got`, values: [schema] });
  if (row?.["got"] === true) return;
  const owner = await ownerOf(connection, schema);
  if (standBy === undefined)
    throw new Retryable("store_in_use", `another runtime has the store: ${owner}`, {
      hint: "it goes on: give the order on its machine, in its folder; retinue run stands by and takes over when it ends",
    });
  standBy.waiting(owner);
  const stop = (): void => void connection.close();
  if (standBy.signal.aborted) stop();
  else standBy.signal.addEventListener("abort", stop, { once: true });
  try {
    // No polling: the server wakes it when the lock is free.
    await connection.query({ text: `SELECT pg_advisory_lock(${lock})`, values: [schema] });
  } finally {
    standBy.signal.removeEventListener("abort", stop);
  }
}

async function ownerOf(connection: PostgresConnection, schema: string): Promise<string> {
  const [row] = await connection.query({ text: `SELECT name, started_at FROM ${schema}.process ORDER BY number DESC LIMIT 1` });
  return row === undefined ? "it has just started" : `${String(row["name"])}, since ${new Date(Number(row["started_at"])).toISOString()}`;
}

/** The last time at which the server knew of this process, by two clocks: one of them may stand still while the process is stopped. */
export class Heard {
  readonly #clock: Clock;
  #monotonic: number;
  #wall: number;

  constructor(clock: Clock) {
    this.#clock = clock;
    this.#monotonic = clock.monotonic();
    this.#wall = clock.now();
  }

  /** Returns a function to call when a statement that begins now is answered. */
  beginning(): () => void {
    const [monotonic, wall] = [this.#clock.monotonic(), this.#clock.now()];
    return () => {
      this.#monotonic = monotonic;
      this.#wall = wall;
    };
  }

  get ageMs(): number {
    return Math.max(this.#clock.monotonic() - this.#monotonic, this.#clock.now() - this.#wall);
  }
}
