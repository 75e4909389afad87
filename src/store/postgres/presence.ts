/**
 * The presence of a process: a session that holds an advisory lock, and does nothing else. It never times out, so a process that is stopped
 * is still seen: the kernel answers the server's probes, and no row is sent there that would have to be taken. The server frees the lock at
 * once when the process is gone, and after the session timeout when its machine is.
 */
import { hostname } from "node:os";
import { readVersion } from "../../core/version.ts";
import type { Clock } from "../../core/clock.ts";
import type { Handle } from "../../core/ids.ts";
import { inSchema, type Query } from "./in-schema.ts";
import type { PostgresConnection } from "./open-connection.ts";
import { asOid, LOCKS, PROCESS_LOCKS, writerOf } from "./ownership.ts";
import { SERVER_NOW } from "./server-time.ts";

/** A server's own setting may end what is silent. */
export const PRESENCE_SETTINGS = { idle_session_timeout: "0" };

export interface PresenceOptions {
  readonly schema: string;
  readonly clock: Clock;
  /** The specialists that the process can run. */
  readonly handles: readonly Handle[];
  /** The start of the process. Default: now. */
  readonly startedAt?: number | undefined;
  /** Called with the server's clock, and the monotonic time at which it was asked for it. */
  readonly onTime?: (serverNow: number, askedAt: number) => void;
}

/** The number of a process that joins. */
export async function newProcessNumber(
  connection: PostgresConnection,
  { schema, clock, onTime }: Pick<PresenceOptions, "schema" | "clock" | "onTime">,
): Promise<number> {
  const askedAt = clock.monotonic();
  const [given] = await inSchema(connection, schema)(`SELECT nextval('@.process_number') AS number, ${SERVER_NOW} AS now`);
  onTime?.(Number(given?.["now"]), askedAt);
  return Number(given?.["number"]);
}

/** Makes the process one that lives: from now on the others leave its part to it. */
export async function bePresent(
  connection: PostgresConnection,
  { schema, clock, number, handles, startedAt }: Omit<PresenceOptions, "onTime"> & { readonly number: number },
): Promise<void> {
  const query = inSchema(connection, schema);
  await query(`SELECT pg_advisory_lock(${PROCESS_LOCKS}, $2)`, [schema, number]);
  await query("INSERT INTO @.process (number, name, version, started_at, handles) VALUES ($1, $2, $3, $4, $5)", [
    number,
    `${hostname()}:${process.pid}`,
    readVersion(),
    startedAt ?? clock.now(),
    handles,
  ]);
  await removeEnded(query, schema);
}

/** Rows that one join removes of a table. */
const REMOVED_AT_ONCE = 1_000;
/** Tables with a row for each holder. A start reads those of the last holders of its shards. */
const OF_HOLDERS = ["mark", "rolled_up", "ledger_time"] as const;

/** Removes rows of processes that are gone, and of holders that were not the last of any shard. */
async function removeEnded(query: Query, schema: string): Promise<void> {
  await query(
    `WITH living AS MATERIALIZED (SELECT l.objid::bigint AS number FROM ${LOCKS} WHERE l.classid::bigint = ${asOid(PROCESS_LOCKS)})
      DELETE FROM @.process WHERE number IN (SELECT p.number FROM @.process p WHERE p.number NOT IN (SELECT number FROM living)
        AND NOT EXISTS (SELECT FROM pg_stat_activity a WHERE a.application_name = ${writerOf("p.number")})
        ORDER BY p.number LIMIT ${REMOVED_AT_ONCE} FOR UPDATE OF p SKIP LOCKED)`,
    [schema],
  );
  const removed = OF_HOLDERS.map((table) => `${table}_rows AS (DELETE FROM @.${table} WHERE holder IN (SELECT number FROM ended))`);
  await query(
    `WITH ended AS MATERIALIZED (SELECT h.number FROM @.holder h WHERE NOT EXISTS (SELECT FROM @.shard s WHERE s.holder = h.number)
        ORDER BY h.number LIMIT ${REMOVED_AT_ONCE} FOR UPDATE OF h SKIP LOCKED),
      ${removed.join(", ")}
      DELETE FROM @.holder WHERE number IN (SELECT number FROM ended)`,
  );
}
