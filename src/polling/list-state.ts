/** A specialist's state of a list, stored in the list's row: parsed and written in one place. */
import { isObject, numberIn, textIn, textsIn, type Json, type JsonObject } from "../core/json.ts";
import { DAY } from "../core/units.ts";
import { NEW_SOURCE, type Source } from "../limits/poll-budget.ts";

export interface ListState {
  readonly cursor: ListCursor;
  /** Its yield, which determines its poll interval. */
  readonly pace: ListPace;
  /** Gaps, oldest first. */
  readonly gaps: readonly Gap[];
  /** Undefined if the last poll could read it. */
  readonly failure: ReadFailure | undefined;
  /** Consecutive polls at which a further page could not be read. */
  readonly failedPages: number;
  /** Items of the last poll's page, if it stated that no page follows. */
  readonly lastPageItems: number | undefined;
  /** The deepest page of the last poll with jobs that are still to be read by themselves, counted from 0. */
  readonly unreadPage: number;
  /** No definition uses it now. */
  readonly dormant: boolean;
}

/** A list's yield, and the time at which its actions were last counted. */
export interface ListPace extends Source {
  readonly acts: number;
  /** ms since the epoch. */
  readonly actsAt: number;
}

export const NEW_PACE: ListPace = { ...NEW_SOURCE, acts: 0, actsAt: 0 };

export interface ListCursor {
  /** Ids of the latest pages, newest poll first. Undefined before the first poll. */
  readonly seen: readonly string[] | undefined;
  /** Time of the first poll. */
  readonly startedAt: number;
  /** Time before the request of the last poll, by the network's clock: its answer may lack what came meanwhile. */
  readonly lookedAt?: number;
}

/** Items between `after` and `before`, in the order of the list: more came than were read back. */
export interface Gap {
  /** The newest item known before; undefined if there was none. */
  readonly after: string | undefined;
  /** The oldest item that was read. */
  readonly before: string;
  /** The missing items are not older, ms since the epoch: the time of the previous poll, or the start of the watch. */
  readonly since: number;
  /** The missing items are not newer. */
  readonly until: number;
}

export interface ReadFailure {
  /** Consecutive failed polls. */
  readonly times: number;
  /** ms since the epoch. */
  readonly since: number;
  /** Message of the latest failure. */
  readonly message: string;
}

/** Gaps stored per list. With more in a week the latest suffice. */
const MAX_GAPS = 20;
const GAPS_KEPT_MS = 7 * DAY;
/** Failures before a report: a single failed poll means little. */
export const REPORTED_AFTER = 2;
const MAX_MESSAGE = 300;

/** `now` is the start time of a list without stored state, by the network's clock. */
export function readListState(stored: JsonObject | undefined, now: number): ListState {
  const lookedAt = numberIn(stored, "lookedAt");
  return {
    cursor: {
      seen: textsIn(stored, "seen"),
      startedAt: numberIn(stored, "startedAt") ?? now,
      ...(lookedAt === undefined ? {} : { lookedAt }),
    },
    pace: {
      pace: numberIn(stored, "pace") ?? NEW_PACE.pace,
      yield: numberIn(stored, "yield") ?? NEW_PACE.yield,
      acts: numberIn(stored, "acts") ?? NEW_PACE.acts,
      actsAt: numberIn(stored, "actsAt") ?? NEW_PACE.actsAt,
    },
    gaps: gapsIn(stored?.["gaps"]),
    failure: failureIn(stored),
    failedPages: numberIn(stored, "torn") ?? 0,
    lastPageItems: numberIn(stored, "lastPageItems"),
    unreadPage: numberIn(stored, "unreadPage") ?? 0,
    dormant: stored?.["resting"] === true,
  };
}

/** Stored under the names of the first version. */
export function storeListState(state: ListState): JsonObject {
  const { cursor, pace, gaps, failure, failedPages, lastPageItems, unreadPage, dormant } = state;
  const { seen, startedAt, lookedAt } = cursor;
  const { acts, actsAt, ...source } = pace;
  return {
    ...(seen === undefined ? {} : { seen }),
    startedAt,
    ...(lookedAt === undefined ? {} : { lookedAt }),
    ...source,
    ...(acts === 0 ? {} : { acts, actsAt }),
    ...(gaps.length === 0 ? {} : { gaps: gaps.map(({ after, ...gap }) => (after === undefined ? gap : { after, ...gap })) }),
    ...(failure === undefined ? {} : { failed: failure.times, failedSince: failure.since, failedBy: failure.message }),
    ...(failedPages === 0 ? {} : { torn: failedPages }),
    ...(lastPageItems === undefined ? {} : { lastPageItems }),
    ...(unreadPage === 0 ? {} : { unreadPage }),
    ...(dormant ? { resting: true } : {}),
  };
}

/** The recent gaps, with one more if there is one. */
export function withGap(gaps: readonly Gap[], gap: Gap | undefined, now: number): readonly Gap[] {
  return [...gaps, ...(gap === undefined ? [] : [gap])].filter(({ until }) => until > now - GAPS_KEPT_MS).slice(-MAX_GAPS);
}

/** The failure after one more failed poll. */
export function failedAgain(before: ReadFailure | undefined, message: string, now: number): ReadFailure {
  return { times: (before?.times ?? 0) + 1, since: before?.since ?? now, message: message.slice(0, MAX_MESSAGE) };
}

/** The failure to report, if there is one. */
export function reportedReadFailure({ failure }: ListState): ReadFailure | undefined {
  return failure !== undefined && failure.times >= REPORTED_AFTER ? failure : undefined;
}

/** Nobody waits for a dormant list, so its read failures are cleared. */
export function makeListDormant(state: ListState): ListState {
  return { ...state, failure: undefined, dormant: true };
}

function failureIn(stored: JsonObject | undefined): ReadFailure | undefined {
  const [times, since, message] = [numberIn(stored, "failed"), numberIn(stored, "failedSince"), textIn(stored, "failedBy")];
  return times === undefined || times === 0 || since === undefined || message === undefined ? undefined : { times, since, message };
}

function gapsIn(stored: Json | undefined): readonly Gap[] {
  return Array.isArray(stored) ? stored.flatMap(gapIn) : [];
}

function gapIn(stored: Json): Gap[] {
  if (!isObject(stored)) return [];
  const [before, since, until] = [textIn(stored, "before"), numberIn(stored, "since"), numberIn(stored, "until")];
  return before === undefined || since === undefined || until === undefined
    ? []
    : [{ after: textIn(stored, "after"), before, since, until }];
}
