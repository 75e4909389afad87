/** The timeline of one specialist for display: each event, the actions it led to, and the requests of each action. */
import { defined } from "../core/defined.ts";
import { asHandle } from "../core/ids.ts";
import { wordsOf } from "../outbox/announce.ts";
import { asOf, type IntentState } from "../outbox/intent.ts";
import type { OutcomeClass } from "../contract/call.ts";
import type { Store } from "../store/store.ts";
import type { TimelineAction, TimelineRow } from "../store/timeline.ts";
import type { Page } from "./page.ts";
import { showEvent } from "./proposals.ts";

/** Events of one page. */
export const MAX_EVENTS = 100;

export interface EventsQuery {
  readonly handle: string;
  /** Only events before this one, for the next page: `next` of the previous page. */
  readonly before?: number;
  readonly limit: number;
}

export interface TimelineEvent {
  readonly seq: number;
  readonly id: string;
  readonly kind: string;
  /** The time at which it was stored. */
  readonly at: number;
  /** `ready`, `running`, `parked` or `done`. */
  readonly state: string;
  /** The end of its handling, or the time at which it was parked. */
  readonly doneAt?: number;
  /** The next try, if a handling failed. */
  readonly nextAt?: number;
  /** The reason for its wait or parking. */
  readonly note?: string;
  /** The last failed handling, even if a later one succeeded. */
  readonly failure?: { readonly at: number; readonly code: string; readonly message: string; readonly tries: number };
  /** Text of others, cut at 2,000 characters; so are the next two. */
  readonly text?: string;
  readonly title?: string;
  readonly author?: string;
  /** Stored steps of a handling that is not over, at most 50; `bytes` is the length of the value. */
  readonly steps: readonly { readonly name: string; readonly bytes: number }[];
  readonly stepCount: number;
  /** In the order in which they were decided. */
  readonly actions: readonly TimelineIntent[];
}

export interface TimelineIntent {
  readonly id: string;
  readonly operation: string;
  readonly target?: string;
  readonly state: IntentState;
  readonly code?: string;
  readonly message?: string;
  /** The beginning of its text, if it has one. */
  readonly words?: string;
  /** The network's id of the created object. */
  readonly created?: string;
  /** The Guardian's, given with an approval. */
  readonly reason?: string;
  readonly settledAt?: number;
  /** The newest 20, oldest first. */
  readonly attempts: readonly TimelineAttempt[];
  readonly attemptCount: number;
}

export interface TimelineAttempt {
  readonly at: number;
  /** Absent while its answer is awaited. */
  readonly endedAt?: number;
  readonly outcome?: OutcomeClass;
  readonly status?: number;
  /** The reason of an outcome that is not `confirmed`. */
  readonly message?: string;
}

export async function readEvents(store: Store, { handle, before, limit }: EventsQuery, now: number): Promise<Page<TimelineEvent>> {
  const bounded = Math.min(Math.max(1, limit), MAX_EVENTS);
  const { rows, total } = await store.reads.timeline(defined({ specialist: asHandle(handle), before, limit: bounded }));
  const entries = rows.map((row) => eventOf(row, now));
  const last = entries.at(-1);
  return { entries, total, ...(last === undefined || rows.length < bounded ? {} : { next: last.seq }) };
}

function eventOf({ event, steps, stepCount, actions }: TimelineRow, now: number): TimelineEvent {
  const { seq, state, note, failure, doneAt, notBefore } = event;
  const { id, kind, at, text, title, author } = showEvent(event);
  return defined({
    seq,
    id,
    kind,
    at,
    state,
    doneAt,
    note,
    text,
    title,
    author,
    steps,
    stepCount,
    nextAt: state === "ready" && notBefore > now ? notBefore : undefined,
    failure: failure && { at: failure.at, code: failure.code, message: failure.message, tries: failure.tries },
    actions: actions.map((action) => actionOf(action, now)),
  });
}

function actionOf({ intent: row, requests }: TimelineAction, now: number): TimelineIntent {
  const intent = asOf(row, now);
  const { id, operation, target, state, code, message, createdRef: created, reason, settledAt } = intent;
  return defined({
    id,
    operation,
    target,
    state,
    code,
    message,
    created,
    reason,
    settledAt,
    words: wordsOf(intent.input),
    attempts: requests.map(({ note, ...request }) => defined({ ...request, message: note })),
    attemptCount: intent.attempt,
  });
}
