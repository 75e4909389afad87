/**
 * Tells work that waits behind a limit from work that is lost. An action may wait for its specialist's caps or quota while these are used
 * up; the numbers are stated here again, independently of the code under test.
 */
import type { Lane } from "../contract/operations.ts";
import { TIER_LIMITS } from "../contract/tiers.ts";
import type { Clock } from "../core/clock.ts";
import { DAY, HOUR, type Money } from "../core/units.ts";
import { floorsOf } from "../limits/lanes.ts";
import type { Specialist } from "../specialist/specialist.ts";
import { HAS_FAILED } from "../store/sqlite/inbox.ts";
import type { OpenDatabase } from "../store/sqlite/database.ts";

type Database = OpenDatabase["db"];

/** An action that waits behind a limit. */
export interface Waiting {
  readonly id: string;
  readonly operation: string;
  readonly limit: "spend" | "quota";
}

export interface Backlog {
  /** Actions decided before this time that a limit holds back now. */
  read(before: number): readonly Waiting[];
  /** True if the handlings of a specialist wait for the quota of its reads. */
  holdsEvents(handle: string): boolean;
}

interface Row {
  readonly id: string;
  readonly specialist: string;
  readonly operation: string;
  readonly lane: Lane;
  readonly code: string | undefined;
  readonly event: number;
  readonly ordinal: number;
  readonly target: string | undefined;
}

const READY = `SELECT id, specialist, operation, lane, code, event_seq, ordinal, iif(target IS NULL, target_intent, NULL) AS target
  FROM intent WHERE state = 'ready' AND created_at < ? ORDER BY seq`;

/** Lanes of a handler's reads. */
const READING: readonly Lane[] = ["watch", "explore"];

export function createBacklog(db: Database, clock: Clock, specialists: readonly Specialist[]): Backlog {
  const ready = db.prepare(READY);
  const suspended = db.prepare(
    `SELECT 1 FROM event WHERE specialist = ? AND state = 'ready' AND note IS NOT NULL AND NOT ${HAS_FAILED} LIMIT 1`,
  );
  const isSpent = createSpendCheck(db, clock);
  const isLaneUsed = createLaneCheck(db, clock);
  const byHandle = new Map<string, Specialist>(specialists.map((specialist) => [specialist.handle, specialist]));
  return {
    read(before) {
      const rows = ready.all(before).map(rowOf);
      const limits = new Map<string, Waiting["limit"] | undefined>();
      const limitOf = ({ specialist: handle, operation, lane }: Row): Waiting["limit"] | undefined => {
        const specialist = byHandle.get(handle);
        if (specialist === undefined) return undefined;
        // Later actions of the kind have not been tried while the first of them waits.
        const isCapped = rows.some((row) => row.specialist === handle && row.operation === operation && row.code === "spend_cap");
        if (isCapped && isSpent(specialist, operation)) return "spend";
        return isLaneUsed(specialist, lane) ? "quota" : undefined;
      };
      const waiting = new Map<string, Waiting>();
      for (const row of rows) {
        const kind = `${row.specialist} ${row.operation} ${row.lane}`;
        if (!limits.has(kind)) limits.set(kind, limitOf(row));
        const limit = limits.get(kind) ?? limitBefore(row, rows, waiting);
        if (limit !== undefined) waiting.set(row.id, { id: row.id, operation: row.operation, limit });
      }
      return [...waiting.values()];
    },
    holdsEvents(handle) {
      const specialist = byHandle.get(handle);
      if (specialist === undefined || suspended.get(handle) === undefined) return false;
      return READING.some((lane) => isLaneUsed(specialist, lane));
    },
  };
}

/** The limit on an earlier action that this one depends on. */
function limitBefore(row: Row, rows: readonly Row[], waiting: ReadonlyMap<string, Waiting>): Waiting["limit"] | undefined {
  if (row.target !== undefined) return waiting.get(row.target)?.limit;
  if (row.code !== "order") return undefined;
  const earlier = rows.filter(({ event, ordinal }) => event === row.event && ordinal < row.ordinal);
  return earlier.map(({ id }) => waiting.get(id)?.limit).find((limit) => limit !== undefined);
}

function rowOf(row: { readonly [name: string]: unknown }): Row {
  const text = (name: string): string | undefined => (typeof row[name] === "string" ? row[name] : undefined);
  return {
    id: String(row["id"]),
    specialist: String(row["specialist"]),
    operation: String(row["operation"]),
    lane: row["lane"] as Lane, // written by the runtime from its own table
    code: text("code"),
    event: Number(row["event_seq"]),
    ordinal: Number(row["ordinal"]),
    target: text("target"),
  };
}

const SPANS = { perHour: HOUR, perDay: DAY, perMonth: 30 * DAY, total: Infinity } as const;

/** True if another action of this price would pass a cap. */
function createSpendCheck(db: Database, clock: Clock): (specialist: Specialist, operation: string) => boolean {
  const counted = db.prepare(
    "SELECT coalesce(sum(iif(state = 'open', amount, posted)), 0) AS micros FROM hold WHERE specialist = ? AND currency = ? AND held_at > ?",
  );
  const dearest = db.prepare(
    "SELECT coalesce(max(hold.amount), 0) AS micros FROM hold JOIN intent USING (id) WHERE hold.specialist = ? AND hold.currency = ? AND operation = ?",
  );
  return ({ handle, spend }, operation) =>
    Object.entries(SPANS).some(([period, spanMs]) =>
      capsOf(spend, period).some(({ currency, micros }) => {
        const since = Number.isFinite(spanMs) ? clock.now() - spanMs : 0;
        const used = Number(counted.get(handle, currency, since)?.["micros"]);
        const price = Number(dearest.get(handle, currency, operation)?.["micros"]);
        return used + Math.max(1, price) > micros;
      }),
    );
}

function capsOf(spend: Specialist["spend"], period: string): readonly Money[] {
  return Object.entries(spend).find(([name]) => name === period)?.[1] ?? [];
}

/** True if a lane has had its guaranteed share of the hour or the day: more is a loan, which nobody owes it. */
function createLaneCheck(db: Database, clock: Clock): (specialist: Specialist, lane: Lane) => boolean {
  const sent = db.prepare("SELECT coalesce(sum(weight), 0) AS n FROM attempt WHERE specialist = ? AND lane = ? AND started_at > ?");
  return ({ handle, tier, lanes }, lane) => {
    const { perHour, perDay } = TIER_LIMITS[tier];
    const share = floorsOf(lanes)[lane] / 100;
    const had = (spanMs: number, limit: number): boolean =>
      Number(sent.get(handle, lane, clock.now() - spanMs)?.["n"]) >= Math.max(1, Math.floor(limit * share));
    return had(HOUR, perHour) || had(DAY, perDay);
  };
}
