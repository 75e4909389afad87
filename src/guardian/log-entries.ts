/** The log for display: actions and failed handlings, in order of time. */
import { defined } from "../core/defined.ts";
import { asHandle } from "../core/ids.ts";
import { wordsOf } from "../outbox/announce.ts";
import { asOf, type Intent, type IntentState } from "../outbox/intent.ts";
import { knownSentAt } from "../outbox/sent-at.ts";
import type { EventRow } from "../store/history.ts";
import type { Store } from "../store/store.ts";
import { cutPage, listed, placeOf, type Page } from "./page.ts";
import { wordsIn } from "./search-words.ts";

export interface LogQuery {
  readonly handle?: string;
  /** An operation such as `posts.reply`, the kind of an event such as `job.assigned`, or a noun such as `posts`. */
  readonly kind?: string;
  /** Ms since the epoch. */
  readonly since?: number;
  /** Words that all occur in an entry, or in the whole text of its action. */
  readonly search?: string;
  /** Only entries before this one, for the next page: `next` of the previous page. */
  readonly before?: number;
  readonly limit: number;
}

/** An intent for display. */
export interface ActionEntry {
  readonly about: "action";
  readonly seq: number;
  readonly id: string;
  /** Time of the decision, which the log is ordered by. */
  readonly at: number;
  readonly sentAt?: number;
  readonly handle: string;
  readonly operation: string;
  readonly target?: string;
  readonly state: IntentState;
  readonly code?: string;
  readonly message?: string;
  readonly created?: string;
  readonly settledAt?: number;
  /** The beginning of its text, if it has one. */
  readonly words?: string;
}

/** An event with a failed handling, and the last failure. */
export interface FailureEntry {
  readonly about: "failure";
  readonly seq: number;
  /** Of the event. */
  readonly id: string;
  readonly at: number;
  readonly handle: string;
  /** Of the event. */
  readonly kind: string;
  /** `handled`: a later try succeeded. */
  readonly state: "failing" | "parked" | "handled";
  readonly code: string;
  readonly message: string;
  /** Failed handlings. */
  readonly tries: number;
  readonly file?: string;
  readonly line?: number;
  readonly nextAt?: number;
}

export type LogEntry = ActionEntry | FailureEntry;

export async function readLog(store: Store, query: LogQuery, now: number): Promise<Page<LogEntry>> {
  const { handle, kind, since, before, limit } = query;
  const { until, skip } = placeOf(before);
  const wanted = listed(limit) + skip;
  const search = wordsIn(query.search);
  const specialist = handle === undefined ? undefined : asHandle(handle);
  const end = search === undefined ? undefined : await store.reads.searchEnd(defined({ specialist, until }));
  const from = end === undefined ? since : Math.max(end.at + 1, since ?? 0);
  const filter = defined({ specialist, since: from, until, search, limit: wanted });
  const [intents, failed, total] = await Promise.all([
    store.reads.intents(defined({ ...filter, operation: kind, after: end?.seq })),
    store.reads.failedEvents(defined({ ...filter, kind })),
    store.reads.logTotal(defined({ specialist, kind, since, search })),
  ]);
  const entries = [...intents.map((intent) => actionOf(asOf(intent, now))), ...failed.flatMap(failureOf)].toSorted(byTime);
  const isCut = intents.length === wanted || failed.length === wanted;
  const isEnded = end !== undefined && end.at >= (since ?? 0);
  const below = isCut ? "some" : isEnded ? { downTo: end.at } : "nothing";
  return defined({ ...cutPage(entries, { skip, limit: listed(limit), below, timeOf: ({ at }) => at }), total });
}

/** Newest first: the same order in every store, and in all of them together. Actions are listed at the time of their decision. */
export function byTime(a: LogEntry, b: LogEntry): number {
  return b.at - a.at || a.about.localeCompare(b.about) || b.seq - a.seq;
}

function actionOf(intent: Intent): ActionEntry {
  const { target, code, message, createdRef, settledAt } = intent;
  return defined({
    about: "action" as const,
    seq: intent.seq,
    id: intent.id,
    at: intent.createdAt,
    sentAt: knownSentAt(intent),
    handle: intent.specialist,
    operation: intent.operation,
    state: intent.state,
    target,
    code,
    message,
    created: createdRef,
    settledAt,
    words: wordsOf(intent.input),
  });
}

const STATES: { readonly [state: string]: FailureEntry["state"] | undefined } = { parked: "parked", done: "handled" };

function failureOf({ seq, id, specialist, kind, state, failure, notBefore }: EventRow): readonly FailureEntry[] {
  if (failure === undefined) return [];
  const { at, code, message, tries, file, line } = failure;
  return [
    defined({
      about: "failure" as const,
      seq,
      id,
      at,
      handle: specialist,
      kind,
      state: STATES[state] ?? "failing",
      code,
      message,
      tries,
      file,
      line,
      nextAt: state === "ready" ? notBefore : undefined,
    }),
  ];
}
