/** Classifies an answer on the wire: the only place that decides if an attempt took effect. */
import type { Answered, Call, Outcome, Secrets } from "../contract/call.ts";
import { parseExactJson } from "../contract/reading/exact-json.ts";
import { fieldPath, firstAt, type FieldPath } from "../contract/reading/field-path.ts";
import { NEEDS_ID } from "../contract/reading/fields.ts";
import { errorReader, type ErrorReader } from "../contract/reading/network-error.ts";
import { createPins, type Observation, type Pins } from "../contract/reading/pinned-fields.ts";
import type { Profile } from "../contract/profile/profile.ts";
import type { ProfileOperation } from "../contract/profile/network-operations.ts";
import { MAY_HOLD_SECRETS, readList, readRecord, withoutSecrets } from "../contract/reading/read-answer.ts";
import { readMoney } from "../contract/reading/values.ts";
import type { Clock } from "../core/clock.ts";
import { isObject, type Json, type JsonObject } from "../core/json.ts";
import { microsOf, type Micros } from "../core/units.ts";
import { answerRules, type AnswerRules, type Meaning } from "./answer-rules.ts";
import { limitReader, type LimitReader } from "./rate-limit-headers.ts";
import { lastPageReader, nextPageReader, pagingOf, type NextPageReader } from "./next-page.ts";
import { isOldestFirst } from "./list-order.ts";
import type { WireAnswer, WireHeaders } from "./transport.ts";

export interface OutcomeReading {
  readonly outcome: Outcome;
  readonly drift: readonly Observation[];
}

/** `handedOut` are the secrets that the answer held before it was cleaned. Default: those it holds now. */
export type OutcomeReader = (wire: WireAnswer, call: Call, handedOut?: Secrets) => OutcomeReading;

/** Inputs for reading one operation's answers. */
interface Context {
  readonly profile: Profile;
  readonly operation: ProfileOperation;
  readonly isRead: boolean;
  readonly clock: Clock;
  readonly pins: Pins;
  readonly errors: ErrorReader;
  readonly limits: LimitReader;
  readonly nextPage: NextPageReader;
  readonly isLastPage: (body: Json | undefined) => boolean;
  readonly charged: readonly FieldPath[];
  readonly rules: AnswerRules;
  /** Values for the receipt, by their places. */
  readonly details: readonly (readonly [name: string, places: readonly FieldPath[]])[];
}

/** A complete answer with its parsed body: undefined if it is empty or not JSON. */
interface Received {
  readonly answered: Answered;
  readonly headers: WireHeaders;
  readonly isEmpty: boolean;
  readonly body: Json | undefined;
  readonly handedOut?: Secrets | undefined;
}

const NO_DRIFT: readonly Observation[] = [];
const isBreaking = ({ severity }: Observation): boolean => severity === "breaking";
const OLDEST_FIRST = { severity: "breaking", kind: "oldest-first", path: "list", type: "oldest first" } as const;

/**
 * Reads one operation's answers. Only a complete 2xx whose JSON reads as the operation's record is `confirmed`, and only a complete 4xx in
 * the network's own error shape is `refused`; everything else is `unknown`. `pins` hold the places found in earlier answers, and are
 * extended by these.
 */
export function outcomeReader(profile: Profile, operation: ProfileOperation, clock: Clock, pins = createPins()): OutcomeReader {
  const context: Context = {
    profile,
    operation,
    isRead: operation.effect === "read",
    clock,
    pins,
    errors: errorReader(profile),
    limits: limitReader(profile.limitHeaders, profile.errors.waitUnit),
    nextPage: nextPageReader(pagingOf(profile, operation)),
    isLastPage: lastPageReader(pagingOf(profile, operation)),
    charged: (operation.charged ?? []).map(fieldPath),
    rules: answerRules(profile, operation),
    details: Object.entries(operation.receipt).map(([name, places]) => [name, places.map(fieldPath)] as const),
  };
  return (wire, call, handedOut) => {
    if (wire.kind === "never-left") return plain({ class: "never-left", reason: wire.reason });
    if (wire.kind === "unknown") {
      const seen = wire.status === undefined || wire.headers === undefined ? undefined : answeredOf(context, wire.status, wire.headers);
      return plain({ class: "unknown", reason: wire.reason, ...seen });
    }
    const { status, text } = wire;
    const isEmpty = text === "";
    const body = isEmpty ? undefined : parseExactJson(text);
    const headers = context.limits.withBody(wire.headers, body);
    const received = { answered: answeredOf(context, status, headers), headers, isEmpty, body, handedOut };
    const meant = status < 300 ? undefined : context.rules(status, context.errors.read(received.body));
    if (meant !== undefined) return plain(asMeant(context, received, meant));
    if (status >= 200 && status < 300) return succeeded(context, received, call);
    if (status >= 400 && status < 500) return plain(rejected(context, received));
    if (status >= 300 && status < 400) return plain(redirected(context.isRead, received.answered));
    return plain(failed(context, received));
  };
}

function plain(outcome: Outcome): OutcomeReading {
  return { outcome, drift: NO_DRIFT };
}

function unknown(received: Received, reason: string, drift = NO_DRIFT): OutcomeReading {
  return { outcome: { class: "unknown", reason, ...received.answered }, drift };
}

function unreadable(received: Received, reason: string, drift = NO_DRIFT): OutcomeReading {
  return { outcome: { class: "unknown", reason, unreadable: true, ...received.answered }, drift };
}

function answeredOf({ clock, limits }: Context, status: number, headers: WireHeaders): Answered {
  const skewMs = skewOf(headers, clock);
  const hints = limits.hints(headers, clock.now() + (skewMs ?? 0));
  if (hints === undefined) return skewMs === undefined ? { status } : { status, skewMs };
  return { status, ...(skewMs === undefined ? {} : { skewMs }), limits: hints };
}

function skewOf({ date }: WireHeaders, clock: Clock): number | undefined {
  const at = typeof date === "string" && date.length <= 40 ? Date.parse(date) : Number.NaN;
  return Number.isFinite(at) ? at - clock.now() : undefined;
}

/** An answer to which the profile gives a meaning of its own. */
function asMeant({ errors, limits, clock }: Context, { answered, headers, body }: Received, meant: Meaning): Outcome {
  const { status, skewMs = 0 } = answered;
  const { code = `http_${status}`, message = `the network answered ${status}` } = errors.read(body) ?? {};
  switch (meant) {
    case "wait":
    case "suspended": {
      const suspended = meant === "suspended" ? { suspended: true as const } : {};
      const wait = limits.retryAfterMs(headers, clock.now() + skewMs, errors.retryAfter(body));
      return { class: "limited", ...answered, ...(wait === undefined ? {} : { retryAfterMs: wait }), message, ...suspended };
    }
    case "done":
      return { class: "confirmed", ...answered, body };
    case "refused":
      return { class: "refused", ...answered, code, message };
    case "pending": {
      const reference = errors.reference(body);
      return { class: "pending", ...answered, ...(reference === undefined ? {} : { reference }), message };
    }
  }
}

/** 4xx. */
function rejected(context: Context, { answered, headers, body }: Received): Outcome {
  const { errors, limits, clock, isRead } = context;
  const { status, skewMs = 0 } = answered;
  const said = errors.read(body);
  const message = said === undefined ? {} : { message: said.message };
  if (status === 429) {
    const wait = limits.retryAfterMs(headers, clock.now() + skewMs, errors.retryAfter(body));
    return { class: "limited", ...answered, ...(wait === undefined ? {} : { retryAfterMs: wait }), ...message };
  }
  if (status === 401) return { class: "unauthorized", ...answered, ...message };
  // 408 may come from an intermediary, and says nothing of the request's effect.
  if (status === 408) return { class: "unknown", reason: "408: the request timed out on the way", ...answered };
  const waits = isRead ? undefined : errors.pending(body);
  if (waits !== undefined) return { class: "pending", ...answered, ...waits, ...message };
  if (said === undefined) return { class: "unknown", reason: `${status} in an error shape unknown to this profile`, ...answered };
  return { class: "refused", ...answered, code: said.code ?? `http_${status}`, message: said.message };
}

/** 5xx, and everything that is not a status. */
function failed({ clock, limits }: Context, { answered, headers }: Received): Outcome {
  const { status, skewMs = 0 } = answered;
  const wait = limits.retryAfterMs(headers, clock.now() + skewMs, undefined);
  return { class: "unknown", reason: `${status}: the network failed`, ...answered, ...(wait === undefined ? {} : { retryAfterMs: wait }) };
}

/** 2xx. */
function succeeded(context: Context, received: Received, call: Call): OutcomeReading {
  const { profile, operation, errors, isRead } = context;
  const { answered, body, isEmpty } = received;
  const { status } = answered;
  if (status === 206) return unknown(received, "206: only a part of the answer");
  if (!isEmpty && body === undefined)
    return unreadable(received, `${status}, but the body is ${isPage(received) ? "an HTML page" : "not JSON"}`);
  const said = errors.failed(body) ? errors.read(body) : undefined;
  const meant = said === undefined ? undefined : context.rules(status, said);
  if (meant !== undefined) return plain(asMeant(context, received, meant));
  if (said !== undefined) return plain({ class: "refused", ...answered, code: said.code ?? `http_${status}`, message: said.message });
  if (!isRead) {
    const waits = errors.pending(body);
    if (waits !== undefined) return plain({ class: "pending", ...answered, ...waits, ...detailsOf(context, body) });
    if (profile.pending.statuses.includes(status)) {
      const reference = errors.reference(body);
      return plain({ class: "pending", ...answered, ...(reference === undefined ? {} : { reference }), ...detailsOf(context, body) });
    }
  }
  if (!isRead && errors.stated(body)) return unreadable(received, `${status} with a stated error${wordOf(errors.read(body)?.code)}`);
  if (operation.record === "none")
    return plain({ class: "confirmed", ...answered, ...chargedBy(context, body), ...detailsOf(context, body), body });
  return operation.list ? readListed(context, received, call) : readSingle(context, received);
}

function isPage({ headers }: Received): boolean {
  const type = headers["content-type"];
  return typeof type === "string" && type.startsWith("text/html");
}

function wordOf(code: string | undefined): string {
  return code === undefined ? "" : ` (${code})`;
}

/** The actual cost of the action, if the profile has a place for it. If it is unreadable, the whole hold counts. */
function chargedBy({ charged, profile }: Context, body: Json | undefined): { readonly chargedMicros?: Micros } {
  const amount = firstAt(body, charged, (found) => readMoney(found, profile.money));
  const micros = amount === undefined ? undefined : microsOf(amount);
  return micros === undefined ? {} : { chargedMicros: micros };
}

/** Values of the answer that the profile hands to the handler. */
function detailsOf({ details }: Context, body: Json | undefined): { readonly details?: JsonObject } {
  const found = details.flatMap(([name, paths]): [string, Json][] => {
    const value = firstAt(body, paths, (one) => one);
    return value === undefined ? [] : [[name, value]];
  });
  return found.length === 0 ? {} : { details: Object.fromEntries(found) };
}

type Confirmed = {
  -readonly [name in keyof Extract<Outcome, { readonly class: "confirmed" }>]: Extract<Outcome, { readonly class: "confirmed" }>[name];
};

function readSingle(context: Context, received: Received): OutcomeReading {
  const { profile, operation, pins } = context;
  const { answered, body, isEmpty, handedOut } = received;
  const { record, secrets: held, drift } = readRecord(profile, operation.record, body, pins);
  const secrets = handedOut ?? held;
  const isPlainYes = operation.answer === "any" && (isEmpty || isObject(body));
  if (record === undefined && !isPlainYes)
    return unreadable(
      received,
      isEmpty ? "an empty answer instead of a record" : `the answer holds no readable ${operation.record}`,
      drift,
    );
  if (operation.record === "token" && secrets?.accessToken === undefined)
    return unreadable(received, "the answer holds no readable token", drift);
  const shown = MAY_HOLD_SECRETS.has(operation.record) ? withoutSecrets(body, secrets) : body;
  const outcome: Confirmed = { class: "confirmed", ...answered, body: shown };
  if (record !== undefined) outcome.record = record;
  if (secrets !== undefined) outcome.secrets = secrets;
  if (drift.some(isBreaking)) outcome.lacksMoved = true;
  if (context.charged.length > 0) Object.assign(outcome, chargedBy(context, body));
  if (context.details.length > 0) Object.assign(outcome, detailsOf(context, body));
  return { outcome, drift };
}

function readListed({ profile, operation, pins, nextPage, isLastPage }: Context, received: Received, call: Call): OutcomeReading {
  const { answered, headers, body } = received;
  const { items, skipped, drift } = readList(profile, operation.record, body, pins);
  if (items === undefined) return unreadable(received, "the answer holds no readable list", drift);
  if (items.length === 0 && skipped > 0 && NEEDS_ID.has(operation.record))
    return unreadable(received, `none of ${skipped} items is readable`, drift);
  const cursor = call.input["cursor"];
  const next = nextPage(body, headers, { cursor: typeof cursor === "string" ? cursor : undefined, items: items.length + skipped });
  // Further pages of such a list are newer, and polls never reach them. Replies in a list of their own are read to the end.
  const isBackward = !(operation.extra && operation.target !== undefined) && next !== undefined && isOldestFirst(items);
  return {
    outcome: {
      class: "confirmed",
      ...answered,
      items,
      ...(skipped === 0 ? {} : { skipped }),
      ...(drift.some(isBreaking) ? { lacksMoved: true as const } : {}),
      ...(next === undefined ? {} : { next }),
      ...(next === undefined && isLastPage(body) ? { isLast: true as const } : {}),
      body: MAY_HOLD_SECRETS.has(operation.record) ? withoutSecrets(body, undefined) : body,
    },
    drift: isBackward ? [...drift, { ...OLDEST_FIRST, record: operation.record }] : drift,
  };
}

/**
 * No redirect is followed: it would carry the key elsewhere, outside the quota. A redirected read changed nothing. A redirected write is
 * unknown: 301, 302 and 303 are how many servers answer one that they did carry out, 307 how some frameworks do, and intermediaries
 * (maintenance, a login) redirect a write that would succeed tomorrow.
 */
function redirected(isRead: boolean, answered: Answered): Outcome {
  const { status } = answered;
  if (status === 304) return { class: "unknown", reason: `${status} instead of an answer`, ...answered };
  const message = `the network answers ${status} with a redirect, which is not followed; check the base address`;
  return isRead ? { class: "refused", ...answered, code: "redirected", message } : { class: "unknown", reason: message, ...answered };
}
