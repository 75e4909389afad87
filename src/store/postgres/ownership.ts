/**
 * Ownership of shards: a session advisory lock for each, on the connection that writes. PostgreSQL frees the locks when that connection
 * ends, and with it nothing more can be written: so a process that lost its shards cannot act on them, whatever its clock says.
 */
import type { Clock } from "../../core/clock.ts";
import type { PostgresConnection } from "./open-connection.ts";
import { livingSettings, settingOf, type SessionTimes } from "./session-settings.ts";

export const SHARDS = 1_024;
export const ALL_SHARDS: readonly number[] = Array.from({ length: SHARDS }, (_, shard) => shard);

/** The first of the two numbers of our locks: of the shards of a schema, and of its living processes. `$1` is the schema. */
export const SHARD_LOCKS = "hashtext('retinue shards ' || $1)";
export const PROCESS_LOCKS = "hashtext('retinue processes ' || $1)";

/** The purpose of the sessions that write for a process; 0 stands for a command. */
export function writerPurpose(process: number): string {
  return process === 0 ? "writer" : `writer ${process}`;
}

/** The name, as `application_name` has it, of the sessions that write for the process with this number, an expression of SQL. */
export const writerOf = (number: string): string => `'retinue writer ' || ${number}`;

/** Our locks in `pg_locks`. */
export const LOCKS = `pg_locks l JOIN pg_database d ON d.oid = l.database AND d.datname = current_database() AND l.locktype = 'advisory'
  AND l.objsubid = 2 AND l.granted`;

/** A lock's first number as `pg_locks` shows it. */
export const asOid = (lock: string): string => `(${lock}::bigint & 4294967295)`;

/**
 * Takes those of the shards that are free, while nobody else takes any: of several who want all, one gets all. From then on the session has
 * to say that it lives. Returns the shards.
 */
export async function takeShards(
  connection: PostgresConnection,
  { schema, wanted, times }: { readonly schema: string; readonly wanted: readonly number[]; readonly times: SessionTimes },
): Promise<readonly number[]> {
  // One round trip. The locks of shards stay with the session.
  const [, , , rows] = await Promise.all([
    connection.query(settingOf(livingSettings(times))),
    connection.query({ text: "BEGIN" }),
    connection.query({ text: "SELECT pg_advisory_xact_lock(hashtextextended('retinue taking ' || $1, 0))", values: [schema] }),
    connection.query({
      text: `SELECT shard FROM unnest($2::int[]) AS shard WHERE pg_try_advisory_lock(${SHARD_LOCKS}, shard) ORDER BY shard`,
      values: [schema, wanted],
    }),
    connection.query({ text: "COMMIT" }),
  ]);
  return rows.map(({ shard }) => Number(shard));
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
