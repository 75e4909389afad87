/** Writes that a process had under way, by its rows: for one that cannot be asked. */
import { INTENTS_OF_RUN } from "../../live/facts.ts";
import { OPEN } from "../sqlite/fold.ts";
import type { WriteInFlight } from "../controls.ts";
import type { PostgresConnection } from "./open-connection.ts";

/** An action has a row of its own once it is stored by itself; before, it is in that of its run. */
const ID = `coalesce((SELECT i.id FROM @.intent i WHERE i.shard = a.shard AND i.seq = a.intent),
  (SELECT r.intents::jsonb -> (a.intent % ${INTENTS_OF_RUN})::int ->> 'id' FROM @.run r WHERE r.shard = a.shard AND r.seq = a.intent / ${INTENTS_OF_RUN}))`;

/** Requests without an answer: those that were open at the holder's mark, and those since. */
const OPEN_WRITES = `SELECT ${ID} AS id, a.specialist, a.operation, a.target, a.at, a.deadline_at FROM @.attempt a
    JOIN @.shard s ON s.shard = a.shard JOIN @.mark m ON m.holder = s.holder
  WHERE a.shard = ANY($1::int[]) AND a.intent IS NOT NULL
    AND (a.seq > m.seq OR EXISTS (SELECT FROM @.open o WHERE o.shard = a.shard AND o.kind = ${OPEN.attempt} AND o.seq = a.seq))
    AND NOT EXISTS (SELECT FROM @.answer x WHERE x.shard = a.shard AND x.seq > a.seq AND x.attempt = a.seq)
  ORDER BY a.seq`;

export async function openWrites(
  connection: PostgresConnection,
  schema: string,
  shards: readonly number[],
): Promise<readonly WriteInFlight[]> {
  const rows = await connection.query({ text: OPEN_WRITES.replaceAll("@", schema), values: [shards] });
  return rows.map(({ id, specialist, operation, target, at, deadline_at: deadlineAt }) => ({
    ...(typeof id === "string" ? { id } : {}),
    handle: String(specialist),
    operation: String(operation),
    ...(typeof target === "string" ? { target } : {}),
    startedAt: Number(at),
    deadlineAt: Number(deadlineAt),
  }));
}
