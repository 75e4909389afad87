/**
 * Tells actions that wait behind a spending cap from actions that are lost. They may wait while the cap is used up; its numbers are stated
 * here again, independently of the code under test.
 */
import type { Clock } from "../core/clock.ts";
import { DAY, HOUR, type Money } from "../core/units.ts";
import type { Specialist } from "../specialist/specialist.ts";
import type { OpenDatabase } from "../store/sqlite/database.ts";

type Database = OpenDatabase["db"];

/** An action that waits behind a cap. */
export interface Waiting {
  readonly id: string;
  readonly operation: string;
}

export interface Backlog {
  /** Actions decided before this time that a cap holds back now. */
  read(before: number): readonly Waiting[];
}

interface Row extends Waiting {
  readonly specialist: string;
  readonly code: unknown;
  /** The action whose object it is about. */
  readonly target: unknown;
}

const READY = `SELECT id, specialist, operation, code, iif(target IS NULL, target_intent, NULL) AS target
  FROM intent WHERE state = 'ready' AND created_at < ? ORDER BY seq`;

export function createBacklog(db: Database, clock: Clock, specialists: readonly Specialist[]): Backlog {
  const ready = db.prepare(READY);
  const isSpent = createSpendCheck(db, clock);
  return {
    read(before) {
      const rows = ready.all(before).map(rowOf);
      // Later actions of a kind have not been tried while its first one waits.
      const capped = new Set(rows.filter(({ code }) => code === "spend_cap").map(kindOf));
      const spent = specialists.flatMap((specialist) =>
        [
          ...new Set(
            rows.filter((row) => row.specialist === specialist.handle && capped.has(kindOf(row))).map(({ operation }) => operation),
          ),
        ]
          .filter((operation) => isSpent(specialist, operation))
          .map((operation) => kindOf({ specialist: specialist.handle, operation })),
      );
      const waiting = new Map<string, Row>();
      for (const row of rows) if (spent.includes(kindOf(row)) || followsOne(row, waiting)) waiting.set(row.id, row);
      return [...waiting.values()].map(({ id, operation }) => ({ id, operation }));
    },
  };
}

function kindOf({ specialist, operation }: Pick<Row, "specialist" | "operation">): string {
  return `${specialist} ${operation}`;
}

/** True for an action about the object of one that waits, and for one that comes after an earlier one of its specialist. */
function followsOne({ target, code, specialist }: Row, waiting: ReadonlyMap<string, Row>): boolean {
  if (typeof target === "string") return waiting.has(target);
  return code === "order" && [...waiting.values()].some((earlier) => earlier.specialist === specialist);
}

function rowOf(row: { readonly [name: string]: unknown }): Row {
  return {
    id: String(row["id"]),
    specialist: String(row["specialist"]),
    operation: String(row["operation"]),
    code: row["code"],
    target: row["target"],
  };
}

/** Windows of the caps, each with the cells by which the runtime frees spent money late: a twelfth at most. */
const LATE = 13 / 12;
const SPANS = { perHour: LATE * HOUR, perDay: LATE * DAY, perMonth: LATE * 30 * DAY, total: Infinity } as const;

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
