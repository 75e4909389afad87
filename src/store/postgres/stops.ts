/** Stops of a fleet on the server: those kept for stores that are opened later, and the end of the sessions of a process that is silent. */
import { messageOf, Misconfigured, Retryable } from "../../core/errors.ts";
import { SECOND } from "../../core/units.ts";
import type { WriteInFlight } from "../controls.ts";
import type { NewOrder, OrderEnd } from "../orders.ts";
import { BLOCK } from "../sqlite/numbers.ts";
import type { FleetProcess } from "./fleet-view.ts";
import type { Query } from "./in-schema.ts";
import { openWrites } from "./open-writes.ts";
import { asOid, LOCKS, SHARD_LOCKS, writerPurpose } from "./ownership.ts";
import { sqlState } from "./server-errors.ts";

/** The server has this time to end a session. */
const END_MS = 2 * SECOND;

const RIGHT_MISSING = "42501";
/** The sessions of a process that have shards. */
const OWNERS = `(SELECT DISTINCT l.pid FROM ${LOCKS} WHERE l.classid::bigint = ${asOid(SHARD_LOCKS)}) l
  JOIN pg_stat_activity a ON a.pid = l.pid WHERE a.application_name = $2`;
const END = `SELECT pg_terminate_backend(l.pid, ${END_MS}) AS ended FROM ${OWNERS}`;

/** Stores a stop, for processes that begin later. */
export async function keepStop(
  query: Query,
  stop: { readonly kind: "halt" | "pause"; readonly scope: string; readonly since: number; readonly reason: string },
): Promise<void> {
  await query(
    `INSERT INTO @.stop (kind, scope, since, reason) VALUES ($1, $2, $3, $4)
      ON CONFLICT (kind, scope) DO UPDATE SET since = excluded.since, reason = excluded.reason`,
    [stop.kind, stop.scope, stop.since, stop.reason],
  );
}

/** Adds a row to the orders of a shard, with a number of its own block. */
export async function keepOrder(query: Query, shard: number, order: NewOrder & OrderEnd): Promise<void> {
  const { at, who, from, what, subject, why, result, code } = order;
  await query(
    `INSERT INTO @.guardian_order (shard, seq, at, who, origin, what, subject, why, result, code)
      VALUES ($1, nextval('@.fact_block') * ${BLOCK}, $2, $3, $4, $5, $6, $7, $8, $9)`,
    [shard, at, who, from, what, subject ?? null, why ?? null, result, code ?? null],
  );
}

/**
 * Ends the sessions by which a process has shards: nothing that it decides from then on can be stored. Resolves when they are ended, with
 * what it had under way. Throws `Retryable` (`process_silent`) if the server does not end one in time, and `Misconfigured`
 * (`store_rights_missing`) if they are those of another role.
 */
export async function endSessions(query: Query, schema: string, { number, name, shards }: FleetProcess): Promise<readonly WriteInFlight[]> {
  const theirs = [schema, `retinue ${writerPurpose(number)}`];
  const rows = await query(END, theirs).catch((error: unknown) => {
    if (sqlState(error) !== RIGHT_MISSING) throw error;
    throw new Misconfigured(
      "store_rights_missing",
      `${name} does not answer, and its sessions are those of another role: ${messageOf(error)}`,
      {
        hint: "give the order as the role of the processes, or let a superuser GRANT pg_signal_backend to yours",
        cause: error,
      },
    );
  });
  // One that ends by itself at this moment, as after its timeout, cannot be ended either.
  if (rows.some(({ ended }) => ended !== true) && (await query(`SELECT l.pid FROM ${OWNERS}`, theirs)).length > 0)
    throw new Retryable("process_silent", `${name} does not answer, and the server has not ended its sessions: it may go on sending`, {
      hint: "give the order again, or end the process",
    });
  return openWrites(query, shards);
}

/** Ends a kept stop. False if there was none. */
export async function dropStop(query: Query, kind: "halt" | "pause", scope: string): Promise<boolean> {
  const rows = await query("DELETE FROM @.stop WHERE kind = $1 AND scope = $2 RETURNING scope", [kind, scope]);
  return rows.length > 0;
}
