/** What a specialist knows of a list, as the list's row keeps it: read once, whoever wrote it, and written once. */
import { isObject, numberIn, textIn, textsIn, type Json, type JsonObject } from "../core/json.ts";
import { DAY } from "../core/units.ts";
import { NEW_SOURCE, type Source } from "../limits/poll-budget.ts";

export interface ListState {
  readonly cursor: ListCursor;
  /** How much it brings, and so how often it is read. */
  readonly pace: ListPace;
  /** Parts of it that were never read, oldest first. */
  readonly gaps: readonly Gap[];
  /** Undefined where it could be read at the last look. */
  readonly failure: ReadFailure | undefined;
  /** Looks in a row at which a further page could not be read. */
  readonly failedPages: number;
  /** No definition asks for it now. */
  readonly dormant: boolean;
}

/** How a list has done, and when its actions were last counted. */
export interface ListPace extends Source {
  readonly acts: number;
  /** ms since the epoch. */
  readonly actsAt: number;
}

export const NEW_PACE: ListPace = { ...NEW_SOURCE, acts: 0, actsAt: 0 };

export interface ListCursor {
  /** Ids of the latest pages, newest look first. Undefined before the first look. */
  readonly seen: readonly string[] | undefined;
  /** When this list was first looked at. */
  readonly startedAt: number;
  /** When it was looked at last. */
  readonly lookedAt?: number;
}

/** Items between `after` and `before`, in the order of the list: more came than was looked back for. */
export interface Gap {
  /** The newest item known before; undefined where there was none. */
  readonly after: string | undefined;
  /** The oldest item that was read. */
  readonly before: string;
  /** What is missing is not older, ms since the epoch: the look before, or what the watch goes back to. */
  readonly since: number;
  /** And not newer. */
  readonly until: number;
}

export interface ReadFailure {
  /** Looks in a row. */
  readonly times: number;
  /** ms since the epoch. */
  readonly since: number;
  /** What came of the latest. */
  readonly message: string;
}

/** Of one list. With more gaps in a week the latest say enough. */
const MAX_GAPS = 20;
const GAPS_KEPT_MS = 7 * DAY;
/** One look that fails says little. */
export const REPORTED_AFTER = 2;
const MAX_MESSAGE = 300;

/** `now` is when a list begins of which nothing is stored, in the network's time. */
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
    dormant: stored?.["resting"] === true,
  };
}

/** Under the names that the first version gave them. */
export function storeListState({ cursor, pace, gaps, failure, failedPages, dormant }: ListState): JsonObject {
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
    ...(dormant ? { resting: true } : {}),
  };
}

/** Those worth telling of, with one more where there is one. */
export function withGap(gaps: readonly Gap[], gap: Gap | undefined, now: number): readonly Gap[] {
  return [...gaps, ...(gap === undefined ? [] : [gap])].filter(({ until }) => until > now - GAPS_KEPT_MS).slice(-MAX_GAPS);
}

/** After one more look that failed. */
export function failedAgain(before: ReadFailure | undefined, message: string, now: number): ReadFailure {
  return { times: (before?.times ?? 0) + 1, since: before?.since ?? now, message: message.slice(0, MAX_MESSAGE) };
}

/** What people are told of it. */
export function reportedReadFailure({ failure }: ListState): ReadFailure | undefined {
  return failure !== undefined && failure.times >= REPORTED_AFTER ? failure : undefined;
}

/** Nobody waits for it, so that it cannot be read is no news. */
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
