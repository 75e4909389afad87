/** SQL statements of the quota table, and the open requests that it adds. */
import type { DatabaseSync } from "node:sqlite";
import { LANES, type Lane } from "../../contract/operations.ts";
import type { KeyId } from "../../core/ids.ts";

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

export function statements(db: DatabaseSync) {
  return {
    key: db.prepare("SELECT per_hour, per_day, floors, parked_at, parked_until, park_reason, strikes FROM quota_key WHERE key_id = ?"),
    cells: db.prepare("SELECT span, cell, slot, used FROM quota_cell WHERE key_id = ? ORDER BY span, cell, slot"),
    time: db.prepare("SELECT seen_at FROM ledger_time WHERE one = 1"),
    saveTime: db.prepare(`
      INSERT INTO ledger_time (one, seen_at, sure_at, stood) VALUES (1, ?1, ?1, 0) ON CONFLICT DO UPDATE
      SET seen_at = max(seen_at, ?1), sure_at = sure_at + max(0, ?1 - seen_at), stood = 0`),
    timeBack: db.prepare(
      "UPDATE ledger_time SET seen_at = :now, sure_at = min(sure_at, :now), unsure_from = min(unsure_from, :now), stood = 0 WHERE one = 1",
    ),
    stood: db.prepare("SELECT stood FROM ledger_time WHERE one = 1"),
    saveStood: db.prepare("UPDATE ledger_time SET stood = 1 WHERE one = 1"),
    addOne: db.prepare(
      "INSERT INTO quota_cell (key_id, span, cell, slot, used) VALUES (?, ?, ?, ?, ?) ON CONFLICT DO UPDATE SET used = used + excluded.used",
    ),
    gather: db.prepare(`
      INSERT INTO quota_cell (key_id, span, cell, slot, used)
      SELECT key_id, span, :to, slot, sum(used) FROM quota_cell WHERE span = :span AND cell >= :from AND cell < :to GROUP BY key_id, slot
      ON CONFLICT DO UPDATE SET used = used + excluded.used`),
    gathered: db.prepare("DELETE FROM quota_cell WHERE span = :span AND cell >= :from AND cell < :to"),
    // Moved below zero first, because other rows may still hold the target keys.
    lift: db.prepare(`
      INSERT INTO quota_cell (key_id, span, cell, slot, used)
      SELECT key_id, span, -max(cell, min(cell + :cells, :to)), slot, sum(used) FROM quota_cell WHERE span = :span AND cell >= :from
      GROUP BY key_id, slot, max(cell, min(cell + :cells, :to))`),
    pull: db.prepare(`
      INSERT INTO quota_cell (key_id, span, cell, slot, used)
      SELECT key_id, span, -(:to + max(0, cell - :seen)), slot, sum(used) FROM quota_cell WHERE span = :span AND cell >= :to
      GROUP BY key_id, slot, max(0, cell - :seen)`),
    lifted: db.prepare("DELETE FROM quota_cell WHERE span = :span AND cell >= :from"),
    land: db.prepare("UPDATE quota_cell SET cell = -cell WHERE span = :span AND cell < 0"),
    parkLater: db.prepare(
      "UPDATE quota_key SET parked_at = parked_at + :ms, parked_until = parked_until + :ms WHERE parked_at <= :over AND parked_until > :over",
    ),
    parkBack: db.prepare("UPDATE quota_key SET parked_until = parked_until - parked_at + :now, parked_at = :now WHERE parked_at > :now"),
    clear: db.prepare("DELETE FROM quota_cell WHERE key_id = ?"),
    prune: db.prepare("DELETE FROM quota_cell WHERE key_id = ? AND span = ? AND cell < ?"),
    park: db.prepare("UPDATE quota_key SET parked_at = ?, parked_until = ?, park_reason = ?, strikes = ? WHERE key_id = ?"),
    register: db.prepare(
      "INSERT INTO quota_key (key_id, per_hour, per_day, floors) VALUES (?, ?, ?, ?) ON CONFLICT DO UPDATE SET per_hour = excluded.per_hour, per_day = excluded.per_day, floors = excluded.floors",
    ),
    succeed: db.prepare("UPDATE quota_key SET successor = ? WHERE key_id = ? AND successor IS NULL"),
    keysAfter: db.prepare("SELECT key_id FROM quota_key WHERE key_id > ? ORDER BY key_id LIMIT 0 + ?"),
  };
}
