/** Failing handlers for display: grouped, with the place, the next try and the remedy. */
import { foreignCode } from "../core/error-codes.ts";
import { defined } from "../core/defined.ts";
import { Misconfigured } from "../core/errors.ts";
import { isObject } from "../core/json.ts";
import type { Failure } from "../store/failure.ts";
import type { EventRow, FailureGroup } from "../store/history.ts";
import type { Store } from "../store/store.ts";
import type { Handle } from "../core/ids.ts";
import type { Explanation, Reason } from "./explanation.ts";

/** Events of one kind that fail for one specialist in the same way. */
export interface FailingShown {
  readonly handle: string;
  /** The kind of the events. */
  readonly what: string;
  readonly code: string;
  /** Message of the newest. */
  readonly message: string;
  /** The message without the parts that differ between the events. */
  readonly pattern: string;
  readonly count: number;
  /** Number of events that wait for a person. */
  readonly parked: number;
  /** Most failed handlings of one event. */
  readonly tries: number;
  readonly failedAt: number;
  /** Next try of the first event that is not parked. */
  readonly nextAt?: number;
  /** The place in the definition, if the stack names one. */
  readonly file?: string;
  readonly line?: number;
  /** The newest event: `retinue why` shows its stack. */
  readonly id: string;
  readonly hint: string;
}

export interface AllFailing {
  /** The largest groups. */
  readonly failing: readonly FailingShown[];
  /** Totals, including groups that are not listed. */
  readonly failingCounts: { readonly events: number; readonly parked: number; readonly groups: number };
}

const MAX_GROUPS = 100;

export async function showFailing(store: Store, specialist?: Handle): Promise<AllFailing> {
  const { groups, groupCount, eventCount, parkedCount } = await store.reads.failing(specialist, MAX_GROUPS);
  return { failing: groups.flatMap(groupShown), failingCounts: { events: eventCount, parked: parkedCount, groups: groupCount } };
}

function groupShown({ specialist, kind, count, parked, tries, nextAt, latest }: FailureGroup): readonly FailingShown[] {
  const { failure, id } = latest;
  if (failure === undefined) return [];
  const { code, message, pattern, at, file, line } = failure;
  return [
    defined({
      handle: specialist,
      what: kind,
      code,
      message,
      pattern,
      count,
      parked,
      tries,
      failedAt: at,
      file,
      line,
      nextAt,
      id,
      hint: hintFor(failure, specialist),
    }),
  ];
}

/** Events of a changed definition are retried automatically, except parked ones. */
function hintFor(failure: Failure, name: string): string {
  const place = failure.line === undefined ? "what it needs" : "it there";
  return `mend ${place}, then: retinue retry ${name}`;
}

/** The reason as shown by `why <handle>`. */
export function reasonOfFailing({ what, message, count, tries, nextAt, failedAt, file, line, id }: FailingShown): Reason {
  return defined({
    rule: "handler_failed",
    message: `${count === 1 ? id : `${count} ${what}`}: ${message}`,
    tries,
    since: failedAt,
    until: nextAt,
    file,
    line,
  });
}

/** The error of an order about an event that waits for a person at several specialists. */
export function severalParked(id: string, handles: readonly string[]): Misconfigured {
  return new Misconfigured("several_parked", `${id} failed for ${handles.join(" and ")}`, { hint: "say whose with --as <handle>" });
}

/** One event: the state of its handling, the reason of a failure, and its content. `named` is the argument of `retry`. */
export function explainEvent(event: EventRow, named: string = event.id): Explanation {
  const { state, failure, id, kind } = event;
  const isOpen = state !== "done";
  const isFailing = isOpen && failure !== undefined;
  return {
    id,
    about: "event",
    handle: event.specialist,
    what: kind,
    state: isFailing && state !== "parked" ? "failing" : state,
    since: event.doneAt ?? event.createdAt,
    reasons: [...(isFailing ? [reasonOf(event, failure)] : suspended(event)), ...toldBy(event)],
    ...(isFailing || state === "parked" ? { hint: failure === undefined ? `retinue retry ${named}` : hintFor(failure, named) } : {}),
  };
}

function reasonOf({ state, notBefore }: EventRow, failure: Failure): Reason {
  const { message, tries, at, file, line, stack } = failure;
  return defined({
    rule: "handler_failed",
    message,
    tries,
    since: at,
    until: state === "ready" ? notBefore : undefined,
    file,
    line,
    stack,
  });
}

function suspended({ state, note, notBefore }: EventRow): readonly Reason[] {
  if (note === undefined) return [];
  if (state === "parked") return [{ rule: "handler_failed", message: note }];
  return state === "ready" ? [{ rule: "suspended", message: note, until: notBefore }] : [];
}

/** The verdict of the network, or of a rule of ours, on an action. */
function toldBy({ kind, payload }: EventRow): readonly Reason[] {
  if (!isObject(payload)) return [];
  const { verdict, code, message } = payload;
  if (kind === "job.rejected" && typeof verdict === "string") return [{ rule: "rejected", message: `turned down: ${verdict}` }];
  if (!kind.startsWith("intent.") || typeof message !== "string") return [];
  return [{ rule: foreignCode(typeof code === "string" ? code : kind), message }];
}
