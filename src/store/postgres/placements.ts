/** The shards of specialists: those that have a key are put into one, with the key's quota; and the specialists that each process has. */
import type { Handle, KeyId } from "../../core/ids.ts";
import { inSchema, type Query } from "./in-schema.ts";
import type { PostgresConnection } from "./open-connection.ts";
import { SPAN } from "../sqlite/pending-cells.ts";
import { hashedShard } from "./shard-map.ts";

/** Specialists with one key. */
export interface KeyGroup {
  readonly key: KeyId;
  readonly members: readonly Handle[];
}

export interface Placed {
  /** Specialists that have rows in another shard than the first of their group: they must not run. */
  readonly apart: readonly Handle[];
  /** The shards of the groups' members, of those that were placed. */
  readonly shards: ReadonlyMap<Handle, number>;
}

/**
 * Puts each group into one shard: that of a member that has rows or a place, else the first member's own. One without rows goes where its
 * key was used last, perhaps by a specialist that has it no longer. Groups of processes that know different members come one after the other,
 * so that the later one follows the earlier.
 */
export async function placeTogether(
  connection: Pick<PostgresConnection, "query">,
  schema: string,
  groups: readonly KeyGroup[],
): Promise<Placed> {
  if (groups.length === 0) return { apart: [], shards: new Map() };
  const send = inSchema(connection, schema);
  // Sent together: no other statement of the session comes between.
  const begun = [send("BEGIN"), send("SELECT pg_advisory_xact_lock(hashtextextended('retinue placing ' || $1, 0))", [schema])];
  const all = groups.flatMap(({ key, members }) => members.map((handle) => ({ key, handle })));
  const handles = all.map(({ handle }) => handle);
  const following = send(FOLLOW_KEY, [handles, all.map(({ key }) => key), handles.map((handle) => hashedShard(handle))]);
  const placing = groups.flatMap(({ members }) => {
    const sorted = members.toSorted();
    return sorted.length < 2 ? [] : [send(PLACE, [sorted, sorted.map((handle) => hashedShard(handle))])];
  });
  const placed = send("SELECT specialist, shard FROM @.placement WHERE specialist = ANY($1::text[])", [handles]);
  const [found, shards] = await Promise.all([Promise.all(placing), placed, following, ...begun, send("COMMIT")]);
  return {
    apart: found.flat().map(({ handle }) => String(handle) as Handle),
    shards: new Map(shards.map(({ specialist, shard }) => [String(specialist) as Handle, Number(shard)])),
  };
}

/** The shard that a specialist belongs to. */
export async function placedShard(query: Query, specialist: Handle): Promise<number> {
  const [row] = await query("SELECT shard FROM @.placement WHERE specialist = $1", [specialist]);
  return row === undefined ? hashedShard(specialist) : Number(row["shard"]);
}

/** The number of no process. */
export const NO_PROCESS = 0;

/**
 * The specialists that each of these processes has, by its number: those it has a definition of, in its shards. Those of free shards are at
 * `NO_PROCESS`, if one of the processes has a definition. In the order of handles.
 */
export async function handlesOf(
  query: Query,
  processes: readonly { readonly number: number; readonly shards: readonly number[] }[],
  free: readonly number[] = [],
): Promise<ReadonlyMap<number, readonly Handle[]>> {
  const rows = await query(
    `SELECT d.handle, d.numbers, coalesce(s.shard, p.shard) AS shard
      FROM (SELECT h AS handle, json_agg(number) AS numbers FROM @.process, unnest(handles) AS h WHERE number = ANY($1) GROUP BY h) d
      LEFT JOIN @.specialist s ON s.handle = d.handle LEFT JOIN @.placement p ON p.specialist = d.handle ORDER BY d.handle`,
    [processes.map(({ number }) => number)],
  );
  const all = [...processes, { number: NO_PROCESS, shards: free }];
  const owners = new Map(all.flatMap(({ number, shards }) => shards.map((shard) => [shard, number] as const)));
  const found = new Map<number, Handle[]>(all.map(({ number }) => [number, []]));
  for (const { handle, numbers, shard } of rows) {
    const owner = owners.get(shard === null ? hashedShard(String(handle)) : Number(shard));
    const knows: readonly unknown[] = Array.isArray(numbers) ? numbers : [];
    if (owner !== undefined && (owner === NO_PROCESS || knows.includes(owner))) found.get(owner)?.push(String(handle) as Handle);
  }
  return found;
}

/** One statement for all: where a key has rows in several shards, those of its last use count. */
const FOLLOW_KEY = `INSERT INTO @.placement (specialist, shard)
    SELECT DISTINCT ON (g.handle) g.handle, q.shard FROM unnest($1::text[], $2::text[], $3::int[]) AS g(handle, key, hashed)
    JOIN @.quota_key q ON q.key_id = g.key LEFT JOIN @.placement p ON p.specialist = g.handle
    WHERE NOT EXISTS (SELECT FROM @.specialist s WHERE s.handle = g.handle)
      AND NOT EXISTS (SELECT FROM @.event e WHERE e.shard = coalesce(p.shard, g.hashed) AND e.specialist = g.handle)
    ORDER BY g.handle, (SELECT max(c.cell) FROM @.quota_cell c WHERE c.shard = q.shard AND c.key_id = q.key_id AND c.span = ${SPAN.day}) DESC NULLS LAST
    ON CONFLICT (specialist) DO UPDATE SET shard = excluded.shard`;

/**
 * One statement for a group: rows that are there decide, then places, then the hash of the first. One that never had a key may have events,
 * and nothing else.
 */
const PLACE = `WITH known AS (
    SELECT g.handle, s.shard AS own, p.shard AS placed, coalesce(p.shard, g.hashed) AS meant
    FROM unnest($1::text[], $2::int[]) AS g(handle, hashed)
    LEFT JOIN @.specialist s ON s.handle = g.handle LEFT JOIN @.placement p ON p.specialist = g.handle),
  used AS (
    SELECT handle, placed, CASE WHEN own IS NOT NULL THEN own
        WHEN EXISTS (SELECT FROM @.event e WHERE e.shard = meant AND e.specialist = known.handle) THEN meant END AS used FROM known),
  found AS (SELECT handle, used, coalesce(used, placed) AS shard FROM used),
  target AS (SELECT coalesce((SELECT shard FROM found WHERE shard IS NOT NULL ORDER BY used IS NULL, handle LIMIT 1), ($2::int[])[1]) AS shard),
  put AS (INSERT INTO @.placement (specialist, shard) SELECT f.handle, t.shard FROM found f, target t WHERE f.used IS NULL OR f.used = t.shard
    ON CONFLICT (specialist) DO UPDATE SET shard = excluded.shard)
  SELECT f.handle FROM found f, target t WHERE f.used <> t.shard`;
