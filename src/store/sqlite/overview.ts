/** The overview in SQLite: each statement reads one table for all specialists, or for one. */
import type { DatabaseSync } from "node:sqlite";
import { asHandle, type Handle } from "../../core/ids.ts";
import { headOf, type LiveIntent } from "../../live/live-intent.ts";
import type { Present } from "../../live/present.ts";
import type { Intent } from "../../outbox/intent.ts";
import type { Awaiting } from "../controls.ts";
import type { HeldIntents, Listed, OverviewStore } from "../overview.ts";
import { NO_ROW } from "../specialists.ts";
import { OPEN } from "./fold.ts";
import { maybeNumber, numberOf, textOf, type Row } from "./columns.ts";
import { WAITING_APPROVALS } from "./controls.ts";
import type { HistoryParts } from "./history.ts";
import { INTENT_ROW, IS_LIVE, readIntent } from "./intent-rows.ts";
import { sqlState, sqlStates, stateOf } from "./intent-states.ts";
import { readSource } from "./sources.ts";
import { readSpecialist, SPECIALIST_COLUMNS } from "./specialists.ts";

/** Groups of held intents of one specialist. */
const MAX_GROUPS = 50;

export function createOverview(db: DatabaseSync, parts: Omit<HistoryParts, "rows">): OverviewStore {
  return { ...createSpecialistOverview(db, parts), ...createWaitingIntents(db, parts) };
}

const ONE_OR_ALL = "(?1 IS NULL OR specialist = ?1)";

function createSpecialistOverview(db: DatabaseSync, { present, foldNow }: Omit<HistoryParts, "rows">): Pick<OverviewStore, "overview"> {
  const specialists = db.prepare(`SELECT handle, ${SPECIALIST_COLUMNS} FROM specialist WHERE ?1 IS NULL OR handle = ?1 ORDER BY handle`);
  const counts = db.prepare(`SELECT specialist, operation, state, n FROM intent_count WHERE ${ONE_OR_ALL} AND n > 0`);
  const jobs = db.prepare(`SELECT specialist, state, count(*) AS n FROM watch WHERE ${ONE_OR_ALL} AND kind = 'job' GROUP BY 1, 2`);
  const sources = db.prepare(`SELECT specialist, name, cursor, due_at FROM source WHERE ${ONE_OR_ALL}`);
  const awaiting = db.prepare(`
    SELECT i.specialist, count(*) AS n, min(min(a.expires_at, coalesce(i.expires_at, a.expires_at))) AS until ${WAITING_APPROVALS("?2")}
      AND (?1 IS NULL OR i.specialist = ?1) GROUP BY 1`);
  const queued = createQueued(db, present);
  return {
    async overview(now, specialist) {
      foldNow();
      const one = specialist ?? null;
      const countsOf = groups(counts.all(one), (row) => ({
        operation: textOf(row, "operation"),
        state: stateOf(row),
        count: numberOf(row, "n"),
      }));
      const jobsOf = groups(jobs.all(one), (row): [string, number] => [textOf(row, "state"), numberOf(row, "n")]);
      const sourcesOf = groups(sources.all(one), readSource);
      const awaitingOf = groups(awaiting.all(one, now), (row): Awaiting => ({ count: numberOf(row, "n"), until: numberOf(row, "until") }));
      const queuedOf = queued(specialist);
      const rows = new Map(specialists.all(one).map((row) => [asHandle(textOf(row, "handle")), readSpecialist(row)]));
      const working = specialist === undefined ? present.specialists() : [];
      const handles = new Set([...rows.keys(), ...countsOf.keys(), ...sourcesOf.keys(), ...jobsOf.keys(), ...working]);
      return new Map(
        [...handles].toSorted().map((handle) => [
          handle,
          {
            row: rows.get(handle) ?? NO_ROW,
            counts: countsOf.get(handle) ?? [],
            jobs: Object.fromEntries(jobsOf.get(handle) ?? []),
            sources: sourcesOf.get(handle) ?? [],
            awaiting: awaitingOf.get(handle)?.[0],
            held: heldIn(present, handle, queuedOf.get(handle) ?? [])
              .toSorted((a, b) => b.count - a.count)
              .slice(0, MAX_GROUPS),
          },
        ]),
      );
    },
  };
}

/** The rows of each specialist. */
export function groups<Value>(rows: readonly Row[], read: (row: Row) => Value): Map<Handle, Value[]> {
  const found = new Map<Handle, Value[]>();
  for (const row of rows) {
    const handle = asHandle(textOf(row, "specialist"));
    const values = found.get(handle);
    if (values === undefined) found.set(handle, [read(row)]);
    else values.push(read(row));
  }
  return found;
}

/** Intents of which only the numbers are in memory. */
function createQueued(db: DatabaseSync, present: Present): (specialist: Handle | undefined) => ReadonlyMap<Handle, HeldIntents[]> {
  const byOperation = db.prepare(`
    SELECT specialist, lane, operation, count(*) AS n FROM json_each(?) JOIN main.intent ON seq = value GROUP BY 1, 2, 3`);
  return (specialist) => {
    const handles = specialist === undefined ? present.specialists() : [specialist];
    const numbers: number[] = [];
    for (const handle of handles)
      for (const queue of present.of(handle).waiting?.values() ?? []) for (const seq of queue) numbers.push(seq);
    return groups(byOperation.all(JSON.stringify(numbers)), (row) => ({
      operation: textOf(row, "operation"),
      lane: textOf(row, "lane"),
      count: numberOf(row, "n"),
      nextAt: 0,
      state: "ready",
      code: undefined,
      message: undefined,
    }));
  };
}

/** Ready and proposed intents by operation, lane and delaying rule. One that follows another of its run waits for the same. */
function heldIn(present: Present, specialist: Handle, queued: readonly HeldIntents[]): readonly HeldIntents[] {
  const held = new Map(queued.map((group) => [JSON.stringify([group.state, group.operation, group.lane, group.code]), group]));
  for (const intent of present.of(specialist).intents.values()) {
    const { state, operation, lane } = intent;
    if (state !== "ready" && state !== "proposed") continue;
    const head: LiveIntent | undefined = headOf(intent, present.intents);
    const code = intent.code ?? head?.code;
    const name = JSON.stringify([state, operation, lane, code]);
    const nextAt = Math.max(intent.nextAt, head?.nextAt ?? 0);
    const known = held.get(name);
    held.set(name, {
      operation,
      lane,
      state,
      code,
      message: intent.message ?? head?.message ?? known?.message,
      count: (known?.count ?? 0) + 1,
      nextAt: Math.min(nextAt, known?.nextAt ?? Infinity),
    });
  }
  return [...held.values()];
}

/** The states of the index `intent_stuck`: an index is only used if its condition is in the statement letter by letter. */
const IS_STUCK = `state IN ${sqlStates(["parked", "pending", "in_doubt"])}`;
const DELIVERY = "jobs.submit";

function createWaitingIntents(
  db: DatabaseSync,
  { foldNow }: Omit<HistoryParts, "rows">,
): Pick<OverviewStore, "waitingIntents" | "backlog"> {
  const events = db.prepare(`
    SELECT count(*) AS n, min(event.created_at) AS at FROM main.open JOIN main.event ON event.seq = open.seq
    WHERE open.kind = ${OPEN.event} AND coalesce(json_extract(open.state, '$.state'), 'ready') = 'ready'`);
  const actions = db.prepare(`
    SELECT count(*) AS n, min(created_at) AS at FROM main.intent INDEXED BY intent_live WHERE ${IS_LIVE} AND state = ${sqlState("ready")}`);
  const stuck = db.prepare(
    `SELECT ${INTENT_ROW} FROM main.intent INDEXED BY intent_stuck WHERE ${IS_STUCK} AND state = ? ORDER BY seq DESC LIMIT 0 + ?`,
  );
  const totals = db.prepare(`SELECT state, count(*) AS n FROM main.intent INDEXED BY intent_stuck WHERE ${IS_STUCK} GROUP BY state`);
  const undelivered = db.prepare(`
    WITH refused AS (
      SELECT specialist, target, max(seq) AS seq FROM main.intent INDEXED BY intent_undelivered
      WHERE operation = '${DELIVERY}' AND state = ${sqlState("refused")} AND target IS NOT NULL GROUP BY 1, 2
    ), underway AS (
      SELECT specialist, target FROM main.intent INDEXED BY intent_live WHERE ${IS_LIVE} AND operation = '${DELIVERY}'
      UNION SELECT specialist, target FROM main.intent INDEXED BY intent_stuck WHERE ${IS_STUCK} AND operation = '${DELIVERY}'
    )
    SELECT (SELECT ${INTENT_ROW.replace(" AS intent", "")} FROM main.intent WHERE seq = refused.seq) AS intent, count(*) OVER () AS total
    FROM refused JOIN watch ON watch.specialist = refused.specialist AND watch.kind = 'job' AND watch.object = refused.target
    WHERE watch.state = 'assigned' AND (refused.specialist, refused.target) NOT IN (SELECT specialist, target FROM underway WHERE target IS NOT NULL)
    ORDER BY refused.seq DESC LIMIT 0 + ?`);
  return {
    async backlog() {
      foldNow();
      const [event, action] = [events.get() ?? {}, actions.get() ?? {}];
      return {
        events: numberOf(event, "n"),
        oldestEventAt: maybeNumber(event, "at"),
        actions: numberOf(action, "n"),
        oldestActionAt: maybeNumber(action, "at"),
      };
    },
    async waitingIntents(limit) {
      foldNow();
      const total = new Map(totals.all().map((row) => [stateOf(row), numberOf(row, "n")]));
      const listed = (state: "parked" | "in_doubt" | "pending"): Listed<Intent> => ({
        rows: stuck.all(state, limit).map(readIntent),
        total: total.get(state) ?? 0,
      });
      const late = undelivered.all(limit);
      return {
        parked: listed("parked"),
        doubts: listed("in_doubt"),
        pending: listed("pending"),
        undelivered: { rows: late.map(readIntent), total: late[0] === undefined ? 0 : numberOf(late[0], "total") },
      };
    },
  };
}
