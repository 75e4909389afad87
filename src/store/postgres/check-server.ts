/** Checks a server before anything relies on it: its version, what it promises of a commit, its sessions, and whose tables are there. */
import { placeOf, type PostgresAddress } from "../../config/postgres-address.ts";
import { Misconfigured } from "../../core/errors.ts";
import type { PostgresConnection } from "./open-connection.ts";
import { quoted, rightsMissing } from "./server-errors.ts";

const OLDEST_MAJOR = 15;
/** Tables of every version of our schema. */
const OUR_TABLES: readonly string[] = ["migration", "process"];

/** Throws `Misconfigured`, with advice. `other` opens a second connection. */
export async function checkServer(
  connection: PostgresConnection,
  address: PostgresAddress,
  other: () => Promise<PostgresConnection>,
): Promise<void> {
  await checkSettings(connection, address);
  await checkTables(connection, address);
  const second = await other();
  try {
    await checkSessions(connection, second, address);
  } finally {
    await second.close();
  }
}

async function checkSettings(connection: PostgresConnection, address: PostgresAddress): Promise<void> {
  const place = placeOf(address);
  const [row = {}] = await connection.query({
    text: `SELECT current_setting('server_version_num')::integer / 10000 AS major, current_setting('server_version') AS version,
      pg_is_in_recovery() AS replica, current_setting('transaction_read_only') = 'on' AS read_only, current_setting('fsync') AS fsync,
      (SELECT reset_val FROM pg_settings WHERE name = 'synchronous_commit') AS commit, current_setting('server_encoding') AS encoding`,
  });
  if (Number(row["major"]) < OLDEST_MAJOR)
    throw new Misconfigured("store_server_too_old", `${place} runs PostgreSQL ${String(row["version"])}`, {
      expected: `PostgreSQL ${OLDEST_MAJOR} or newer`,
      hint: "upgrade the server",
    });
  if (row["replica"] === true)
    throw new Misconfigured("store_read_only", `${place} takes no writes: it is a replica`, {
      expected: "the primary server",
      hint: "name the primary server in the store's address",
    });
  if (row["read_only"] === true) {
    const [user, database] = [quoted(address.user), quoted(address.database)];
    throw new Misconfigured("store_read_only", `${place} takes no writes: default_transaction_read_only is on`, {
      expected: "a session that may write",
      hint: `ALTER ROLE ${user} RESET default_transaction_read_only; the same for ALTER DATABASE ${database} and ALTER ROLE ${user} IN DATABASE ${database}, or in the server's settings`,
    });
  }
  if (row["fsync"] === "off" || row["commit"] === "off")
    throw new Misconfigured(
      "store_server_not_durable",
      `${place} forgets commits when it crashes: ${row["fsync"] === "off" ? "fsync" : "synchronous_commit"} is off`,
      {
        expected: "a commit that is answered is on disk",
        hint: "switch it on in the server's settings",
      },
    );
  if (row["encoding"] !== "UTF8")
    throw new Misconfigured("store_setting_refused", `the database of ${place} stores text as ${String(row["encoding"])}`, {
      expected: "UTF8",
      hint: `create another one: CREATE DATABASE name ENCODING 'UTF8' TEMPLATE template0`,
    });
}

/** The schema is ours, empty or missing. */
async function checkTables(connection: PostgresConnection, address: PostgresAddress): Promise<void> {
  const rows = await connection.query({ text: "SELECT tablename AS name FROM pg_tables WHERE schemaname = $1", values: [address.schema] });
  const names = new Set(rows.map(({ name }) => name));
  if (names.size === 0 || OUR_TABLES.every((name) => names.has(name))) return checkRights(connection, address);
  throw new Misconfigured("store_foreign", `the schema ${address.schema} of ${placeOf(address)} belongs to another program`, {
    hint: "name another schema in the store's address: ?schema=<name>",
  });
}

/** A schema that another role made, or its tables, need rights of their own: those on the database do not reach into it. */
async function checkRights(connection: PostgresConnection, address: PostgresAddress): Promise<void> {
  const [row] = await connection.query({
    text: `SELECT has_schema_privilege(s.oid, 'USAGE') AND has_schema_privilege(s.oid, 'CREATE') AS schema,
      (SELECT bool_and(CASE relkind WHEN 'S' THEN has_sequence_privilege(oid, 'USAGE') ELSE has_table_privilege(oid, 'SELECT')
        AND has_table_privilege(oid, 'INSERT') AND has_table_privilege(oid, 'UPDATE') AND has_table_privilege(oid, 'DELETE') END)
        FROM pg_class WHERE relnamespace = s.oid AND relkind IN ('r', 'p', 'S')) AS tables
      FROM pg_namespace AS s WHERE nspname = $1`,
    values: [address.schema],
  });
  if (row?.["schema"] !== false && row?.["tables"] !== false) return;
  const [schema, user] = [quoted(address.schema), quoted(address.user)];
  const what = row["schema"] === false ? `the schema ${schema} belongs` : `tables of the schema ${schema} belong`;
  const grants = [
    `GRANT USAGE, CREATE ON SCHEMA ${schema} TO ${user}`,
    `GRANT ALL ON ALL TABLES IN SCHEMA ${schema} TO ${user}`,
    `GRANT ALL ON ALL SEQUENCES IN SCHEMA ${schema} TO ${user}`,
  ];
  throw rightsMissing(address, `${what} to another role`, { grant: grants.join("; ") });
}

/**
 * The connection has a session of its own, whose advisory locks hold. A pooler in transaction mode gives the session that has just worked
 * for us to the next transaction of somebody else.
 */
async function checkSessions(first: PostgresConnection, second: PostgresConnection, address: PostgresAddress): Promise<void> {
  const shared = (what: string): Misconfigured =>
    new Misconfigured("store_sessions_shared", `${placeOf(address)} ${what}`, {
      expected: "PostgreSQL itself, or a pooler in session mode",
      hint: "name the server's own port in the store's address: a pooler in transaction mode cannot hold the lock of the process at work",
    });
  const own = await first.query({
    text: "SELECT pg_backend_pid() AS pid, hashtextextended('retinue check ' || pg_backend_pid(), 0)::text AS lock",
  });
  const [{ pid, lock } = {}] = own;
  const pidOf = async (connection: PostgresConnection): Promise<unknown> =>
    (await connection.query({ text: "SELECT pg_backend_pid() AS pid" }))[0]?.["pid"];
  const tryLock = async (connection: PostgresConnection): Promise<unknown> =>
    (await connection.query({ text: "SELECT pg_try_advisory_lock($1::bigint) AS got", values: [lock] }))[0]?.["got"];
  await tryLock(first);
  await second.query({ text: "BEGIN" });
  const isShared = (await pidOf(second)) === pid || (await pidOf(first)) !== pid;
  const isHeld = (await tryLock(second)) === false;
  await second.query({ text: "ROLLBACK" });
  if (isShared) throw shared("gives one session to several connections");
  if (!isHeld) throw shared("does not hold advisory locks");
  await first.query({ text: "SELECT pg_advisory_unlock($1::bigint)", values: [lock] });
}
