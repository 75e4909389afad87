/** The processes of a fleet as the server sees them: who lives, who has which shards, and what each can run. */
import type { Query } from "./in-schema.ts";
import { waitsFor } from "./requests.ts";
import { ALL_SHARDS, asOid, LOCKS, PROCESS_LOCKS, SHARD_LOCKS, writerOf } from "./ownership.ts";
import { SERVER_NOW } from "./server-time.ts";

/** A living process: one that is present, or has shards. */
export interface FleetProcess {
  readonly number: number;
  /** `host:pid`, with `#number` where another has the same: containers on one machine may all be the first process of one host. */
  readonly name: string;
  readonly version: string;
  readonly startedAt: number;
  /** It takes no shards, and has given its own away. */
  readonly draining: boolean;
  /** Its own session is there. One that has lost it hears of nothing, and gives its shards up as soon as it knows. */
  readonly present: boolean;
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

/** The view of now, and the salt by which the store is known: one statement. */
export async function readFleet(query: Query, schema: string): Promise<FleetView & { readonly salt: unknown }> {
  const [row] = await query(LOOK, [schema], "look");
  const taken = new Set(listOf(row?.["taken"]).map(Number));
  return {
    processes: withOwnNames(listOf(row?.["processes"]).map(processOf)),
    free: ALL_SHARDS.filter((shard) => !taken.has(shard)),
    serverNow: Number(row?.["now"]),
    salt: row?.["salt"],
  };
}

/** The signs of news, which a process at rest asks for each second. Cheaper than a view. */
export interface Signs {
  /** The sessions of Retinue: shards change hands with them. */
  readonly sessions: string;
  /** True if a request of another process waits for this one. */
  readonly isAsked: boolean;
}

export async function readSigns(query: Query, number: number): Promise<Signs> {
  const [row] = await query(SIGNS, [number], "signs");
  return { sessions: String(row?.["sessions"]), isAsked: row?.["asked"] === true };
}

const SIGNS = `SELECT string_agg(pid::text, ' ' ORDER BY pid) AS sessions, EXISTS (SELECT FROM @.request WHERE ${waitsFor("$1")}) AS asked
  FROM pg_stat_activity WHERE application_name LIKE 'retinue %' AND datname = current_database()`;

const LOOK = `WITH held AS MATERIALIZED (
    SELECT l.pid, l.objid::bigint AS object, l.classid::bigint = ${asOid(SHARD_LOCKS)} AS shard FROM ${LOCKS}
    WHERE l.classid::bigint IN (${asOid(SHARD_LOCKS)}, ${asOid(PROCESS_LOCKS)})),
  owned AS (SELECT a.application_name AS name, json_agg(h.object ORDER BY h.object) AS shards
    FROM held h JOIN pg_stat_activity a ON a.pid = h.pid WHERE h.shard GROUP BY 1)
  SELECT ${SERVER_NOW} AS now, (SELECT value FROM @.meta WHERE name = 'salt') AS salt,
    (SELECT coalesce(json_agg(object), '[]') FROM held WHERE shard) AS taken,
    (SELECT coalesce(json_agg(json_build_object('number', p.number, 'name', p.name, 'version', p.version, 'startedAt', p.started_at,
        'draining', p.draining, 'present', h.object IS NOT NULL, 'shards', coalesce(o.shards, '[]'::json)) ORDER BY p.number), '[]')
      FROM @.process p LEFT JOIN held h ON NOT h.shard AND h.object = p.number
      LEFT JOIN owned o ON o.name = ${writerOf("p.number")} WHERE h.object IS NOT NULL OR o.name IS NOT NULL) AS processes`;

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

function withOwnNames(processes: readonly FleetProcess[]): readonly FleetProcess[] {
  const counts = Map.groupBy(processes, ({ name }) => name);
  return processes.map((one) => ((counts.get(one.name)?.length ?? 0) > 1 ? { ...one, name: `${one.name}#${one.number}` } : one));
}

function processOf(value: unknown): FleetProcess {
  const row: Readonly<Record<string, unknown>> = typeof value === "object" && value !== null ? { ...value } : {};
  return {
    number: Number(row["number"]),
    name: String(row["name"]),
    version: String(row["version"]),
    startedAt: Number(row["startedAt"]),
    draining: row["draining"] === true,
    present: row["present"] === true,
    shards: listOf(row["shards"]).map(Number),
  };
}
