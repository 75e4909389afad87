/** SQL statements of the quota table, and the open requests that it adds. */
import type { DatabaseSync } from "node:sqlite";
import { LANES, type Lane } from "../../contract/operations.ts";
import type { KeyId } from "../../core/ids.ts";
import { isObject, numberIn, parseJson } from "../../core/json.ts";
import { DEFAULT_FLOORS, type LaneFloors } from "../../limits/lanes.ts";
import { rowInserter } from "./insert-rows.ts";
import { CELLS_A_MINUTE, SPAN, type PendingCell } from "./pending-cells.ts";

/** Requests without an answer. */
export interface OpenRequests {
  /** Requests of a key except one. */
  of(key: KeyId, exceptAttempt: number): Iterable<{ readonly lane: Lane; readonly cost: number }>;
  all(): Iterable<OpenRequest>;
}

export interface OpenRequest {
  readonly seq: number;
  readonly key: KeyId;
  readonly lane: Lane;
  readonly cost: number;
  readonly deadlineAt: number;
}

/** An attempt of a lane from a newer version still counts, where it can be seen. */
export function laneOf(value: unknown): Lane {
  return LANES.find((name) => name === value) ?? "explore";
}

/** The shares of lanes in a stored row, JSON; the default of each lane that it leaves out. */
export function floorsOf(text: string): LaneFloors {
  const given = parseJson(text);
  const floor = (lane: Lane): number => (isObject(given) ? numberIn(given, lane) : undefined) ?? DEFAULT_FLOORS[lane];
  return Object.fromEntries(LANES.map((lane) => [lane, floor(lane)])) as { [lane in Lane]: number };
}

export function statements(db: DatabaseSync) {
  return {
    key: db.prepare(
      "SELECT per_hour, per_day, floors, parked_at, parked_until, park_reason, strikes, inherits FROM quota_key WHERE key_id = ?",
    ),
    cells: db.prepare("SELECT span, cell, slot, used FROM quota_cell WHERE key_id = ? ORDER BY span, cell, slot"),
    allKeys: db.prepare(`
      SELECT key_id, per_hour, per_day, floors, parked_at, parked_until, park_reason, strikes, inherits
      FROM json_each(?) CROSS JOIN quota_key ON key_id = value`),
    allCells: db.prepare("SELECT key_id, span, cell, slot, used FROM json_each(?) CROSS JOIN quota_cell ON key_id = value"),
    add: rowInserter<PendingCell>(
      db,
      {
        head: "INSERT INTO quota_cell (key_id, span, cell, slot, used)",
        columns: 5,
        tail: "ON CONFLICT DO UPDATE SET used = used + excluded.used",
      },
      (values, from, { key, span, cell, slot, count }) => {
        values[from] = key;
        values[from + 1] = span;
        values[from + 2] = cell;
        values[from + 3] = slot;
        values[from + 4] = count;
      },
    ),
    gather: db.prepare(`
      INSERT INTO quota_cell (key_id, span, cell, slot, used)
      SELECT key_id, span, :to, slot, sum(used) FROM quota_cell WHERE span = :span AND cell >= :from AND cell < :to GROUP BY key_id, slot
      ON CONFLICT DO UPDATE SET used = used + excluded.used`),
    gathered: db.prepare("DELETE FROM quota_cell WHERE span = :span AND cell >= :from AND cell < :to"),
    usesFrom: db.prepare("UPDATE limited_use SET started_at = :to, ended_at = :to WHERE ended_at >= :from AND ended_at < :to"),
    olderThan: db.prepare("SELECT count(*) AS n FROM quota_cell WHERE key_id = ? AND span = ? AND cell < ?"),
    byMinute: db.prepare(`
      INSERT INTO quota_cell (key_id, span, cell, slot, used)
      SELECT key_id, ${SPAN.day}, cell / ${CELLS_A_MINUTE}, slot, sum(used) FROM quota_cell
      WHERE key_id = :key AND span = ${SPAN.both} AND cell < :before GROUP BY key_id, cell / ${CELLS_A_MINUTE}, slot
      ON CONFLICT DO UPDATE SET used = used + excluded.used`),
    prune: db.prepare("DELETE FROM quota_cell WHERE key_id = ? AND span = ? AND cell < ?"),
    park: db.prepare("UPDATE quota_key SET parked_at = ?, parked_until = ?, park_reason = ?, strikes = ? WHERE key_id = ?"),
    register: db.prepare(
      "INSERT INTO quota_key (key_id, per_hour, per_day, floors) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET per_hour = excluded.per_hour, per_day = excluded.per_day, floors = excluded.floors",
    ),
    heirs: db.prepare("SELECT key_id, inherits FROM quota_key WHERE inherits IS NOT NULL"),
    inherit: db.prepare("UPDATE quota_key SET inherits = ? WHERE key_id = ?"),
    // A request under way counts as lost, as in the windows.
    inheritUses: db.prepare(`
      INSERT OR IGNORE INTO limited_use (key_id, operation, attempt, started_at, deadline_at, ended_at)
      SELECT :to, operation, attempt, started_at, deadline_at, coalesce(ended_at, max(:at, deadline_at) + :lateMs)
      FROM limited_use WHERE key_id = :from`),
    keysAfter: db.prepare("SELECT key_id FROM quota_key WHERE key_id > ? ORDER BY key_id LIMIT 0 + ?"),
  };
}
