/** Rows of long ago for a store on a server: handled events of some specialists, with their runs, requests and answers. */
import { hashedShard } from "../../src/store/postgres/shard-map.ts";

/** Blocks of numbers that stores take from now on are above these rows. */
const BLOCK = 65_536;

/** Statements that add `rows` rows, a quarter of each kind, to a store that nobody has. The events are `post.created:old<i>`, from 1. */
export function oldRows(handles: readonly string[], rows: number, now: number): readonly string[] {
  const names = handles.map((handle) => `'${handle}'`).join(",");
  const shards = handles.map((handle) => hashedShard(handle)).join(",");
  const which = `i % ${handles.length} + 1`;
  const n = `FROM generate_series(1, ${Math.floor(rows / 4)}) AS i,
    LATERAL (SELECT (ARRAY[${names}])[${which}] AS s, (ARRAY[${shards}])[${which}] AS shard) AS of`;
  return [
    `SELECT setval('retinue.fact_block', greatest((SELECT last_value FROM retinue.fact_block), ${Math.ceil(rows / BLOCK) + 10}))`,
    `INSERT INTO retinue.event (shard, seq, specialist, id, kind, thread, payload, via, hops, begun, created_at)
      SELECT shard, 4 * i, s, 'post.created:old' || i, 'post.created', 'old' || i, '{}', 'poll', 0, 0, ${now} ${n}`,
    `INSERT INTO retinue.run (shard, seq, event, specialist, at) SELECT shard, 4 * i + 1, 4 * i, s, ${now} ${n}`,
    `INSERT INTO retinue.attempt (shard, seq, specialist, key_id, operation, lane, cost, at, deadline_at)
      SELECT shard, 4 * i + 2, s, 'key of ' || s, 'posts.reply', 'reply', 1, i, i ${n}`,
    `INSERT INTO retinue.answer (shard, seq, attempt, at, outcome) SELECT shard, 4 * i + 3, 4 * i + 2, i, 'confirmed' ${n}`,
  ];
}
