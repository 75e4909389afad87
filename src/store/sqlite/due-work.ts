/** Due work of specialists: events and intents are in memory; the first due times of all other rows are cached. */
import type { DatabaseSync } from "node:sqlite";
import { asHandle, type Handle } from "../../core/ids.ts";
import type { Lane } from "../../contract/operations.ts";
import { isFree, isReadyIn, expires } from "../../live/live-intent.ts";
import type { Present } from "../../live/present.ts";
import { WORK_KINDS, type FirstDue, type WorkKind, type SourceStore } from "../sources.ts";
import { maybeNumber, textOf } from "./columns.ts";
import { IS_SCHEDULE } from "./sources.ts";

/** First due times of the kinds of work that have rows. */
type Looks = { readonly [part in "deliveries" | "schedules" | "sources" | "watches"]: number | undefined };
type Work = { readonly [part in "events" | "intents" | "doubts"]: number | undefined };

/** First due times of rows, cached by specialist. */
export interface Dues {
  of(specialist: Handle): Looks;
  /** Called when its rows change. */
  forget(specialist: Handle): void;
  forgetAll(): void;
}

const MAX_CACHED = 20_000;
const NEVER: Looks = { deliveries: undefined, schedules: undefined, sources: undefined, watches: undefined };

export function createDues(db: DatabaseSync): Dues {
  const read = db.prepare(`
    SELECT (SELECT min(due_at) FROM delivery WHERE specialist = ?1 AND state = 'ready') AS deliveries,
      (SELECT min(due_at) FROM source WHERE specialist = ?1 AND due_at IS NOT NULL AND ${IS_SCHEDULE}) AS schedules,
      (SELECT min(due_at) FROM source WHERE specialist = ?1 AND due_at IS NOT NULL AND NOT ${IS_SCHEDULE}) AS sources,
      (SELECT min(due_at) FROM watch WHERE specialist = ?1 AND due_at IS NOT NULL) AS watches`);
  const known = new Map<Handle, Looks>();
  return {
    of(specialist) {
      const hit = known.get(specialist);
      if (hit !== undefined) return hit;
      const row = read.get(specialist) ?? {};
      const looks: Looks = {
        deliveries: maybeNumber(row, "deliveries"),
        schedules: maybeNumber(row, "schedules"),
        sources: maybeNumber(row, "sources"),
        watches: maybeNumber(row, "watches"),
      };
      if (known.size >= MAX_CACHED) known.clear();
      known.set(specialist, Object.values(looks).every((at) => at === undefined) ? NEVER : looks);
      return looks;
    },
    forget: (specialist) => void known.delete(specialist),
    forgetAll: () => known.clear(),
  };
}

export function createDueWork(db: DatabaseSync, present: Present, dues: Dues): Pick<SourceStore, "nextDue" | "dueWork" | "firstDues"> {
  const first = db.prepare(`
    SELECT specialist, min(work) AS work, min(look) AS look FROM (
      SELECT specialist, min(due_at) AS work, NULL AS look FROM delivery WHERE state = 'ready' GROUP BY specialist
      UNION ALL SELECT specialist, min(due_at), NULL FROM watch WHERE due_at IS NOT NULL GROUP BY specialist
      UNION ALL SELECT specialist, NULL, min(due_at) FROM source WHERE due_at IS NOT NULL GROUP BY specialist)
    GROUP BY specialist`);
  return {
    nextDue(specialist, lanes) {
      const { deliveries, schedules, sources, watches } = dues.of(specialist);
      const { events, intents, doubts } = workOf(present, specialist, lanes);
      return earlier(earlier(earlier(deliveries, schedules), earlier(sources, watches)), earlier(earlier(events, intents), doubts));
    },
    dueWork(specialist, lanes, now) {
      const all = { ...dues.of(specialist), ...workOf(present, specialist, lanes) };
      return WORK_KINDS.filter((part: WorkKind) => (all[part] ?? Infinity) <= now);
    },
    async firstDues() {
      const found = new Map<Handle, FirstDue>();
      for (const row of first.all()) {
        const specialist = asHandle(textOf(row, "specialist"));
        found.set(specialist, { specialist, workAt: maybeNumber(row, "work"), lookAt: maybeNumber(row, "look") });
      }
      for (const specialist of present.specialists()) {
        const { events, intents, doubts } = workOf(present, specialist);
        const known = found.get(specialist);
        const workAt = [events, intents, doubts].reduce(earlier, known?.workAt);
        found.set(specialist, { specialist, workAt, lookAt: known?.lookAt });
      }
      return [...found.values()];
    },
  };
}

function earlier(a: number | undefined, b: number | undefined): number | undefined {
  return a === undefined ? b : b === undefined ? a : Math.min(a, b);
}

const NO_WORK: Work = { events: undefined, intents: undefined, doubts: undefined };

/** Without `lanes`, intents of all lanes count, and those that wait for an earlier one too. */
function workOf(present: Present, specialist: Handle, lanes?: readonly Lane[]): Work {
  const mine = present.of(specialist);
  if (mine.events.size === 0 && mine.intents.size === 0 && (mine.queue ?? mine.waiting) === undefined) return NO_WORK;
  let [events, intents, doubts]: (number | undefined)[] = present.hasNext(specialist) ? [0] : [];
  for (const { state, isClaimed, notBefore } of mine.events.values())
    if (state === "ready" && !isClaimed) events = earlier(events, notBefore);
  if (mine.waiting !== undefined && (lanes === undefined || lanes.some((lane) => mine.waiting?.has(lane)))) intents = 0;
  for (const intent of mine.intents.values()) {
    if (intent.state === "in_doubt") doubts = earlier(doubts, intent.nextAt);
    if (expires(intent)) intents = earlier(intents, intent.expiresAt);
    if (
      lanes === undefined
        ? intent.state === "ready"
        : isReadyIn(intent, lanes) && isFree(intent, present.intents) && !present.isBehind(intent)
    )
      intents = earlier(intents, intent.nextAt);
  }
  return { events, intents, doubts };
}
