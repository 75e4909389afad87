/** The schema in PostgreSQL: its version, and the numbered migrations, each once and under a lock. */
import { placeOf, type PostgresAddress } from "../../config/postgres-address.ts";
import { Misconfigured } from "../../core/errors.ts";
import { noteServer } from "./holders.ts";
import type { PostgresConnection } from "./open-connection.ts";
import { ALL_SHARDS } from "./ownership.ts";
import { schemaRightMissing } from "./server-errors.ts";
import { TABLES } from "./migrations/0001-tables.ts";
import { INHERITED_KEYS } from "./migrations/0002-inherited-keys.ts";

/**
 * In order; a released one never changes. The number of applied ones is the schema's version. Processes of the version before go on beside
 * a migration, and take over from one another: it adds tables, and columns that may be empty, and nothing of it changes or goes until the
 * migration after.
 */
const MIGRATIONS: readonly string[] = [TABLES, INHERITED_KEYS];

export const POSTGRES_SCHEMA_VERSION = MIGRATIONS.length;

/**
 * Runs the missing migrations in one transaction. Processes that start together do so one after the other. Throws `Misconfigured`
 * (`store_rights_missing`) if the user may not make the schema.
 */
export async function migratePostgres(connection: PostgresConnection, address: PostgresAddress): Promise<void> {
  const { schema } = address;
  const run = (text: string) => connection.query({ text });
  await run("BEGIN");
  try {
    await connection.query({ text: "SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", values: [`retinue migration ${schema}`] });
    // Even IF NOT EXISTS asks for the right to make schemas, which the owner of this one need not have.
    if (!(await hasSchema(connection, address))) await run(`CREATE SCHEMA ${schema}`);
    await run(`CREATE TABLE IF NOT EXISTS ${schema}.migration (number integer PRIMARY KEY, at timestamptz NOT NULL DEFAULT now())`);
    const version = await knownVersion(connection, schema);
    await run(`SET LOCAL search_path = ${schema}`);
    for (const [i, text] of MIGRATIONS.entries())
      if (i >= version) {
        await run(text);
        await connection.query({ text: "INSERT INTO migration (number) VALUES ($1)", values: [i + 1] });
      }
    if (version === 0) await noteServer(connection, schema, ALL_SHARDS); // a replica that lacks its first start is a copy too
    await run("COMMIT");
  } catch (error) {
    await run("ROLLBACK").catch(() => undefined); // the connection may be gone; the error to report is the first one
    throw error;
  }
}

/** Makes nothing. Throws `Misconfigured` (`store_rights_missing`) if there is no schema, and the user may not make it. */
export async function hasSchema(connection: PostgresConnection, address: PostgresAddress): Promise<boolean> {
  const [row] = await connection.query({
    text: "SELECT to_regnamespace($1) IS NOT NULL AS is, has_database_privilege(current_database(), 'CREATE') AS may",
    values: [address.schema],
  });
  if (row?.["is"] === true) return true;
  if (row?.["may"] !== false) return false;
  throw schemaRightMissing(address);
}

/** The version of the tables. Throws `Misconfigured` (`store_newer`) if it is one that this process cannot work beside. */
export async function knownVersion(connection: PostgresConnection, schema: string): Promise<number> {
  const [row] = await connection.query({ text: `SELECT coalesce(max(number), 0) AS version FROM ${schema}.migration` });
  const version = Number(row?.["version"]);
  if (version <= POSTGRES_SCHEMA_VERSION + 1) return version;
  throw new Misconfigured(
    "store_newer",
    `the store has schema ${version}; this version of Retinue works with ${POSTGRES_SCHEMA_VERSION}, and beside ${POSTGRES_SCHEMA_VERSION + 1}`,
    { hint: "upgrade Retinue, or name another schema in the address" },
  );
}

/** For a query, which must not create a store. Throws `Misconfigured` (`store_missing`). */
export async function requireTables(connection: PostgresConnection, address: PostgresAddress): Promise<void> {
  if (await hasTables(connection, address.schema)) return;
  throw new Misconfigured("store_missing", `there is no store yet in the schema ${address.schema} of ${placeOf(address)}`, {
    hint: "start one with retinue run, or correct RETINUE_STORE; one that was there before is restored from a backup first",
  });
}

export async function hasTables(connection: PostgresConnection, schema: string): Promise<boolean> {
  const [row] = await connection.query({ text: "SELECT to_regclass($1) AS found", values: [`${schema}.migration`] });
  return row?.["found"] !== null;
}
