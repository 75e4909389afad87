/** The requests of actions that a process had under way, by its rows: for one that cannot be asked. */
import { isObject, parseJson } from "../../core/json.ts";
import { INTENTS_OF_RUN } from "../../live/facts.ts";
import { OPEN } from "../sqlite/fold.ts";
import type { WriteInFlight } from "../controls.ts";
import type { Query } from "./in-schema.ts";

/**
 * Requests without an answer: those that were open at the holder's mark, and those since. An action has a row of its own once it is stored
 * by itself; before, it is in that of its run, as text: JSON may hold half an emoji, which `jsonb` refuses.
 */
const OPEN_WRITES = `SELECT i.id, CASE WHEN i.id IS NULL THEN r.intents END AS intents, a.intent % ${INTENTS_OF_RUN} AS place,
    a.specialist, a.operation, a.target, a.at, a.deadline_at
  FROM @.attempt a JOIN @.shard s ON s.shard = a.shard JOIN @.mark m ON m.holder = s.holder
    LEFT JOIN @.intent i ON i.shard = a.shard AND i.seq = a.intent
    LEFT JOIN @.run r ON r.shard = a.shard AND r.seq = a.intent / ${INTENTS_OF_RUN}
  WHERE a.shard = ANY($1::int[]) AND a.intent IS NOT NULL
    AND (a.seq > m.seq OR EXISTS (SELECT FROM @.open o WHERE o.shard = a.shard AND o.kind = ${OPEN.attempt} AND o.seq = a.seq))
    AND NOT EXISTS (SELECT FROM @.answer x WHERE x.shard = a.shard AND x.seq > a.seq AND x.attempt = a.seq)
  ORDER BY a.seq`;

export async function openWrites(query: Query, shards: readonly number[]): Promise<readonly WriteInFlight[]> {
  const rows = await query(OPEN_WRITES, [shards]);
  return rows.map(({ id, intents, place, specialist, operation, target, at, deadline_at: deadlineAt }) => {
    const known = id ?? idIn(intents, Number(place));
    return {
      ...(typeof known === "string" ? { id: known } : {}),
      handle: String(specialist),
      operation: String(operation),
      ...(typeof target === "string" ? { target } : {}),
      startedAt: Number(at),
      deadlineAt: Number(deadlineAt),
    };
  });
}

/** The id of an action in the row of its run. */
function idIn(intents: unknown, place: number): unknown {
  const all = typeof intents === "string" ? parseJson(intents) : undefined;
  const intent: unknown = Array.isArray(all) ? all[place] : undefined;
  return isObject(intent) ? intent["id"] : undefined;
}
