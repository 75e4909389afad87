/** The overview in SQLite: each statement reads one table for all specialists, or for one. */
import type { DatabaseSync } from "node:sqlite";
import { asHandle, type Handle } from "../../core/ids.ts";
import { scopeOf } from "../../limits/spending.ts";
import { GOES_FIRST, type Intent, type IntentState } from "../../outbox/intent.ts";
import type { Awaiting } from "../controls.ts";
import type { HeldIntents, Listed } from "../overview.ts";
import type { ReadTable } from "../people-reads.ts";
import { NO_ROW } from "../specialists.ts";
import { OPEN } from "./fold.ts";
import { maybeNumber, maybeText, numberOf, textOf, type Row } from "./columns.ts";
import { WAITING_APPROVALS } from "./controls.ts";
import { INTENT_ROW, IS_LIVE, readIntent } from "./intent-rows.ts";
import { sqlState, sqlStates, stateOf } from "./intent-states.ts";
import { readSource } from "./sources.ts";
import { readSpecialist, SPECIALIST_COLUMNS } from "./specialists.ts";

/** Groups of held intents of one specialist. */
const MAX_GROUPS = 50;

type Overview = Pick<ReadTable, "overview" | "waitingIntents" | "backlog" | "money">;

export function createOverview(db: DatabaseSync): Overview {
  return { ...createSpecialistOverview(db), ...createWaitingIntents(db), ...createMoney(db) };
}

const ONE_OR_ALL = "(?1 IS NULL OR specialist = ?1)";

function createSpecialistOverview(db: DatabaseSync): Pick<Overview, "overview"> {
  const specialists = db.prepare(`SELECT handle, ${SPECIALIST_COLUMNS} FROM specialist WHERE ?1 IS NULL OR handle = ?1 ORDER BY handle`);
  const counts = db.prepare(`SELECT specialist, operation, state, n FROM intent_count WHERE ${ONE_OR_ALL} AND n > 0`);
  const jobs = db.prepare(`SELECT specialist, state, count(*) AS n FROM watch WHERE ${ONE_OR_ALL} AND kind = 'job' GROUP BY 1, 2`);
  const sources = db.prepare(`SELECT specialist, name, cursor, due_at FROM source WHERE ${ONE_OR_ALL}`);
  const awaiting = db.prepare(`
    SELECT i.specialist, count(*) AS n, min(min(a.expires_at, coalesce(i.expires_at, a.expires_at))) AS until ${WAITING_APPROVALS("?2")}
      AND (?1 IS NULL OR i.specialist = ?1) GROUP BY 1`);
  const held = createHeld(db);
  return {
    overview(now, specialist) {
      const one = specialist ?? null;
      const countsOf = groups(counts.all(one), (row) => ({
        operation: textOf(row, "operation"),
        state: stateOf(row),
        count: numberOf(row, "n"),
      }));
      const jobsOf = groups(jobs.all(one), (row): [string, number] => [textOf(row, "state"), numberOf(row, "n")]);
      const sourcesOf = groups(sources.all(one), readSource);
      const awaitingOf = groups(awaiting.all(one, now), (row): Awaiting => ({ count: numberOf(row, "n"), until: numberOf(row, "until") }));
      const isHeld = [...countsOf.values()].some((all) => all.some(({ state }) => HELD.includes(state)));
      const heldOf = isHeld ? held(specialist) : new Map<Handle, HeldIntents[]>();
      const rows = new Map(specialists.all(one).map((row) => [asHandle(textOf(row, "handle")), readSpecialist(row)]));
      const handles = new Set([...rows.keys(), ...countsOf.keys(), ...sourcesOf.keys(), ...jobsOf.keys()]);
      return new Map(
        [...handles].toSorted().map((handle) => [
          handle,
          {
            row: rows.get(handle) ?? NO_ROW,
            counts: countsOf.get(handle) ?? [],
            jobs: Object.fromEntries(jobsOf.get(handle) ?? []),
            sources: sourcesOf.get(handle) ?? [],
            awaiting: awaitingOf.get(handle)?.[0],
            held: heldOf.get(handle)?.slice(0, MAX_GROUPS) ?? [],
          },
        ]),
      );
    },
  };
}

/** The rows of each specialist. */
function groups<Value>(rows: readonly Row[], read: (row: Row) => Value): Map<Handle, Value[]> {
  const found = new Map<Handle, Value[]>();
  for (const row of rows) {
    const handle = asHandle(textOf(row, "specialist"));
    const values = found.get(handle);
    if (values === undefined) found.set(handle, [read(row)]);
    else values.push(read(row));
  }
  return found;
}

const HELD: readonly IntentState[] = ["ready", "proposed"];

/** Ready and proposed intents by operation, lane and delaying rule, most first. One that follows another of its run waits for the same. */
function createHeld(db: DatabaseSync): (specialist: Handle | undefined) => ReadonlyMap<Handle, HeldIntents[]> {
  const head = `(
    SELECT min(seq) FROM main.intent AS before
    WHERE before.seq >= i.seq - i.ordinal AND before.seq < i.seq AND before.state IN ${sqlStates(GOES_FIRST)})`;
  const select = (index: string, whose: string) =>
    db.prepare(`
    SELECT i.specialist, i.operation, i.lane, i.state, coalesce(i.code, head.code) AS code, max(coalesce(i.message, head.message)) AS message,
      count(*) AS n, min(max(i.next_at, coalesce(head.next_at, 0))) AS next_at
    FROM main.intent AS i INDEXED BY ${index} LEFT JOIN main.intent AS head ON i.ordinal > 0 AND head.seq = ${head}
    WHERE i.${IS_LIVE} AND i.state IN ${sqlStates(HELD)} AND ${whose} GROUP BY 1, 2, 3, 4, 5 ORDER BY n DESC, min(i.seq)`);
  const [one, all] = [select("intent_of", "i.specialist = ?1"), select("intent_live", "?1 IS NULL")];
  return (specialist) =>
    groups((specialist === undefined ? all : one).all(specialist ?? null), (row) => ({
      operation: textOf(row, "operation"),
      lane: textOf(row, "lane"),
      state: textOf(row, "state") === "ready" ? "ready" : "proposed",
      code: maybeText(row, "code"),
      message: maybeText(row, "message"),
      count: numberOf(row, "n"),
      nextAt: numberOf(row, "next_at"),
    }));
}

/** Totals, and the sum of the present day. */
function createMoney(db: DatabaseSync): Pick<Overview, "money"> {
  const own = scopeOf(asHandle(""));
  const spent = db.prepare(`
    SELECT substr(scope, ${own.length + 1}) AS specialist, currency, sum(iif(span = 'total', held, 0)) AS held,
      sum(iif(span = 'total', posted, 0)) AS posted, sum(iif(span = 'day', held + posted, 0)) AS day
    FROM spend_row WHERE (?1 IS NULL OR scope = ?1) AND substr(scope, 1, ${own.length}) = '${own}'
      AND (span = 'total' OR (span = 'day' AND start <= ?2 AND ends > ?2))
    GROUP BY scope, currency ORDER BY scope, currency`);
  return {
    money: (now, specialist) =>
      groups(spent.all(specialist === undefined ? null : scopeOf(specialist), now), (row) => ({
        currency: textOf(row, "currency"),
        heldMicros: numberOf(row, "held"),
        postedMicros: numberOf(row, "posted"),
        dayMicros: numberOf(row, "day"),
      })),
  };
}

/** The states of the index `intent_stuck`: an index is only used if its condition is in the statement letter by letter. */
const IS_STUCK = `state IN ${sqlStates(["parked", "pending", "in_doubt"])}`;
const DELIVERY = "jobs.submit";

function createWaitingIntents(db: DatabaseSync): Pick<Overview, "waitingIntents" | "backlog"> {
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
    backlog() {
      const [event, action] = [events.get() ?? {}, actions.get() ?? {}];
      return {
        events: numberOf(event, "n"),
        oldestEventAt: maybeNumber(event, "at"),
        actions: numberOf(action, "n"),
        oldestActionAt: maybeNumber(action, "at"),
      };
    },
    waitingIntents(limit) {
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
