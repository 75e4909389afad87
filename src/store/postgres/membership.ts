/**
 * A process among those that work on one server: who lives, who has which shards, and requests from one to another. It has a session of its
 * own, whose advisory lock says that the process is there: it never times out, so a process that is stopped is still seen, and the server
 * frees the lock at once when the process is gone.
 */
import { hostname } from "node:os";
import type { PostgresAddress } from "../../config/postgres-address.ts";
import type { Clock, Timer } from "../../core/clock.ts";
import { Retryable } from "../../core/errors.ts";
import type { Handle } from "../../core/ids.ts";
import { isObject, parseJson } from "../../core/json.ts";
import { SECOND } from "../../core/units.ts";
import { readVersion } from "../../core/version.ts";
import type { WriteInFlight } from "../controls.ts";
import type { NetworkStateChange, NetworkStateRow } from "../network-state.ts";
import { checkServer } from "./check-server.ts";
import { openConnection, type PostgresConnection, type PostgresRow } from "./open-connection.ts";
import { handlesOf, placeTogether } from "./placement.ts";
import { hashedShard } from "./shard-map.ts";
import { ALL_SHARDS, asOid, LOCKS, PROCESS_LOCKS, SHARD_LOCKS, writerPurpose } from "./ownership.ts";
import { openWrites } from "./open-writes.ts";
import { migratePostgres, requireTables } from "./postgres-schema.ts";
import { SERVER_NOW } from "./server-time.ts";

/** A living process. */
export interface FleetProcess {
  readonly number: number;
  /** `host:pid`. */
  readonly name: string;
  readonly version: string;
  readonly startedAt: number;
  /** It takes no shards, and has given its own away. */
  readonly draining: boolean;
  readonly shards: readonly number[];
}

export interface FleetView {
  /** By number: the oldest first. */
  readonly processes: readonly FleetProcess[];
  /** Shards that nobody has. */
  readonly free: readonly number[];
  /** The server's clock. */
  readonly serverNow: number;
}

export interface MembershipOptions {
  readonly address: PostgresAddress;
  readonly clock: Clock;
  /** The specialists that this process can run. Undefined for a visitor, such as a command: it is no member. */
  readonly handles: readonly Handle[] | undefined;
  /** The start of the process. Default: now. */
  readonly startedAt?: number | undefined;
  /** For the salt of a new store. */
  readonly newSalt: () => string;
  /** Called when a process says that something has changed. */
  readonly onNotice?: () => void;
  /** Answers a request of another process; undefined where nobody waits for an answer. Never rejects. */
  readonly answer?: (body: string) => Promise<string | undefined>;
  /** Called once if the session ends. */
  readonly onLost?: (error: Error) => void;
  /** Called with the server's clock, and the monotonic time at which it was asked for it. */
  readonly onTime?: (serverNow: number, askedAt: number) => void;
}

const LOOK_MS = SECOND;
/** Requests whose notice was lost are seen after so many looks. */
const LOOKS_A_RECEIPT = 3;
const KEPT = "10 minutes";
const ANSWER_BYTES = 8 * 1_024 * 1_024;

export class Membership {
  /** Its number; 0 for a visitor. */
  readonly number: number;
  readonly #connection: PostgresConnection;
  readonly #options: MembershipOptions;
  /** Take the answers to requests under way. */
  readonly #asked = new Map<number, (answer: string) => void>();
  readonly #answering = new Set<number>();
  #timer: Timer | undefined;
  #looks = 0;
  #sessions: string | undefined;
  #closed = false;

  private constructor(connection: PostgresConnection, number: number, options: MembershipOptions) {
    this.#connection = connection;
    this.#options = options;
    this.number = number;
    connection.onLost((error) => {
      this.#end();
      options.onLost?.(error);
    });
    connection.onNotice((_channel, text) => this.#heard(text));
    this.#arm();
  }

  /** Throws `Retryable` or `Misconfigured` if the server cannot be used. A visitor makes no tables (`store_missing`). */
  static async open(options: MembershipOptions): Promise<Membership> {
    const { address, handles, clock } = options;
    const { schema } = address;
    const connection = await openConnection({ address, purpose: handles === undefined ? "visitor" : "process" });
    try {
      await checkServer(connection, address, () => openConnection({ address, purpose: "check" }));
      if (handles === undefined) await requireTables(connection, address);
      await migratePostgres(connection, schema);
      const q = (text: string, values: readonly unknown[] = []) => connection.query({ text: text.replaceAll("@", schema), values });
      await q("INSERT INTO @.meta (name, value) VALUES ('salt', $1) ON CONFLICT DO NOTHING", [options.newSalt()]);
      let number = 0;
      if (handles !== undefined) {
        const askedAt = clock.monotonic();
        const [given] = await q(`SELECT nextval('@.process_number') AS number, ${SERVER_NOW} AS now`);
        options.onTime?.(Number(given?.["now"]), askedAt);
        number = Number(given?.["number"]);
        await q(`SELECT pg_advisory_lock(${PROCESS_LOCKS}, $2)`, [schema, number]);
        await q("INSERT INTO @.process (number, name, version, started_at, handles) VALUES ($1, $2, $3, $4, $5)", [
          number,
          `${hostname()}:${process.pid}`,
          readVersion(),
          options.startedAt ?? clock.now(),
          handles,
        ]);
      }
      await q(`LISTEN "${channelOf(schema)}"`);
      return new Membership(connection, number, options);
    } catch (error) {
      await connection.close();
      throw error;
    }
  }

  /** The living processes and the free shards: one statement. */
  async look(): Promise<FleetView> {
    const { schema } = this.#options.address;
    const askedAt = this.#options.clock.monotonic();
    const [row] = await this.#query(LOOK, [schema]);
    const serverNow = Number(row?.["now"]);
    this.#options.onTime?.(serverNow, askedAt);
    const taken = new Set(listOf(row?.["taken"]).map(Number));
    return {
      processes: listOf(row?.["processes"]).map(processOf),
      free: ALL_SHARDS.filter((shard) => !taken.has(shard)),
      serverNow,
    };
  }

  /** True if sessions of Retinue have come or gone since the last call: shards change hands with their sessions. Cheaper than a look. */
  async hasChanged(): Promise<boolean> {
    const [row] = await this.#query(SESSIONS, []);
    const sessions = String(row?.["sessions"]);
    const is = sessions !== this.#sessions;
    this.#sessions = sessions;
    return is;
  }

  /** Of these shards, those with a specialist that this process cannot run, and another living one can. */
  async foreignShards(): Promise<ReadonlySet<number>> {
    const { schema } = this.#options.address;
    const rows = await this.#query(
      `SELECT DISTINCT s.shard FROM @.specialist s WHERE NOT s.handle = ANY((SELECT handles FROM @.process WHERE number = $2)::text[])
        AND EXISTS (SELECT FROM @.process p JOIN ${LOCKS} ON l.objid::bigint = p.number AND l.classid::bigint = ${asOid(PROCESS_LOCKS)}
          WHERE s.handle = ANY(p.handles) AND NOT p.draining)`,
      [schema, this.number],
    );
    return new Set(rows.map(({ shard }) => Number(shard)));
  }

  /** See `placeTogether`. */
  place(groups: readonly (readonly Handle[])[]): Promise<readonly Handle[]> {
    return placeTogether((text, values) => this.#query(text, values), groups);
  }

  /** The specialists that each of these processes has, by its number. */
  handlesOf(processes: readonly FleetProcess[]): Promise<ReadonlyMap<number, readonly Handle[]>> {
    return handlesOf((text, values) => this.#query(text, values), processes);
  }

  /** The shard that a specialist belongs to. */
  async shardOf(specialist: Handle): Promise<number> {
    const [row] = await this.#query("SELECT shard FROM @.placement WHERE specialist = $1", [specialist]);
    return row === undefined ? hashedShard(specialist) : Number(row["shard"]);
  }

  /** The specialists of this process from now on. */
  async canRun(handles: readonly Handle[]): Promise<void> {
    await this.#query("UPDATE @.process SET handles = $1 WHERE number = $2", [handles, this.number]);
  }

  async drains(): Promise<void> {
    await this.#query("UPDATE @.process SET draining = true WHERE number = $1", [this.number]);
    await this.notify();
  }

  /** Tells all processes to look. */
  async notify(): Promise<void> {
    await this.#query("SELECT pg_notify($1, 'look')", [channelOf(this.#options.address.schema)]);
  }

  /** Asks another process. Throws `Retryable` (`process_silent`) if no answer comes in time. */
  async ask(receiver: FleetProcess, body: string, timeoutMs: number): Promise<string> {
    const { address, clock } = this.#options;
    const [row] = await this.#query(
      `WITH asked AS (INSERT INTO @.request (number, receiver, body) VALUES (nextval('@.request_number'), $2::bigint, $3) RETURNING number)
        SELECT number, pg_notify($1, 'ask ' || $2::bigint::text) FROM asked`,
      [channelOf(address.schema), receiver.number, body],
    );
    const number = Number(row?.["number"]);
    const answered = Promise.withResolvers<string>();
    this.#asked.set(number, answered.resolve);
    const timer = clock.after(timeoutMs, () =>
      answered.reject(
        new Retryable("process_silent", `${receiver.name} has not answered within ${timeoutMs / SECOND} s`, {
          hint: "retinue fleet shows if it still works; a process that is stopped loses its specialists to the others",
        }),
      ),
    );
    try {
      return await answered.promise;
    } finally {
      timer.cancel();
      this.#asked.delete(number);
    }
  }

  /** Tells other processes; nobody answers. */
  async tell(receivers: readonly FleetProcess[], body: string): Promise<void> {
    await this.#query(
      `WITH told AS (INSERT INTO @.request (number, receiver, body)
          SELECT nextval('@.request_number'), receiver, $3 FROM unnest($2::bigint[]) AS receiver RETURNING receiver)
        SELECT pg_notify($1, 'ask ' || receiver) FROM told`,
      [channelOf(this.#options.address.schema), receivers.map(({ number }) => number), body],
    );
  }

  /**
   * Ends the sessions by which a process has shards: nothing that it decides from then on can be stored. Resolves when they are ended, with
   * what it had under way.
   */
  async endSessions({ number, shards }: FleetProcess): Promise<readonly WriteInFlight[]> {
    await this.#query(
      `SELECT pg_terminate_backend(l.pid, 2000) FROM (SELECT DISTINCT l.pid FROM ${LOCKS} WHERE l.classid::bigint = ${asOid(SHARD_LOCKS)}) l
        JOIN pg_stat_activity a ON a.pid = l.pid WHERE a.application_name = $2`,
      [this.#options.address.schema, `retinue ${writerPurpose(number)}`],
    );
    return openWrites(this.#connection, this.#options.address.schema, shards);
  }

  /** Stores a halt, for processes that begin later. */
  async keepStop(kind: "halt" | "pause", scope: string, reason: string, now: number): Promise<void> {
    await this.#query(
      `INSERT INTO @.stop (kind, scope, since, reason) VALUES ($1, $2, $3, $4)
        ON CONFLICT (kind, scope) DO UPDATE SET since = excluded.since, reason = excluded.reason`,
      [kind, scope, now, reason],
    );
  }

  /** Rows that concern no specialist, as those of the console and of the alerts. */
  async networkState(): Promise<readonly NetworkStateRow[]> {
    const rows = await this.#query("SELECT kind, name, data FROM @.standing ORDER BY kind, name", []);
    return rows.map(({ kind, name, data }) => {
      const value = parseJson(String(data));
      return { kind: String(kind), name: String(name), data: isObject(value) ? value : {} };
    });
  }

  async saveNetworkState({ put, drop }: NetworkStateChange, now: number): Promise<void> {
    for (const { kind, name } of drop) await this.#query("DELETE FROM @.standing WHERE kind = $1 AND name = $2", [kind, name]);
    for (const { kind, name, data } of put)
      await this.#query(
        `INSERT INTO @.standing (kind, name, data, updated_at) VALUES ($1, $2, $3, $4)
          ON CONFLICT (kind, name) DO UPDATE SET data = excluded.data, updated_at = excluded.updated_at`,
        [kind, name, JSON.stringify(data), now],
      );
  }

  async close(): Promise<void> {
    this.#end();
    await this.#connection.close();
  }

  #end(): void {
    this.#closed = true;
    this.#timer?.cancel();
  }

  #query(text: string, values: readonly unknown[]): Promise<readonly PostgresRow[]> {
    return this.#connection.query({ text: text.replaceAll("@.", `${this.#options.address.schema}.`), values });
  }

  #arm(): void {
    this.#timer?.cancel();
    if (this.#closed) return;
    this.#timer = this.#options.clock.after(LOOK_MS, () => {
      this.#arm();
      if (++this.#looks % LOOKS_A_RECEIPT === 0) void this.#receive();
      if (this.#asked.size > 0) void this.#collect();
    });
  }

  #heard(text: string): void {
    const [what, whose] = text.split(" ");
    if (what === "look") this.#options.onNotice?.();
    else if (what === "ask" && Number(whose) === this.number) void this.#receive();
    else if (what === "answer" && this.#asked.has(Number(whose))) void this.#collect();
  }

  /** Takes the requests to this process. A statement that fails ends the session, or is tried again at the next look. */
  async #receive(): Promise<void> {
    if (this.#options.answer === undefined) return;
    try {
      const rows = await this.#query(
        `WITH old AS (DELETE FROM @.request WHERE asked_at < now() - interval '${KEPT}')
          SELECT number, body FROM @.request WHERE receiver = $1 AND answer IS NULL ORDER BY number`,
        [this.number],
      );
      for (const { number, body } of rows) void this.#answer(Number(number), String(body));
    } catch {
      // The next look tries again; a lost session is reported by its connection.
    }
  }

  async #answer(number: number, body: string): Promise<void> {
    if (this.#answering.has(number)) return;
    this.#answering.add(number);
    try {
      const answer = await this.#options.answer?.(body);
      if (answer === undefined) return void (await this.#query("DELETE FROM @.request WHERE number = $1", [number]));
      await this.#query(
        `WITH said AS (UPDATE @.request SET answer = $2 WHERE number = $1::bigint) SELECT pg_notify($3, 'answer ' || $1::bigint::text)`,
        [number, answer.length > ANSWER_BYTES ? "" : answer, channelOf(this.#options.address.schema)],
      );
    } catch {
      // Whoever asked is told by its own timeout.
    } finally {
      this.#answering.delete(number);
    }
  }

  async #collect(): Promise<void> {
    try {
      const rows = await this.#query(
        "DELETE FROM @.request WHERE number = ANY($1::bigint[]) AND answer IS NOT NULL RETURNING number, answer",
        [[...this.#asked.keys()]],
      );
      for (const { number, answer } of rows) this.#asked.get(Number(number))?.(String(answer));
    } catch {
      // The next look tries again.
    }
  }
}

function channelOf(schema: string): string {
  return `retinue ${schema}`;
}

const SESSIONS = `SELECT string_agg(pid::text, ' ' ORDER BY pid) AS sessions FROM pg_stat_activity
  WHERE application_name LIKE 'retinue %' AND datname = current_database()`;

const LOOK = `WITH held AS MATERIALIZED (
    SELECT l.pid, l.objid::bigint AS object, l.classid::bigint = ${asOid(SHARD_LOCKS)} AS shard FROM ${LOCKS}
    WHERE l.classid::bigint IN (${asOid(SHARD_LOCKS)}, ${asOid(PROCESS_LOCKS)})),
  owned AS (SELECT a.application_name AS name, json_agg(h.object ORDER BY h.object) AS shards
    FROM held h JOIN pg_stat_activity a ON a.pid = h.pid WHERE h.shard GROUP BY 1)
  SELECT ${SERVER_NOW} AS now,
    (SELECT coalesce(json_agg(object), '[]') FROM held WHERE shard) AS taken,
    (SELECT coalesce(json_agg(json_build_object('number', p.number, 'name', p.name, 'version', p.version, 'startedAt', p.started_at,
        'draining', p.draining, 'shards', coalesce(o.shards, '[]'::json)) ORDER BY p.number), '[]')
      FROM @.process p JOIN held h ON NOT h.shard AND h.object = p.number
      LEFT JOIN owned o ON o.name = 'retinue writer ' || p.number) AS processes`;

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function processOf(value: unknown): FleetProcess {
  const row: Readonly<Record<string, unknown>> = typeof value === "object" && value !== null ? { ...value } : {};
  return {
    number: Number(row["number"]),
    name: String(row["name"]),
    version: String(row["version"]),
    startedAt: Number(row["startedAt"]),
    draining: row["draining"] === true,
    shards: listOf(row["shards"]).map(Number),
  };
}
