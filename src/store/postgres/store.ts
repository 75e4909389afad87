/**
 * The store in PostgreSQL: the store of one process, whose file is a working copy and whose disk is the server. Every decision is made as on
 * one machine, in memory and rows of the copy; what a commit changed goes to the server before anything outside relies on it.
 */
import { createHash } from "node:crypto";
import type { Clock } from "../../core/clock.ts";
import type { Fatal } from "../../core/errors.ts";
import type { Handle, KeyId } from "../../core/ids.ts";
import { openSqliteStore } from "../sqlite/store.ts";
import type { SqliteStoreOptions } from "../sqlite/store-options.ts";
import type { Row } from "../sqlite/columns.ts";
import { MEMORY } from "../sqlite/database.ts";
import { openWorkingCopy, type WorkingCopy } from "../sqlite/working-copy.ts";
import type { Store } from "../store.ts";
import { NumberBlocks } from "./blocks.ts";
import { columnsOf, CommitGroups } from "./commit-groups.ts";
import type { PostgresConnection } from "./connect.ts";
import { ROW_PLACES, type ShardMap } from "./row-places.ts";
import { migratePostgres } from "./schema.ts";

export const SHARDS = 1_024;

export interface PostgresStoreOptions
  extends Pick<SqliteStoreOptions, "random" | "zone" | "lateLandingMs" | "observe" | "onOpened" | "onCommitted"> {
  readonly connection: PostgresConnection;
  readonly schema: string;
  readonly clock: Clock;
  /** The file of the working copy. Default: in memory. */
  readonly copy?: string;
  readonly onLost?: (error: Fatal) => void;
}

export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { connection, schema, clock } = options;
  await migratePostgres(connection, schema);
  const numbers = new NumberBlocks(connection, schema);
  await numbers.renew();
  const process = await register(options);
  const copy = openWorkingCopy(options.copy ?? MEMORY);
  const keys = new Map<KeyId, number>();
  await loadAll(options, copy, { process, keys });
  const shards = shardMap(keys, copy);
  const groups = new CommitGroups({ connection, copy, clock, shards, process, schema });
  const store = openSqliteStore({
    ...options,
    path: MEMORY,
    database: copy.database({ committed: () => groups.committed(), sync: () => groups.sync(), failure: groups.failure }),
    numbers,
  });
  return {
    ...store,
    async close() {
      try {
        await store.close();
        await groups.sync();
      } finally {
        groups.close();
        copy.close();
        await connection.close();
      }
    },
  };
}

/** Adds this process, which goes on where the last one ended. */
async function register({ connection, schema, clock }: PostgresStoreOptions): Promise<number> {
  const [row] = await connection.query({ text: `SELECT nextval('${schema}.process_number') AS number` });
  const number = Number(row?.["number"]);
  const q = (text: string, values: readonly unknown[]) => connection.query({ text: text.replaceAll("@", schema), values });
  await q("INSERT INTO @.process (number, name, version, started_at) VALUES ($1, $2, $3, $4)", [number, "", "", clock.now()]);
  for (const [table, columns, first] of [
    ["mark", "seq, quota", "0, 0"],
    ["rolled_up", "facts, entries", "0, 0"],
  ] as const)
    await q(
      `INSERT INTO @.${table} (process, ${columns})
       SELECT $1, ${columns} FROM (SELECT process, ${columns} FROM @.${table} UNION ALL SELECT 0, ${first} ORDER BY 1 DESC LIMIT 1) AS last`,
      [number],
    );
  return number;
}

async function loadAll(
  { connection, schema }: PostgresStoreOptions,
  copy: WorkingCopy,
  { process, keys }: { readonly process: number; readonly keys: Map<KeyId, number> },
): Promise<void> {
  // Counts of intents are rows of their own, written over those that the intents' rows make.
  for (const shape of copy.shapes.toSorted((a, b) => Number(a.name === "intent_count") - Number(b.name === "intent_count"))) {
    const place = ROW_PLACES[shape.name];
    const where = place === "process" ? `WHERE process = ${shape.name === "ledger_time" ? `(SELECT max(process) FROM ${schema}.ledger_time)` : process}` : "";
    const rows = await connection.query({ text: `SELECT ${columnsOf(shape).columns.join(", ")} FROM ${schema}.${shape.name} ${where}` });
    if (shape.name === "quota_key") for (const row of rows) keys.set(String(row["key_id"]) as KeyId, Number(row["shard"]));
    copy.load(shape.name, place === "process" ? rows.map((row) => ({ one: 1, ...row }) as Row) : (rows as readonly Row[]));
  }
}

function shardMap(keys: Map<KeyId, number>, copy: WorkingCopy): ShardMap {
  return {
    guardian: 0,
    ofSpecialist: hashed,
    ofKey(key) {
      const known = keys.get(key);
      if (known !== undefined) return known;
      const holder = copy.holderOf(key);
      const shard = holder === undefined ? hashed(key) : hashed(holder);
      keys.set(key, shard);
      return shard;
    },
  };
}

const shardsByName = new Map<string, number>();

function hashed(name: Handle | KeyId): number {
  const known = shardsByName.get(name);
  if (known !== undefined) return known;
  const shard = createHash("sha256").update(name).digest().readUInt16BE(0) % SHARDS;
  if (shardsByName.size < 100_000) shardsByName.set(name, shard);
  return shard;
}
