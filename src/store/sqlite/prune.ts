/** Deletes facts and rows past their retention, a bounded number at a time. */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { HOUR } from "../../core/units.ts";
import { APPROVALS_KEPT_MS, PRUNE_BATCH } from "../../limits/row-lifetimes.ts";
import { FINAL } from "../../outbox/intent.ts";
import type { Retention } from "../history.ts";
import { OPEN } from "./fold.ts";
import { sqlStates } from "./intent-states.ts";
import { ROLLED } from "./fact-indexes.ts";

/** From the start of a walk through a table to the next one. */
const LOOK_AGAIN_MS = HOUR;

/** Inside a transaction the caller owns, after a fold. */
export function createPrune(db: DatabaseSync): (now: number, retention: Retention) => number {
  const facts = (table: string, kept: string, at = "at") =>
    sweep(
      db.prepare(
        `SELECT max(seq) AS last, min(at) AS oldest FROM (SELECT seq, ${at} AS at FROM main.${table} WHERE seq > ? ORDER BY seq LIMIT ${PRUNE_BATCH})`,
      ),
      db.prepare(`DELETE FROM main.${table} AS old WHERE seq > ? AND seq <= ? AND ${at} < ? AND ${kept}`),
    );
  const mark = `seq <= (SELECT seq FROM main.mark) AND seq <= ${ROLLED}`;
  const isOpen = (kind: number): string => `NOT EXISTS (SELECT 1 FROM main.open WHERE kind = ${kind} AND open.seq = old.seq)`;
  const events = facts("event", `${mark} AND ${isOpen(OPEN.event)} AND ${isOpen(OPEN.late)}`, "created_at");
  const attempts = facts("attempt", `${mark} AND ${isOpen(OPEN.attempt)}`);
  const late = db.prepare("DELETE FROM main.open WHERE kind = ? AND json_extract(state, '$.at') < ?");
  const rest = ["answer", "run", "change"].map((table) => facts(table, mark));
  const intents = facts("intent", `settled_at IS NOT NULL AND state IN ${sqlStates(FINAL)}`, "settled_at");
  const orders = facts("guardian_order", "true");
  const uses = db.prepare("DELETE FROM limited_use WHERE ended_at < ?");
  return (now, { eventsMs, intentsMs, requestsMs }) => {
    uses.run(now - requestsMs);
    late.run(OPEN.late, now - eventsMs);
    return (
      events(now - eventsMs) +
      attempts(now - requestsMs) +
      rest.reduce((sum, one) => sum + one(now - Math.max(requestsMs, eventsMs)), 0) +
      intents(now - intentsMs) +
      orders(now - APPROVALS_KEPT_MS)
    );
  };
}

/**
 * Walks a table from its oldest row, a batch at a time, up to the first batch that is too young; then again from the start, later. Skips rows
 * that have to stay.
 */
function sweep(batch: StatementSync, remove: StatementSync): (before: number) => number {
  let from = 0;
  let startedAt = Number.NEGATIVE_INFINITY;
  /** Removes of the next batch; undefined at the end. */
  const step = (before: number): number | undefined => {
    const { last, oldest } = batch.get(from) ?? {};
    const isOld = typeof last === "number" && (oldest === null || Number(oldest) < before);
    if (!isOld) return void (from = 0);
    const { changes } = remove.run(from, last, before);
    from = last;
    return Number(changes);
  };
  return (before) => {
    const removed = from === 0 ? undefined : step(before);
    if (removed !== undefined) return removed;
    if (Math.abs(before - startedAt) < LOOK_AGAIN_MS) return 0;
    startedAt = before;
    return step(before) ?? 0;
  };
}
