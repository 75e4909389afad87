/** The requests of actions that a process had under way, by its rows: for one that cannot be asked. */
import { isObject, parseJson } from "../../core/json.ts";
import { INTENTS_OF_RUN } from "../../live/facts.ts";
import { SECOND } from "../../core/units.ts";
import { OPEN } from "../sqlite/fold.ts";
import { sqlState } from "../sqlite/intent-states.ts";
import type { WriteInFlight } from "../controls.ts";
import type { Query } from "./in-schema.ts";
import { OPEN_INTENTS } from "./migrations/0001-tables.ts";
import type { PostgresRow } from "./open-connection.ts";
import { asOid, LOCKS, SHARD_LOCKS } from "./ownership.ts";
import { SERVER_NOW } from "./server-time.ts";

/**
 * Requests without an answer, or whose next owner has found none: those that were open at the holder's mark, and those since. An action has a row of its own once it is stored
 * by itself; before, it is in that of its run, as text: JSON may hold half an emoji, which `jsonb` refuses.
 */
const OPEN_WRITES = `SELECT i.id, CASE WHEN i.id IS NULL THEN r.intents END AS intents, a.intent % ${INTENTS_OF_RUN} AS place,
    a.specialist, a.operation, a.target, a.at, a.deadline_at
  FROM @.attempt a JOIN @.shard s ON s.shard = a.shard JOIN @.mark m ON m.holder = s.holder
    LEFT JOIN @.intent i ON i.shard = a.shard AND i.seq = a.intent
    LEFT JOIN @.run r ON r.shard = a.shard AND r.seq = a.intent / ${INTENTS_OF_RUN}
  WHERE a.shard = ANY($1::int[]) AND a.intent IS NOT NULL
    AND (a.seq > m.seq OR EXISTS (SELECT FROM @.open o WHERE o.shard = a.shard AND o.kind = ${OPEN.attempt} AND o.seq = a.seq))
    AND NOT EXISTS (SELECT FROM @.answer x WHERE x.shard = a.shard AND x.seq > a.seq AND x.attempt = a.seq AND x.outcome <> 'unknown')
  ORDER BY a.seq`;

/** Actions that were in doubt at the holder's mark: they were sent, and may take effect yet. Those since have a request above. */
const DOUBTS = `SELECT id, specialist, operation, target, coalesce(sent_at, created_at) AS at, next_at AS deadline_at
  FROM @.intent WHERE shard = ANY($1::int[]) AND state = ${sqlState("in_doubt")} AND ${OPEN_INTENTS} ORDER BY seq`;

/** A store that was opened so long ago answers for itself. */
const OPENED_MS = 60 * SECOND;

/** Shards without an owner, and those whose owner has just begun or is about to: nobody else can say what their requests are. */
const MOVING = `SELECT shard FROM @.shard WHERE holder IS NOT NULL EXCEPT
  SELECT s.shard FROM @.shard s JOIN @.holder h ON h.number = s.holder AND h.opened_at < ${SERVER_NOW} - ${OPENED_MS}
    JOIN (SELECT l.pid, l.objid::bigint AS shard FROM ${LOCKS} WHERE l.classid::bigint = ${asOid(SHARD_LOCKS)}) held
      ON held.pid = h.backend AND held.shard = s.shard`;

/** The requests of shards that go from one process to another at this time. */
export async function movingWrites(query: Query, schema: string): Promise<readonly WriteInFlight[]> {
  const moving = await query(MOVING, [schema]);
  return moving.length === 0
    ? []
    : openWrites(
        query,
        moving.map(({ shard }) => Number(shard)),
      );
}

/** The requests of actions of these shards, by their rows, also those whose outcome is in doubt. */
export async function openWrites(query: Query, shards: readonly number[]): Promise<readonly WriteInFlight[]> {
  const [sent, doubts] = await Promise.all([query(OPEN_WRITES, [shards]), query(DOUBTS, [shards])]);
  const requests = sent.map(writeOf);
  const listed = new Set(requests.map(({ id }) => id));
  return [...requests, ...doubts.map(writeOf).filter(({ id }) => !listed.has(id))];
}

function writeOf({ id, intents, place, specialist, operation, target, at, deadline_at: deadlineAt }: PostgresRow): WriteInFlight {
  const known = id ?? idIn(intents, Number(place));
  return {
    ...(typeof known === "string" ? { id: known } : {}),
    handle: String(specialist),
    operation: String(operation),
    ...(typeof target === "string" ? { target } : {}),
    startedAt: Number(at),
    deadlineAt: Number(deadlineAt),
  };
}

/** The id of an action in the row of its run. */
function idIn(intents: unknown, place: number): unknown {
  const all = typeof intents === "string" ? parseJson(intents) : undefined;
  const intent: unknown = Array.isArray(all) ? all[place] : undefined;
  return isObject(intent) ? intent["id"] : undefined;
}
