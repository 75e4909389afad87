/** One connection to a PostgreSQL server, and its session. The only place that loads the package `pg`. */
import { readFileSync } from "node:fs";
import type * as Pg from "pg";
import { placeOf, type PostgresAddress } from "../../config/postgres-address.ts";
import { systemClock, type Clock, type Timer } from "../../core/clock.ts";
import { messageOf, Misconfigured } from "../../core/errors.ts";
import { loadPeer, type Peer } from "../../core/peer.ts";
import { SECOND, showDuration } from "../../core/units.ts";
import { connectFailure, connectionLost, isConnectionLost, sqlState, statementFailure, timeoutTooShort } from "./server-errors.ts";
import { sessionSettings, sessionTimes, settingOf } from "./session-settings.ts";

export type PostgresRow = Readonly<Record<string, unknown>>;

export interface Statement {
  readonly text: string;
  readonly values?: readonly unknown[];
  /** The server parses a named statement once in a session. One name stands for one text. */
  readonly name?: string;
}

export interface PostgresConnection {
  /**
   * Sends one statement at once, behind those that are not answered yet (a pipeline): several cost one round trip, run in order, and fail
   * each for itself. `int8` comes as a number, `bytea` as a `Uint8Array`, `numeric` as text. Of several statements in one text without values, the rows of the last are returned. Throws
   * the errors of `statementFailure`.
   */
  query(statement: Statement): Promise<readonly PostgresRow[]>;
  /**
   * From now on the connection counts as ended if a statement waits for so long and the server answers none: where its packets are lost, the
   * operating system would try for a quarter of an hour.
   */
  requireAnswers(withinMs: number): void;
  /** Calls the listener once if the connection ends without `close()`, at once if it has ended. */
  onLost(listener: (error: Error) => void): void;
  /** Calls the listener with each notice of the channels that this session listens to. */
  onNotice(listener: (channel: string, text: string) => void): void;
  /** Statements sent so far. */
  readonly statements: number;
  /** Ends the session after the statements already sent. Resolves when the server has ended it, or after two seconds. */
  close(): Promise<void>;
}

export interface ConnectionOptions {
  readonly address: PostgresAddress;
  /** Stands behind `retinue` in the server's list of sessions (`application_name`). */
  readonly purpose: string;
  /** Settings of this session, beside those of every one (`sessionSettings`). */
  readonly settings?: Readonly<Record<string, string>>;
  readonly connectTimeoutMs?: number;
  readonly clock?: Clock;
}

const PG: Peer = { name: "pg", version: "8.23.1" };
const CONNECT_TIMEOUT_MS = 10 * SECOND;
/**
 * Timeouts that a person may have set for a role or a database, for other programs: a commit, a wait for a lock or a long read of ours would
 * end the store. The server ends silent sessions by timeouts of our own. PostgreSQL 17 brought the last one.
 */
const UNLIMITED = { statement_timeout: "0", lock_timeout: "0", transaction_timeout: "0" };
/** A statement that was cancelled, for example by `statement_timeout`. */
const CANCELLED = "57014";
const CLOSE_MS = 2 * SECOND;
const KEEPALIVE_MS = 10 * SECOND;
/** Type numbers of the server. */
const INT8 = 20;
const BYTEA = 17;

/** Loads the package `pg`. Throws `Misconfigured` (`peer_missing`). */
export function loadDriver(): Promise<typeof Pg> {
  return loadPeer(PG, () => import("pg"));
}

/** Opens a connection and sets its session up. Throws the errors of `connectFailure`, `peer_missing` and `store_setting_refused`. */
export async function openConnection(options: ConnectionOptions): Promise<PostgresConnection> {
  const { address, settings = {}, clock = systemClock() } = options;
  const pg = await loadDriver();
  const client = createClient(pg, options);
  const session = openSession(client, address, clock);
  try {
    await client.connect();
  } catch (error) {
    void session.close();
    throw connectFailure(address, error);
  }
  const ours = {
    client_encoding: "UTF8",
    search_path: address.schema,
    timezone: "UTC",
    datestyle: "ISO",
    default_transaction_isolation: "read committed", // statements behind a lock see what was stored while it was waited for
  };
  const all = { ...UNLIMITED, ...ours, ...sessionSettings(sessionTimes(address.sessionTimeoutMs)), ...settings };
  try {
    await session.query(settingOf(all));
  } catch (error) {
    await session.close();
    if (isConnectionLost(error)) throw error;
    if (sqlState(error) === CANCELLED) throw timeoutTooShort(address, error);
    throw new Misconfigured("store_setting_refused", `${placeOf(address)} refuses a setting of our session: ${messageOf(error)}`, {
      hint: "connect to PostgreSQL itself, as a user who may set it",
      cause: error,
    });
  }
  return session;
}

/** Every value is given, since `pg` would take what is missing from variables and files of its own. */
function createClient(
  { Client, types }: typeof Pg,
  { address, purpose, connectTimeoutMs = CONNECT_TIMEOUT_MS }: ConnectionOptions,
): Pg.Client {
  const client = new Client({
    host: address.host,
    port: address.port,
    database: address.database,
    user: address.user,
    password: () => address.password?.reveal() ?? "",
    ssl: address.tls === undefined ? false : { rejectUnauthorized: true, ...rootsOf(address.tls.rootCertificates) },
    application_name: `retinue ${purpose}`,
    connectionTimeoutMillis: connectTimeoutMs,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEPALIVE_MS,
    pipeline: true,
  });
  const readBytes: (text: string) => Uint8Array = types.getTypeParser(BYTEA, "text");
  client.setTypeParser(INT8, exactNumber);
  client.setTypeParser(BYTEA, (text) => new Uint8Array(readBytes(text)));
  return client;
}

function rootsOf(file: string | undefined): { readonly ca?: string } {
  if (file === undefined) return {};
  try {
    return { ca: readFileSync(file, "utf8") };
  } catch (cause) {
    throw new Misconfigured("store_tls_refused", `the certificates of sslrootcert cannot be read: ${messageOf(cause)}`, { file, cause });
  }
}

function exactNumber(text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number)) throw new RangeError(`${text} is no exact number`);
  return number;
}

function openSession(client: Pg.Client, address: PostgresAddress, clock: Clock): PostgresConnection {
  const listeners: ((error: Error) => void)[] = [];
  let statements = 0;
  let closing: Promise<void> | undefined;
  let lost: Error | undefined;
  const lose = (error: unknown): void => {
    if (closing !== undefined || lost !== undefined) return;
    lost = connectionLost(address, error);
    silence.end();
    for (const listener of listeners) listener(lost);
  };
  const silence = watchSilence(clock, (forMs) => {
    lose(new Error(`the server has not answered for ${showDuration(forMs)}`));
    client.connection.stream.destroy();
  });
  client.on("error", lose);
  client.on("end", () => lose(new Error("the server closed it")));
  const end = async (): Promise<void> => {
    const timer = clock.after(CLOSE_MS, () => client.connection.stream.destroy());
    try {
      await client.end();
    } finally {
      timer.cancel();
      silence.end();
    }
  };
  return {
    get statements() {
      return statements;
    },
    async query({ text, values, name }) {
      if (lost !== undefined) throw lost;
      statements++;
      silence.asked();
      try {
        const found: unknown = await client.query({
          text,
          ...(values === undefined ? {} : { values: [...values] }),
          ...(name === undefined ? {} : { name }),
        });
        return rowsOf(found);
      } catch (error) {
        throw lost !== undefined && sqlState(error) === undefined ? lost : statementFailure(address, error);
      } finally {
        silence.answered();
      }
    },
    requireAnswers: (withinMs) => silence.bound(withinMs),
    onLost(listener) {
      if (lost !== undefined) listener(lost);
      else listeners.push(listener);
    },
    onNotice(listener) {
      client.on("notification", ({ channel, payload }) => listener(channel, payload ?? ""));
    },
    close: () => (closing ??= end()),
  };
}

/** Tells of a server that answers nothing while statements wait. */
function watchSilence(clock: Clock, tell: (forMs: number) => void) {
  let withinMs = Infinity;
  let waiting = 0;
  let heardAt = 0;
  let timer: Timer | undefined;
  const look = (): void => {
    timer = undefined;
    if (waiting === 0) return;
    const forMs = Math.round(clock.monotonic() - heardAt);
    if (forMs >= withinMs) tell(forMs);
    else arm(withinMs - forMs);
  };
  const arm = (afterMs: number): void => void (timer ??= afterMs === Infinity ? undefined : clock.after(afterMs, look));
  return {
    bound(ms: number): void {
      withinMs = ms;
    },
    asked(): void {
      if (waiting++ === 0) heardAt = clock.monotonic();
      arm(withinMs);
    },
    answered(): void {
      waiting--;
      heardAt = clock.monotonic();
    },
    /** Nothing is awaited any longer: a timer that is left keeps a process from its end. */
    end(): void {
      withinMs = Infinity;
      timer?.cancel();
    },
  };
}

function rowsOf(found: unknown): readonly PostgresRow[] {
  const last: unknown = Array.isArray(found) ? found.at(-1) : found;
  return isResult(last) ? last.rows : [];
}

function isResult(value: unknown): value is { readonly rows: readonly PostgresRow[] } {
  return typeof value === "object" && value !== null && "rows" in value && Array.isArray(value.rows);
}
