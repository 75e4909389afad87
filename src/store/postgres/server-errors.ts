/** Errors of a PostgreSQL server as errors of ours. The server's own words are kept: they hold no password. */
import { placeOf, type PostgresAddress } from "../../config/postgres-address.ts";
import { isRetinueError, Fatal, messageOf, Misconfigured, type RetinueError, Retryable } from "../../core/errors.ts";

/** Codes of PostgreSQL (SQLSTATE) with which the server ends a session: shutdowns, `pg_terminate_backend`, timeouts of idle sessions. */
const ENDED = /^(?:08|57P0[1-5]|25P0[34])/;
/** The statement may succeed on a retry: a deadlock, a conflict, a wait for a lock, or one that somebody cancelled. */
const TRANSIENT = /^(?:40|55P03|57014)/;
/** Disk full, out of memory, a limit of the server, a transaction that is read-only. */
const UNWRITABLE = /^(?:53|25006|58030)/;
/** A table, or the whole schema, is not there. */
const MISSING = /^(?:42P01|3F000)$/;
/** Words of the package `pg`. */
const NO_TLS = "The server does not support SSL";
const UNPROVEN = /^(?:ERR_TLS|ERR_SSL|ERR_OSSL|CERT_|UNABLE_TO_|SELF_SIGNED|DEPTH_ZERO|HOSTNAME_MISMATCH|INVALID_CA)/;

/** The code of PostgreSQL behind an error, also behind one of ours; undefined where the server did not answer. */
export function sqlState(error: unknown): string | undefined {
  if (isRetinueError(error)) return sqlState(error.details.cause);
  return error instanceof Error && "severity" in error && "code" in error && typeof error.code === "string" ? error.code : undefined;
}

/** True for the error of a connection that ended: its session, its locks and its open transaction are gone. */
export function isConnectionLost(error: unknown): error is Retryable {
  return error instanceof Retryable && error.code === "store_connection_lost";
}

export function connectionLost(address: PostgresAddress, cause: unknown): Retryable {
  return isConnectionLost(cause)
    ? cause
    : new Retryable("store_connection_lost", `the connection to ${placeOf(address)} ended: ${reasonOf(cause)}`, { cause });
}

/** The error of a statement on an open connection. */
export function statementFailure(address: PostgresAddress, cause: unknown): RetinueError {
  const state = sqlState(cause);
  if (state === undefined || ENDED.test(state)) return connectionLost(address, cause);
  const message = `${placeOf(address)} refused a statement: ${reasonOf(cause)} (${state})`;
  if (UNWRITABLE.test(state))
    return new Retryable("store_unwritable", message, { cause, hint: "make the server writable: disk, memory, or its role as a replica" });
  if (TRANSIENT.test(state)) return new Retryable("store_statement_failed", message, { cause });
  if (MISSING.test(state))
    return new Misconfigured("store_missing", `${placeOf(address)} has the store no longer: ${reasonOf(cause)}`, {
      hint: "restore the schema from a backup, and restart all processes",
      cause,
    });
  return state === "42501" ? rightsMissing(address, reasonOf(cause), { cause }) : new Fatal("store_statement_failed", message, { cause });
}

/** The error of a connection that could not be opened. */
export function connectFailure(address: PostgresAddress, cause: unknown): RetinueError {
  const place = placeOf(address);
  const reason = reasonOf(cause);
  if (reason.startsWith("SASL: SCRAM-SERVER-FIRST-MESSAGE: client password must be"))
    return new Misconfigured("store_password_refused", `${place} asks for a password, and the store's address has none`, {
      expected: "postgres://user:password@…",
      cause,
    });
  if (reason.startsWith(NO_TLS))
    return new Misconfigured("store_tls_refused", `${place} has no TLS: ${reason}`, {
      hint: "switch it on in the server's settings (ssl); a server on this machine is used without sslmode",
      cause,
    });
  if (isUnproven(cause, reason))
    return new Misconfigured("store_tls_refused", `${place} did not prove who it is: ${reason}`, {
      hint: "use the name in the server's certificate, and name the certificate of its authority with sslrootcert=<file>",
      cause,
    });
  const state = sqlState(cause) ?? "";
  if (state.startsWith("28"))
    return new Misconfigured("store_password_refused", `${place} does not let ${JSON.stringify(address.user)} in: ${reason}`, {
      hint: "correct user and password in the store's address, which a process reads at its start, or the server's pg_hba.conf",
      cause,
    });
  if (state === "3D000")
    return new Misconfigured("store_database_missing", `${place} cannot be used: ${reason}`, {
      hint: `correct the name in the store's address, or create it: CREATE DATABASE ${quoted(address.database)} OWNER ${quoted(address.user)} ENCODING 'UTF8' TEMPLATE template0`,
      cause,
    });
  if (state.startsWith("53"))
    return new Retryable("store_connections_full", `${place} takes no further connection: ${reason}`, {
      hint: "raise max_connections of the server, or the connection limit of the role or the database; each process needs a few",
      cause,
    });
  if (state === "42501") return rightsMissing(address, reason, { cause });
  return new Retryable("store_unreachable", `${place} cannot be reached: ${reason}`, {
    hint: "start the server, or correct host and port in the store's address",
    cause,
  });
}

/** The user may not make the schema, which is missing: perhaps because it is to be in another database. */
export function schemaRightMissing(address: PostgresAddress): Misconfigured {
  return rightsMissing(address, `it has no schema ${quoted(address.schema)} yet, and the user may not make it`, {
    orElse: "correct the name of the database in the store's address",
  });
}

/** The user lacks a right; `grant` is the statement that gives it, `orElse` another remedy, which is told first. */
export function rightsMissing(
  address: PostgresAddress,
  reason: string,
  { grant, orElse, cause }: { readonly grant?: string; readonly orElse?: string; readonly cause?: unknown } = {},
): Misconfigured {
  const give = `as the owner of the database: ${grant ?? `GRANT CONNECT, CREATE ON DATABASE ${quoted(address.database)} TO ${quoted(address.user)}`}`;
  return new Misconfigured("store_rights_missing", `${JSON.stringify(address.user)} lacks a right on ${placeOf(address)}: ${reason}`, {
    hint: orElse === undefined ? give : `${orElse}, or, ${give}`,
    ...(cause === undefined ? {} : { cause }),
  });
}

/** The server cancels each statement before a session of ours has said that it sets no limit. */
export function timeoutTooShort(address: PostgresAddress, cause: unknown): Misconfigured {
  const [user, database] = [quoted(address.user), quoted(address.database)];
  return new Misconfigured("store_setting_refused", `${placeOf(address)} cancels each statement: its statement_timeout is too short`, {
    expected: "the time of one statement, from which on our sessions set no limit",
    hint: `ALTER ROLE ${user} RESET statement_timeout, or ALTER DATABASE ${database} RESET statement_timeout`,
    cause,
  });
}

/** A name as an identifier of SQL. */
export function quoted(name: string): string {
  return `"${name.replaceAll('"', '""')}"`;
}

/** The words of an error. Several addresses of one name fail together without words of their own. */
function reasonOf(error: unknown): string {
  const message = messageOf(error);
  return message === "" && error instanceof Error && "code" in error ? String(error.code) : message;
}

function isUnproven(error: unknown, reason: string): boolean {
  if (reason.startsWith("There was an error establishing an SSL")) return true;
  return error instanceof Error && "code" in error && typeof error.code === "string" && UNPROVEN.test(error.code);
}
