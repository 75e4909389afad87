/** Fills an empty store on a server with the rows of a file, in one transaction. */
import { placeOf } from "../../config/postgres-address.ts";
import { sleep } from "../../core/clock.ts";
import { errorClass, Fatal, isRetinueError, Misconfigured, Retryable } from "../../core/errors.ts";
import { SECOND } from "../../core/units.ts";
import type { Row } from "../sqlite/columns.ts";
import { BLOCK } from "../sqlite/numbers.ts";
import type { TableShape } from "../sqlite/row-changes.ts";
import type { WholeFile } from "../sqlite/whole-file.ts";
import { placeRow, toJson, upsert } from "./commit-groups.ts";
import { noteServer } from "./holders.ts";
import { inSchema } from "./in-schema.ts";
import type { PostgresConnection } from "./open-connection.ts";
import { ALL_SHARDS, takeShards } from "./ownership.ts";
import { storeInUse, type PostgresStoreOptions } from "./postgres-store.ts";
import { ROW_PLACES, shardOf, type ShardMap } from "./row-places.ts";
import { openWriter } from "./ready-writer.ts";
import { isConnectionLost } from "./server-errors.ts";
import { sessionTimes } from "./session-settings.ts";
import { hashedShard, shardMap } from "./shard-map.ts";

/** Rows of one statement. */
const BATCH = 1_000;
/** Tables with rows that prove that the store was used. */
const USED: readonly string[] = ["specialist", "event", "intent", "attempt"];

interface Filling {
  readonly connection: PostgresConnection;
  readonly schema: string;
  readonly whole: WholeFile;
  readonly holder: number;
  readonly shards: ShardMap;
}

/**
 * Throws `Misconfigured` (`store_not_empty`) if the store was used already, `Retryable` (`copy_unconfirmed`) if nobody knows whether it is
 * filled, and as `openPostgresStore` does.
 */
export async function fillServer(options: PostgresStoreOptions, whole: WholeFile): Promise<void> {
  const { address, clock } = options;
  const { schema } = address;
  const connection = await takeWhole(options);
  if (connection === undefined) throw await storeInUse(options);
  const q = inSchema(connection, schema);
  try {
    const [used] = await q(`SELECT ${USED.map((table) => `EXISTS (SELECT FROM @.${table})`).join(" OR ")} AS used`);
    if (used?.["used"] === true)
      throw new Misconfigured("store_not_empty", `the schema ${schema} of ${placeOf(address)} has a store that was used already`, {
        hint: `name another schema in the address, as ?schema=retinue_2, or drop this one if nobody needs it: DROP SCHEMA ${schema} CASCADE`,
      });
    await q("BEGIN");
    const [row] = await q("SELECT nextval('@.holder_number') AS number");
    const holder = Number(row?.["number"]);
    await q("INSERT INTO @.holder (number, process, backend, opened_at, closed_at) VALUES ($1, 0, pg_backend_pid(), $2, $2)", [
      holder,
      clock.now(),
    ]);
    const placements = new Map(whole.sharers.flatMap((group) => group.map((handle) => [handle, hashedShard(group[0] ?? "")] as const)));
    await q("INSERT INTO @.placement (specialist, shard) SELECT * FROM unnest($1::text[], $2::int[])", [
      [...placements.keys()],
      [...placements.values()],
    ]);
    const shards = shardMap({ keys: new Map(), placements, copy: whole, home: 0 });
    await fillTables({ connection, schema, whole, holder, shards });
    await q("SELECT setval('@.fact_block', $1)", [Math.floor(whole.highest / BLOCK) + 1]);
    await q("UPDATE @.shard SET holder = $1, since = $2", [holder, clock.now()]);
    await noteServer(connection, schema, ALL_SHARDS);
    await q("COMMIT").catch(async (error: unknown) => {
      if (!isConnectionLost(error) || !(await wasCommitted(options, holder))) throw error;
    });
  } finally {
    await connection.close(); // what was not committed is gone with it
  }
}

/** A session that has every shard; undefined if somebody else has one. */
async function takeWhole(options: PostgresStoreOptions): Promise<PostgresConnection | undefined> {
  const { schema, sessionTimeoutMs } = options.address;
  const connection = await openWriter(options);
  try {
    const taken = await takeShards(connection, { schema, wanted: ALL_SHARDS, times: sessionTimes(sessionTimeoutMs) });
    if (taken.length === ALL_SHARDS.length) return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
  await connection.close(); // else it would be named among those that have the store
  return undefined;
}

/**
 * True if the rows are there: an answer to COMMIT that is lost says nothing. It is known once the session that was lost has ended, since its
 * shards are free then. Throws `Retryable` (`copy_unconfirmed`).
 */
async function wasCommitted(options: PostgresStoreOptions, holder: number): Promise<boolean> {
  const { address, clock } = options;
  const until = clock.monotonic() + 2 * sessionTimes(address.sessionTimeoutMs).answerMs;
  for (; clock.monotonic() < until; await sleep(clock, SECOND)) {
    const connection = await takeWhole(options).catch(unlessLost);
    if (connection === undefined) continue; // the server may be back in a moment, and the lost session ended
    try {
      return (await inSchema(connection, address.schema)("SELECT FROM @.holder WHERE number = $1", [holder])).length > 0;
    } finally {
      await connection.close();
    }
  }
  throw new Retryable("copy_unconfirmed", `the server of ${placeOf(address)} was lost as the copy was stored: it may be complete`, {
    hint: "the original stays halted; look with retinue status at the copy: go on with it, or drop its schema, lift the halt and copy again",
  });
}

/** Nothing, for the error of a server that cannot be reached now. */
function unlessLost(error: unknown): undefined {
  if (isRetinueError(error) && errorClass(error) === "Retryable") return undefined;
  throw error;
}

async function fillTables(filling: Filling): Promise<void> {
  const { connection, schema, whole } = filling;
  for (const shape of whole.shapes) {
    const { name } = shape;
    let batch: Row[] = [];
    let count = 0;
    const put = async (): Promise<void> => {
      if (batch.length > 0) await connection.query(insertion(filling, shape, batch));
      count += batch.length;
      batch = [];
    };
    for (const row of whole.rows(name)) {
      batch.push(row);
      if (batch.length === BATCH) await put();
    }
    await put();
    const [stored] = await connection.query({ text: `SELECT count(*) AS n FROM ${schema}.${name}` });
    // A store that was made and not used has rows of its own that belong to no shard.
    const isPlaced = ROW_PLACES[name] !== "all" && ROW_PLACES[name] !== "holder";
    if (isPlaced && Number(stored?.["n"]) !== count)
      throw new Fatal("store_damaged", `${count} rows of ${name} were sent, and ${String(stored?.["n"])} are on the server`);
  }
}

function insertion({ schema, holder, shards, whole }: Filling, shape: TableShape, rows: readonly Row[]) {
  const { name } = shape;
  // A row whose event is pruned belongs to nobody.
  const placed = rows
    .map((row) => placeRow(name, row, holder, shardOf(name, row, shards, whole.specialistOf) ?? shards.home))
    .filter((row) => row !== undefined);
  return { text: upsert(shape, "1").replaceAll("@", schema), values: [toJson(placed)] };
}
