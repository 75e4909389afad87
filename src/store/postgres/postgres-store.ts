/**
 * The store in PostgreSQL: the store of one process, whose file is a working copy and whose disk is the server. Every decision is made as on
 * one machine, in memory and rows of the copy; what a commit changed goes to the server before anything outside relies on it.
 */
import { createHash } from "node:crypto";
import { hostname } from "node:os";
import { placeOf, type PostgresAddress } from "../../config/postgres-address.ts";
import { Misconfigured } from "../../core/errors.ts";
import type { Handle, KeyId } from "../../core/ids.ts";
import { readVersion } from "../../core/version.ts";
import type { Row } from "../sqlite/columns.ts";
import { MEMORY } from "../sqlite/database.ts";
import { COPIED_AT } from "../sqlite/restore-detection.ts";
import type { SqliteStoreOptions } from "../sqlite/store-options.ts";
import { openSqliteStore } from "../sqlite/store.ts";
import { openWorkingCopy, type WorkingCopy } from "../sqlite/working-copy.ts";
import type { Store } from "../store.ts";
import { NumberBlocks } from "./blocks.ts";
import { checkServer } from "./check-server.ts";
import { columnsOf, CommitGroups } from "./commit-groups.ts";
import { openConnection, type PostgresConnection, type PostgresRow } from "./open-connection.ts";
import { sessionTimes, takeStore, writerSettings, type SessionTimes, type StandBy } from "./ownership.ts";
import { ROW_PLACES, type ShardMap } from "./row-places.ts";
import { migratePostgres } from "./postgres-schema.ts";

const SHARDS = 1_024;
/** The name of the server's identity among the metadata. */
const SERVER = "server";

export interface PostgresStoreOptions extends Omit<SqliteStoreOptions, "path" | "database" | "numbers" | "blocking"> {
  readonly address: PostgresAddress;
  /** Waits while another process has the store. Default: it is refused. */
  readonly standBy?: StandBy;
  /** A query must not create a store: it is refused where there is none (`store_missing`). */
  readonly mustExist?: boolean;
  /** Time after which the server ends the session of a process that is silent. Default 16 s. */
  readonly sessionTimeoutMs?: number;
}

/** Throws `Retryable` or `Misconfigured` if the server cannot be used, and `Retryable` (`store_in_use`) while another process has the store. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { address, readOnly, standBy } = options;
  const { schema } = address;
  const times = sessionTimes(options.sessionTimeoutMs);
  const connection = await openConnection({ address, purpose: "writer", settings: writerSettings(times) });
  try {
    await checkServer(connection, address, () => openConnection({ address, purpose: "check" }));
    if (options.mustExist === true) await requireTables(connection, address);
    await migratePostgres(connection, schema);
    if (readOnly !== undefined) return await openForReading(connection, options);
    await takeStore(connection, schema, standBy);
    return await openOwned(connection, options, times);
  } catch (error) {
    await connection.close();
    throw error;
  }
}

async function requireTables(connection: PostgresConnection, address: PostgresAddress): Promise<void> {
  const [row] = await connection.query({ text: "SELECT to_regclass($1) AS found", values: [`${address.schema}.migration`] });
  if (row?.["found"] !== null) return;
  throw new Misconfigured("store_missing", `there is no store yet in the schema ${address.schema} of ${placeOf(address)}`, {
    hint: "start one with retinue run, or correct RETINUE_STORE",
  });
}

async function openOwned(connection: PostgresConnection, options: PostgresStoreOptions, times: SessionTimes): Promise<Store> {
  const { clock } = options;
  const { schema, localFile } = options.address;
  const numbers = new NumberBlocks(connection, schema);
  await numbers.renew();
  const process = await register(connection, options);
  const copy = openWorkingCopy(localFile);
  const keys = await loadAll(connection, schema, copy, process);
  const groups = new CommitGroups({ connection, copy, clock, shards: shardMap(keys, copy), times, process, schema });
  const store = openSqliteStore({
    ...options,
    path: MEMORY,
    database: copy.database({ committed: () => groups.committed(), sync: () => groups.sync(), failure: groups.failure }),
    numbers,
  });
  return {
    ...store,
    requireCurrent: () => groups.requireCurrent(),
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

/** The rows of now, in a copy that takes no writes. */
async function openForReading(connection: PostgresConnection, options: PostgresStoreOptions): Promise<Store> {
  const copy = openWorkingCopy(MEMORY);
  await loadAll(connection, options.address.schema, copy, undefined);
  await connection.close();
  const store = openSqliteStore({ ...options, path: MEMORY, database: { ...copy.asRead(), isCopy: true } });
  return {
    ...store,
    async close() {
      await store.close();
      copy.close();
    },
  };
}

/** Adds this process, which goes on where the last one ended. */
async function register(connection: PostgresConnection, { address: { schema }, clock }: PostgresStoreOptions): Promise<number> {
  const q = (text: string, values: readonly unknown[] = []) => connection.query({ text: text.replaceAll("@", schema), values });
  const [row] = await q("SELECT nextval('@.process_number') AS number");
  const number = Number(row?.["number"]);
  await q("BEGIN");
  const name = `${hostname()}:${process.pid}`;
  await q("INSERT INTO @.process (number, name, version, started_at) VALUES ($1, $2, $3, $4)", [number, name, readVersion(), clock.now()]);
  for (const [table, columns, first] of [
    ["mark", "seq, quota", "0, 0"],
    ["rolled_up", "facts, entries", "0, 0"],
  ] as const)
    await q(
      `INSERT INTO @.${table} (process, ${columns})
       SELECT $1, ${columns} FROM (SELECT process, ${columns} FROM @.${table} UNION ALL SELECT 0, ${first} ORDER BY 1 DESC LIMIT 1) AS last`,
      [number],
    );
  await q("UPDATE @.shard SET process = $1, since = $2", [number, clock.now()]);
  await noteServer(q);
  await q("COMMIT");
  return number;
}

type Ask = (text: string, values?: readonly unknown[]) => Promise<readonly PostgresRow[]>;

/**
 * Another server, or another history of this one, is a copy: a promoted replica may lack the last commits, and a restored backup does. What
 * was done since the last time that its rows know of is then in doubt, as in a copied file.
 */
async function noteServer(q: Ask): Promise<void> {
  const [now] = await q(
    "SELECT (SELECT system_identifier FROM pg_control_system())::text || '/' || (SELECT timeline_id FROM pg_control_checkpoint()) AS name",
  );
  const [known] = await q("SELECT value FROM @.meta WHERE name = $1", [SERVER]);
  if (known !== undefined && known["value"] !== now?.["name"]) {
    const [last] = await q("SELECT max(seen_at)::bigint AS at FROM @.ledger_time");
    await q("INSERT INTO @.meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value", [
      COPIED_AT,
      String(Number(last?.["at"] ?? 0)),
    ]);
  }
  await q("INSERT INTO @.meta (name, value) VALUES ($1, $2) ON CONFLICT (name) DO UPDATE SET value = excluded.value", [
    SERVER,
    now?.["name"],
  ]);
}

/** Loads all rows, those of the last process where each has its own. Returns the shards of keys. */
async function loadAll(
  connection: PostgresConnection,
  schema: string,
  copy: WorkingCopy,
  process: number | undefined,
): Promise<Map<KeyId, number>> {
  const keys = new Map<KeyId, number>();
  // Counts of intents are rows of their own, written over those that the intents' rows make.
  for (const shape of copy.shapes.toSorted((a, b) => Number(a.name === "intent_count") - Number(b.name === "intent_count"))) {
    const { name } = shape;
    const own = ROW_PLACES[name] === "process";
    const where = own ? ` WHERE process = (SELECT max(process) FROM ${schema}.${name} WHERE process <= $1)` : "";
    const text = `SELECT ${columnsOf(shape).columns.join(", ")} FROM ${schema}.${name}${where}`;
    const rows = await connection.query({ text, values: own ? [process ?? Number.MAX_SAFE_INTEGER] : [] });
    if (name === "quota_key") for (const row of rows) keys.set(String(row["key_id"]) as KeyId, Number(row["shard"]));
    copy.load(
      name,
      rows.map((row) => (own ? { one: 1, ...row } : row) as Row),
    );
  }
  return keys;
}

function shardMap(keys: Map<KeyId, number>, copy: WorkingCopy): ShardMap {
  return {
    guardian: 0,
    ofSpecialist: hashed,
    ofKey(key) {
      const known = keys.get(key);
      if (known !== undefined) return known;
      const shard = hashed(copy.holderOf(key) ?? key);
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
