/** Holders of shards, as rows: who held a shard last, and if it ended in order. */
import { MONEY_KEPT_MS, PRUNE_BATCH } from "../../limits/row-lifetimes.ts";
import type { NumberBlocks } from "./blocks.ts";
import type { PostgresConnection, PostgresRow } from "./open-connection.ts";
import { asOid, LOCKS, PROCESS_LOCKS } from "./ownership.ts";
import { NO_SHARD } from "./row-places.ts";

/** Shards that can be opened together. */
export interface HolderGroup {
  readonly shards: readonly number[];
  /** Their last holders. Empty if nobody had them. */
  readonly holders: readonly number[];
  /** Living processes that lost one of them, whoever had it since. */
  readonly lostBy: readonly number[];
  /** False if their last holder, then the only one, did not end in order. */
  readonly isClosed: boolean;
  /** Set if they were last held in another history than the server's own: the last time that their rows know of. */
  readonly copiedAt: number | undefined;
}

/** The history that is written now. The control file has that of the last checkpoint, which is the old one just after a promotion. */
const TIMELINE = "('x' || left(pg_walfile_name(pg_current_wal_lsn()), 8))::bit(32)::int";

/**
 * The history that the rows of a schema belong to. It is another one in a promoted replica and in a restored backup, which may lack the last
 * commits: also in one that is restored on the same server, since a restore makes the database or its tables anew. Only a disk of the server
 * that is put back as it was has the same name.
 */
const serverName = (schema: string): string => `concat_ws('/', (SELECT system_identifier FROM pg_control_system()), ${TIMELINE},
  (SELECT oid FROM pg_database WHERE datname = current_database()), '${schema}.shard'::regclass::oid)`;

/** A process is a loser of its shards until it is gone: what it had begun to send may leave while it is stopped, and when it wakes. */
const LOSERS = `WITH living AS (SELECT l.objid::bigint AS number FROM ${LOCKS} WHERE l.classid::bigint = ${asOid(PROCESS_LOCKS)}),
  lost AS (SELECT s.shard, CASE WHEN h.closed_at IS NULL THEN s.lost_by || h.process ELSE s.lost_by END AS by
    FROM @.shard s JOIN @.holder h ON h.number = s.holder WHERE s.shard = ANY($2::int[]))
  UPDATE @.shard s SET lost_by = ARRAY(SELECT DISTINCT n FROM unnest(lost.by) AS n WHERE n IN (SELECT number FROM living))
    FROM lost WHERE lost.shard = s.shard AND lost.by <> '{}'`;

/** Notes the processes that lost these shards, whose locks this connection has. Call it before `groupsOf`. */
export async function noteLosers(connection: PostgresConnection, schema: string, shards: readonly number[]): Promise<void> {
  await connection.query({ text: LOSERS.replaceAll("@", schema), values: [schema, shards] });
}

/** The shards by their last holder: those of lost holders each for themselves, and the others together. */
export async function groupsOf(connection: PostgresConnection, schema: string, shards: readonly number[]): Promise<readonly HolderGroup[]> {
  const rows = await connection.query({
    text: `SELECT s.shard, s.holder, s.lost_by, s.server IS NOT NULL AND s.server <> ${serverName(schema)} AS copied,
        s.holder IS NOT NULL AND h.closed_at IS NULL AS open, t.seen_at
      FROM ${schema}.shard s LEFT JOIN ${schema}.holder h ON h.number = s.holder LEFT JOIN ${schema}.ledger_time t ON t.holder = s.holder
      WHERE s.shard = ANY($1::int[]) ORDER BY s.shard`,
    values: [shards],
  });
  const groups = Map.groupBy(rows, ({ holder, open }) => (open === true ? Number(holder) : undefined));
  return [...groups].map(([lost, members]) => ({
    shards: members.map(({ shard }) => Number(shard)),
    holders: [...new Set(members.flatMap(({ holder }) => (holder === null ? [] : [Number(holder)])))],
    isClosed: lost === undefined,
    lostBy: [...new Set(members.flatMap(({ lost_by: by }) => (Array.isArray(by) ? by.map(Number) : [])))],
    copiedAt: copiedAt(members),
  }));
}

function copiedAt(rows: readonly PostgresRow[]): number | undefined {
  const copied = rows.filter(({ copied: is }) => is === true);
  return copied.length === 0 ? undefined : Math.max(0, ...copied.map(({ seen_at: at }) => Number(at ?? 0)));
}

/** The Guardian's accounts of holders that have no shard any longer, as one; expired rows without a hold go. */
const ENDED_ACCOUNTS = `WITH here AS (SELECT DISTINCT holder FROM @.shard WHERE holder IS NOT NULL),
  expired AS (DELETE FROM @.spend_row WHERE shard = ${NO_SHARD} AND ends <= $1 AND held = 0 AND holder NOT IN (SELECT holder FROM here)),
  grants AS (DELETE FROM @.guardian_grant WHERE holder NOT IN (SELECT holder FROM here)),
  ended AS (DELETE FROM @.spend_row WHERE shard = ${NO_SHARD} AND holder <> 0 AND (ends > $1 OR held <> 0)
    AND holder NOT IN (SELECT holder FROM here) RETURNING *)
  INSERT INTO @.spend_row (shard, holder, scope, currency, span, start, until, ends, held, posted)
    SELECT ${NO_SHARD}, 0, scope, currency, span, start, max(until), max(ends), sum(held), sum(posted) FROM ended GROUP BY 3, 4, 5, 6
  ON CONFLICT (shard, holder, scope, currency, span, start)
    DO UPDATE SET held = spend_row.held + excluded.held, posted = spend_row.posted + excluded.posted`;

/**
 * Entries of the Guardian's accounts that are too old to be shown: no start reads them, so no holder removes those of the one before. The
 * oldest are looked at.
 */
const OLD_ENTRIES = `DELETE FROM @.spend_entry WHERE shard = ${NO_SHARD} AND seq IN (
  SELECT seq FROM (SELECT seq, at FROM @.spend_entry WHERE shard = ${NO_SHARD} ORDER BY seq LIMIT ${PRUNE_BATCH}) AS oldest WHERE at < $1)`;

export interface NewHolder {
  readonly schema: string;
  readonly group: HolderGroup;
  /** Its number. */
  readonly holder: number;
  readonly process: number;
  readonly now: number;
  /** Just renewed: all numbers of the group's rows are lower. */
  readonly numbers: Pick<NumberBlocks, "before">;
}

/** The number of a holder that is about to be registered. */
export async function newHolder(connection: PostgresConnection, schema: string): Promise<number> {
  const [row] = await connection.query({ text: `SELECT nextval('${schema}.holder_number') AS number` });
  return Number(row?.["number"]);
}

/** Of several last holders, the one by whose clock quotas age last: requests that count by the clock of another are not freed early. */
const CLOCK_OF_LAST = `INSERT INTO @.ledger_time (holder, seen_at, lag_ms, unconfirmed_ms, unsure_from, network_ms)
  SELECT $1, seen_at, lag_ms, unconfirmed_ms, unsure_from, network_ms FROM @.ledger_time WHERE holder = ANY($2::bigint[])
    ORDER BY seen_at - lag_ms LIMIT 1`;

/**
 * Adds a holder of shards whose locks this connection has, in one round trip. It goes on by the clock of the last, and at the mark of a lost
 * one.
 */
export async function registerHolder(
  connection: PostgresConnection,
  { schema, group, holder, process, now, numbers }: NewHolder,
): Promise<void> {
  const q = (text: string, values: readonly unknown[] = []) => connection.query({ text: text.replaceAll("@", schema), values });
  const { facts, rows } = numbers.before;
  const begun = (
    [
      ["mark", "seq, quota", facts, facts],
      ["rolled_up", "facts, entries", facts, rows],
    ] as const
  ).map(([table, columns, ...first]): readonly [string, readonly unknown[]] =>
    group.isClosed
      ? [`INSERT INTO @.${table} (holder, ${columns}) VALUES ($1, $2, $3)`, [holder, ...first]]
      : [`INSERT INTO @.${table} (holder, ${columns}) SELECT $1, ${columns} FROM @.${table} WHERE holder = $2`, [holder, group.holders[0]]],
  );
  await Promise.all([
    q("BEGIN"),
    q("INSERT INTO @.holder (number, process, backend, opened_at) VALUES ($1, $2, pg_backend_pid(), $3)", [holder, process, now]),
    ...begun.map(([text, values]) => q(text, values)),
    q(CLOCK_OF_LAST, [holder, group.holders]),
    q(ENDED_ACCOUNTS, [now]),
    q(OLD_ENTRIES, [now - MONEY_KEPT_MS]),
    q("UPDATE @.shard SET holder = $1, since = $2 WHERE shard = ANY($3::int[])", [holder, now, group.shards]),
    q("COMMIT"),
  ]);
}

/** From here on the rows of these shards belong to this server's history. */
export async function noteServer(connection: PostgresConnection, schema: string, shards: readonly number[]): Promise<void> {
  await connection.query({
    text: `WITH now AS (SELECT ${serverName(schema)} AS server) UPDATE ${schema}.shard SET server = (SELECT server FROM now) WHERE shard = ANY($1::int[])`,
    values: [shards],
  });
}

/** The holder ends in order: everything of its shards is in rows. */
export async function endHolder(connection: PostgresConnection, schema: string, holder: number, now: number): Promise<void> {
  await connection.query({
    text: `WITH ended AS (UPDATE ${schema}.holder SET closed_at = $2 WHERE number = $1),
      spent AS (DELETE FROM ${schema}.guardian_grant WHERE holder = $1) SELECT`,
    values: [holder, now],
  });
}
