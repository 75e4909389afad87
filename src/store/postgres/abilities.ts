/** The definitions of the processes beside the shards of their specialists: which process can run what is in a shard. */
import { asHandle, type Handle } from "../../core/ids.ts";
import type { Query } from "./in-schema.ts";
import { hashedShardSql } from "./shard-map.ts";

/** A shard that the processes are not equally able to run: some lack definitions of specialists in it. */
export interface UnevenShard {
  readonly shard: number;
  /** No other process can run more of its specialists than this one. */
  readonly isOurs: boolean;
  /** Number of processes that can run as many of its specialists as the best. */
  readonly able: number;
}

/** A specialist that its process has no definition of. */
export interface UndefinedSpecialist {
  readonly handle: string;
  /** Another process has one, and takes shards: it does not drain. */
  readonly isDefinedElsewhere: boolean;
}

/** The shard of a specialist `h`, also of a new one, which has no rows yet. */
const SHARD = `coalesce(s.shard, l.shard, ${hashedShardSql("h")})`;
const PLACES = "LEFT JOIN @.specialist s ON s.handle = h LEFT JOIN @.placement l ON l.specialist = h";

/** Processes with the same definitions in the same order, as usual, cost no more than this comparison. */
const UNEVEN = `WITH able AS MATERIALIZED (
    SELECT p.number, ${SHARD} AS shard, count(*) AS n
    FROM @.process p CROSS JOIN LATERAL unnest(p.handles) AS h ${PLACES}
    WHERE p.number = ANY($1::bigint[]) AND (SELECT count(DISTINCT handles) > 1 FROM @.process WHERE number = ANY($1::bigint[]))
    GROUP BY 1, 2),
  best AS (SELECT shard, max(n) AS n FROM able GROUP BY shard)
  SELECT b.shard, count(*) AS able, bool_or(a.number = $2::bigint) AS ours FROM best b JOIN able a ON a.shard = b.shard AND a.n = b.n
    GROUP BY b.shard HAVING count(*) < cardinality($1::bigint[])`;

/** The shards that `among` are not equally able to run, as the process `own` sees them. */
export async function unevenShards(query: Query, among: readonly number[], own: number): Promise<readonly UnevenShard[]> {
  if (among.length < 2) return [];
  const rows = await query(UNEVEN, [among, own]);
  return rows.map(({ shard, able, ours }) => ({ shard: Number(shard), isOurs: ours === true, able: Number(able) }));
}

const ELSEWHERE = `SELECT h FROM @.process p CROSS JOIN LATERAL unnest(p.handles) AS h WHERE p.number = ANY($1::bigint[])
  EXCEPT SELECT unnest(handles) FROM @.process WHERE number = $2::bigint`;

/** The specialists that one of `among` has a definition of, and the process `own` has not. */
export async function definedElsewhere(query: Query, among: readonly number[], own: number): Promise<readonly Handle[]> {
  return (await query(ELSEWHERE, [among, own])).map(({ h }) => asHandle(String(h)));
}

const UNDEFINED = `WITH owner AS (SELECT * FROM unnest($1::int[], $2::bigint[]) AS o (shard, number)),
  able AS (SELECT h, array_agg(p.number) AS numbers FROM @.process p CROSS JOIN LATERAL unnest(p.handles) AS h
    WHERE p.number = ANY($3::bigint[]) GROUP BY h),
  every AS (SELECT handle AS h FROM @.specialist UNION SELECT h FROM able WHERE cardinality(numbers) < cardinality($3::bigint[])),
  placed AS MATERIALIZED (SELECT h, ${SHARD} AS shard FROM every ${PLACES})
  SELECT h AS handle, coalesce(a.numbers && $4::bigint[], false) AS elsewhere, count(*) OVER () AS total
    FROM placed JOIN owner o USING (shard) LEFT JOIN able a USING (h)
    WHERE a.numbers IS NULL OR NOT o.number = ANY(a.numbers) ORDER BY 1 LIMIT 0 + $5`;

export interface Owner {
  readonly number: number;
  readonly draining: boolean;
  readonly shards: readonly number[];
}

/**
 * The specialists that are at a process without their definition, at most so many, and the number of all of them. A process that drains has
 * its definitions until the end.
 */
export async function undefinedSpecialists(
  query: Query,
  owners: readonly Owner[],
  most: number,
): Promise<{ readonly first: readonly UndefinedSpecialist[]; readonly total: number }> {
  const held = owners.flatMap(({ number, shards }) => shards.map((shard) => ({ number, shard })));
  const working = owners.filter(({ draining }) => !draining).map(({ number }) => number);
  const all = owners.map(({ number }) => number);
  const rows = await query(UNDEFINED, [held.map(({ shard }) => shard), held.map(({ number }) => number), all, working, most]);
  return {
    first: rows.map(({ handle, elsewhere }) => ({ handle: String(handle), isDefinedElsewhere: elsewhere === true })),
    total: Number(rows[0]?.["total"] ?? 0),
  };
}
