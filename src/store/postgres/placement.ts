/** The shards of specialists: where those with one key are put together, and which specialists each process has. */
import type { Handle } from "../../core/ids.ts";
import type { PostgresRow } from "./open-connection.ts";
import { hashedShard } from "./shard-map.ts";

/** Runs a statement, in which `@.` stands for the schema. */
export type Ask = (text: string, values: readonly unknown[]) => Promise<readonly PostgresRow[]>;

/**
 * Puts specialists that share a key into one shard, where one process has them together with the key's quota. Returns those that have rows
 * elsewhere already: they must not run.
 */
export async function placeTogether(ask: Ask, groups: readonly (readonly Handle[])[]): Promise<readonly Handle[]> {
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
        ON CONFLICT (specialist) DO NOTHING`,
      [sorted, target],
    );
  }
  return apart;
}

/** The specialists that each of these processes has: those it has a definition of, in its shards. In the order of handles. */
export async function handlesOf(
  ask: Ask,
  processes: readonly { readonly number: number; readonly shards: readonly number[] }[],
): Promise<ReadonlyMap<number, readonly Handle[]>> {
  const rows = await ask(
    `SELECT d.handle, d.numbers, coalesce(s.shard, p.shard) AS shard
      FROM (SELECT h AS handle, json_agg(number) AS numbers FROM @.process, unnest(handles) AS h WHERE number = ANY($1) GROUP BY h) d
      LEFT JOIN @.specialist s ON s.handle = d.handle LEFT JOIN @.placement p ON p.specialist = d.handle ORDER BY d.handle`,
    [processes.map(({ number }) => number)],
  );
  const owners = new Map(processes.flatMap(({ number, shards }) => shards.map((shard) => [shard, number] as const)));
  const found = new Map<number, Handle[]>(processes.map(({ number }) => [number, []]));
  for (const { handle, numbers, shard } of rows) {
    const owner = owners.get(shard === null ? hashedShard(String(handle)) : Number(shard));
    const knows: readonly unknown[] = Array.isArray(numbers) ? numbers : [];
    if (owner !== undefined && knows.includes(owner)) found.get(owner)?.push(String(handle) as Handle);
  }
  return found;
}
