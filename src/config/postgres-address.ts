/** Parses the address of a PostgreSQL store. No error repeats any part that may belong to a password. */
import { isAbsolute, join } from "node:path";
import { Misconfigured } from "../core/errors.ts";
import { sha256 } from "../core/json.ts";
import { Secret } from "../core/secret.ts";
import { SECOND } from "../core/units.ts";
import { isLoopback } from "./loopback.ts";

export interface PostgresAddress {
  readonly kind: "postgres";
  /** A name or address, or the folder of a Unix socket, which begins with "/". */
  readonly host: string;
  readonly port: number;
  readonly database: string;
  readonly user: string;
  /** Undefined where the server asks for none. */
  readonly password: Secret | undefined;
  /** Holds all tables of the store. Needs no quotes in SQL. */
  readonly schema: string;
  /** Set where the server has to prove who it is; `rootCertificates` is a file, and undefined for the authorities that Node trusts. */
  readonly tls: { readonly rootCertificates: string | undefined } | undefined;
  /** Time after which the server ends the session of a process that is silent; undefined for the default. */
  readonly sessionTimeoutMs: number | undefined;
  /** In the local folder: working copies of processes on this machine have this name and their own numbers, and the control socket is beside them. */
  readonly localFile: string;
}

/** Names the folder for the files that a process keeps on its machine beside a store on a server. */
export const LOCAL_FOLDER_VARIABLE = "RETINUE_LOCAL_FOLDER";
export const LOCAL_FOLDER = ".retinue";
const DEFAULT_PORT = 5432;
const DEFAULT_SCHEMA = "retinue";
const EXPECTED = "postgres://user:password@host:port/database?schema=retinue&sslmode=verify-full";
const PARAMETERS: readonly string[] = ["schema", "sslmode", "sslrootcert", "session_timeout"];
/** Below it, a busy machine loses its shards for no reason; above it, those of a machine that is gone wait for long. */
const SESSION_TIMEOUT_S = { least: 2, most: 300 } as const;
/** Names of schemas that are written without quotes; PostgreSQL keeps `pg_` for itself. */
const SCHEMA = /^(?!pg_)[a-z_][a-z0-9_]{0,62}$/;
const HOST = /^[\w.:-]+$/;

/**
 * Throws `Misconfigured` (`store_invalid`, `store_tls_missing`). Files are relative to `cwd`. The local folder is no part of the address, which
 * is one for all machines.
 */
export function parsePostgresAddress(address: string, cwd: string, localFolder = LOCAL_FOLDER): PostgresAddress {
  const url = URL.parse(address);
  // A password with a bare "/", "?" or "#" ends up in the port, the path or the fragment: the address is then refused as a whole.
  if (url === null || url.hash !== "" || url.port === "0" || url.pathname.slice(1).includes("/")) throw unreadable();
  const [user, password, host] = [url.username, url.password, url.hostname.replace(/^\[(.*)\]$/, "$1")].map(decoded);
  const database = decoded(url.pathname.slice(1));
  if (!host || !(host.startsWith("/") || HOST.test(host)))
    throw invalid("names no server", "the folder of a Unix socket is written with %2F for each slash: %2Fvar%2Frun%2Fpostgresql");
  if (!database) throw invalid("names no database");
  if (!user) throw invalid("names no user");
  const parameters = parametersOf(url.searchParams);
  const schema = parameters.get("schema") ?? DEFAULT_SCHEMA;
  if (!SCHEMA.test(schema))
    throw invalid("has an unusable schema", "a schema's name has lower-case letters, digits and _, and does not begin with pg_");
  const port = url.port === "" ? DEFAULT_PORT : Number(url.port);
  const identity = sha256([host, port, database, schema].join("\n")).slice(0, 12);
  return {
    kind: "postgres",
    host,
    port,
    database,
    user,
    password: password ? new Secret(password) : undefined,
    schema,
    tls: tlsOf(host, parameters, cwd),
    sessionTimeoutMs: timeoutOf(parameters.get("session_timeout")),
    localFile: join(inFolder(cwd, localFolder), `postgres-${identity}.sqlite`),
  };
}

function inFolder(cwd: string, path: string): string {
  return isAbsolute(path) ? path : join(cwd, path);
}

/** The server and the database, for messages. */
export function placeOf({ host, port, database }: PostgresAddress): string {
  return `${host.includes(":") ? `[${host}]` : host}:${port}/${database}`;
}

function invalid(problem: string, hint?: string): Misconfigured {
  return new Misconfigured("store_invalid", `the store's address ${problem}`, {
    expected: EXPECTED,
    ...(hint === undefined ? {} : { hint }),
  });
}

const unreadable = (): Misconfigured => invalid("cannot be read", "write the characters / ? # @ % of a password as %2F %3F %23 %40 %25");

/** A part without percent signs. */
function decoded(part: string): string {
  if (/%(?![\da-f]{2})|%00/i.test(part)) throw unreadable();
  try {
    return decodeURIComponent(part);
  } catch {
    throw unreadable(); // bytes that are no UTF-8
  }
}

function parametersOf(given: URLSearchParams): ReadonlyMap<string, string> {
  const unknown = [...given.keys()].find((name) => !PARAMETERS.includes(name));
  if (unknown !== undefined) throw invalid(`has an unknown parameter ${JSON.stringify(unknown)}`, `known are ${PARAMETERS.join(", ")}`);
  const parameters = new Map(given);
  if (parameters.size < [...given].length) throw invalid("has a parameter twice");
  return parameters;
}

function timeoutOf(given: string | undefined): number | undefined {
  if (given === undefined) return undefined;
  const seconds = Number(given);
  const { least, most } = SESSION_TIMEOUT_S;
  if (!(Number.isInteger(seconds) && seconds >= least && seconds <= most))
    throw invalid("has an unusable session_timeout", `it is a whole number of seconds from ${least} to ${most}; default 16`);
  return seconds * SECOND;
}

function tlsOf(host: string, parameters: ReadonlyMap<string, string>, cwd: string): PostgresAddress["tls"] {
  const mode = parameters.get("sslmode") ?? "disable";
  const file = parameters.get("sslrootcert");
  if (mode === "verify-full") return { rootCertificates: file === undefined ? file : inFolder(cwd, file) };
  if (!host.startsWith("/") && !isLoopback(host))
    throw new Misconfigured(
      "store_tls_missing",
      `the store's server ${host} is not on this machine, and nothing proves that it is the right one`,
      {
        expected: "sslmode=verify-full",
        hint: "add sslmode=verify-full to the address, and sslrootcert=<file> if the server's certificate has an authority of its own",
      },
    );
  if (mode !== "disable")
    throw invalid("has an unusable sslmode", 'use "disable" or "verify-full": every other mode may be silently without proof');
  if (file !== undefined) throw invalid("has sslrootcert without sslmode=verify-full");
  return undefined;
}
