/** Puts specialists that share a key into one shard. */
import type { Handle } from "../../core/ids.ts";
import type { PostgresRow } from "./open-connection.ts";
import { hashedShard } from "./shard-map.ts";

/** Asks the server; `@.` stands for the schema. */
export type Ask = (text: string, values: readonly unknown[]) => Promise<readonly PostgresRow[]>;

export interface Placed {
  /** Specialists that have rows in another shard than the first of their group: they must not run. */
  readonly apart: readonly Handle[];
  /** Specialists that stand elsewhere than their hash says. */
  readonly shards: ReadonlyMap<Handle, number>;
}

/** Puts each group into one shard, where one process has them together with the quota of their key. */
export async function placeTogether(ask: Ask, groups: readonly (readonly Handle[])[]): Promise<Placed> {
  const apart: Handle[] = [];
  for (const group of groups) {
    const sorted = group.toSorted();
    const rows = await ask(
      `SELECT h AS handle, coalesce(s.shard, p.shard) AS shard, s.shard IS NOT NULL AS known FROM unnest($1::text[]) AS h
        LEFT JOIN @.specialist s ON s.handle = h LEFT JOIN @.placement p ON p.specialist = h ORDER BY s.shard IS NULL, p.shard IS NULL, h`,
      [sorted],
    );
    const [first] = rows;
    const target = first === undefined || first["shard"] === null ? hashedShard(sorted[0] ?? "") : Number(first["shard"]);
    apart.push(
      ...rows.flatMap(({ handle, known, shard }) => (known === true && Number(shard) !== target ? [String(handle) as Handle] : [])),
    );
    await ask(
      `INSERT INTO @.placement (specialist, shard) SELECT h, $2 FROM unnest($1::text[]) AS h
        WHERE NOT EXISTS (SELECT FROM @.specialist s WHERE s.handle = h AND s.shard <> $2)
        ON CONFLICT (specialist) DO UPDATE SET shard = excluded.shard`,
      [sorted, target],
    );
  }
  const placed =
    groups.length === 0 ? [] : await ask("SELECT specialist, shard FROM @.placement WHERE specialist = ANY($1)", [groups.flat()]);
  return { apart, shards: new Map(placed.map(({ specialist, shard }) => [String(specialist) as Handle, Number(shard)])) };
}
