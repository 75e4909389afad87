/**
 * Spans of a runtime, made from its announcements: event, run, step, admission, request. The spans of one event are one trace, whatever
 * process made them, because the trace's id derives from the event's.
 */
import type { Attributes, Span, SpanContext, TimeInput } from "@opentelemetry/api";
import type { Clock } from "../core/clock.ts";
import { within } from "../core/deadline.ts";
import { subscribe, type Announcements, type Announcer } from "../core/events.ts";
import { messageOf } from "../core/errors.ts";
import { excerpt } from "../core/excerpt.ts";
import type { Logger } from "../core/log.ts";
import type { Scrubber } from "../core/scrubber.ts";
import { spanIdOf, traceIdOf } from "../core/trace-ids.ts";
import type { HistoryStore } from "../store/history.ts";
import type { TraceApi } from "./trace-peer.ts";

export interface TraceOptions {
  readonly announcer: Announcer;
  readonly scrubber: Scrubber;
  /** For the event of an action that an earlier process decided on. */
  readonly store: Pick<HistoryStore, "eventOf">;
  readonly log: Logger;
  readonly clock: Clock;
  readonly version: string;
}

export interface Traces {
  /** Ends the subscription, and hands over what the SDK has gathered, as far as the SDK lets itself be asked. */
  close(): Promise<void>;
}

/** Handlings under way whose steps are kept until their run is over, and steps kept of each. */
const MAX_RUNS = 1_000;
const MAX_STEPS = 200;
/** Events remembered by their number, so that the spans of their actions need no look into the store. */
const MAX_EVENTS = 10_000;
const MAX_ATTRIBUTE = 200;
/** Time that an end waits for the SDK to deliver the last spans. */
const FLUSH_MS = 2_000;

type Values = { readonly [name: string]: string | number | undefined };
type Step = Announcements["step"];

/** The times of a span, in ms since the epoch. */
interface Times {
  readonly from: number;
  readonly to: number;
}

export function traceAnnouncements(api: TraceApi, options: TraceOptions): Traces {
  const { announcer, log } = options;
  const spans = createSpans(api, options);
  const events = new Map<number, string>();
  const steps = new Map<string, Step[]>();
  const eventOf = async (seq: number): Promise<string | undefined> => {
    const known = events.get(seq) ?? (await options.store.eventOf({ eventSeq: seq }))?.id;
    if (known !== undefined) remember(events, seq, known, MAX_EVENTS);
    return known;
  };
  const looking = new Set<Promise<void>>();
  const onRequest = (what: Announcements["request"]): void => {
    const { event, eventSeq } = what;
    const known = event ?? (eventSeq === undefined ? undefined : events.get(eventSeq));
    if (known !== undefined || eventSeq === undefined) return requestSpans(spans, what, known);
    const look = eventOf(eventSeq)
      .catch((error: unknown) =>
        log.debug("the event of a request could not be read: its trace is the action's", { message: messageOf(error) }),
      )
      .then((found) => requestSpans(spans, what, found ?? undefined))
      .finally(() => looking.delete(look));
    looking.add(look);
  };
  const stops = [
    subscribe(announcer, "step", (what) => {
      const key = `${what.handle} ${what.event}`;
      const kept = steps.get(key) ?? [];
      if (kept.length < MAX_STEPS) kept.push(what);
      remember(steps, key, kept, MAX_RUNS);
    }),
    subscribe(announcer, "run", (what) => {
      const key = `${what.handle} ${what.event}`;
      remember(events, what.seq, what.event, MAX_EVENTS);
      runSpans(spans, what, steps.get(key) ?? []);
      steps.delete(key);
    }),
    subscribe(announcer, "request", onRequest),
  ];
  return {
    async close() {
      for (const stop of stops) stop();
      await Promise.all(looking);
      await flush(api, options);
    },
  };
}

/** The least recently set is forgotten. */
function remember<Key, Value>(map: Map<Key, Value>, key: Key, value: Value, max: number): void {
  map.delete(key);
  map.set(key, value);
  const [oldest] = map.keys();
  if (map.size > max && oldest !== undefined) map.delete(oldest);
}

interface Spans {
  readonly api: TraceApi;
  /** Makes one span, ended at once unless it is to have children. Without a parent it is a trace of its own. */
  readonly make: (name: string, times: Times, parent: SpanContext | undefined, values: Values, more?: SpanMore) => Span;
}

interface SpanMore {
  readonly isRequest?: boolean;
  /** The reason of a failure. */
  readonly failed?: string | undefined;
}

/** Every name and text of a span is cleaned and cut: a span goes to another machine. */
function createSpans(api: TraceApi, { scrubber, version }: TraceOptions): Spans {
  const clean = (text: string): string => excerpt(text, (whole) => scrubber.clean(whole), MAX_ATTRIBUTE);
  const tracer = api.trace.getTracer("retinue", version);
  return {
    api,
    make(name, { from, to }, parent, values, { isRequest = false, failed } = {}) {
      const attributes: Attributes = {};
      for (const [key, value] of Object.entries(values))
        if (value !== undefined) attributes[`retinue.${key}`] = typeof value === "string" ? clean(value) : value;
      const context = parent === undefined ? api.ROOT_CONTEXT : api.trace.setSpanContext(api.ROOT_CONTEXT, parent);
      const kind = isRequest ? api.SpanKind.CLIENT : api.SpanKind.INTERNAL;
      const span = tracer.startSpan(clean(name), { startTime: timeOf(from), kind, attributes }, context);
      if (failed !== undefined) span.setStatus({ code: api.SpanStatusCode.ERROR, message: clean(failed) });
      span.end(timeOf(to));
      return span;
    },
  };
}

/** An SDK reads small numbers as times since the process began; a date is a date. */
function timeOf(ms: number): TimeInput {
  return new Date(ms);
}

/** The parent of the spans of a subject. An SDK that samples by parents takes it as sampled. */
function parentOf({ TraceFlags }: TraceApi, handle: string, subject: string): SpanContext {
  return { traceId: traceIdOf(handle, subject), spanId: spanIdOf(handle, subject), traceFlags: TraceFlags.SAMPLED, isRemote: true };
}

function runSpans({ api, make }: Spans, what: Announcements["run"], steps: readonly Step[]): void {
  const { handle, event, kind, result, message, at, beganAt, startedAt, intents, tries } = what;
  const parent = parentOf(api, handle, event);
  const about = { specialist: handle, event, kind };
  const failed = result === "finished" || result === "suspended" ? undefined : (message ?? result);
  if (result === "finished" || result === "parked")
    make(`event ${kind}`, { from: beganAt, to: at }, parent, { ...about, result }, { failed });
  const run = make(`run ${kind}`, { from: startedAt, to: at }, parent, { ...about, result, intents, tries }, { failed });
  for (const { step, startedAt: from, at: to } of steps) make("step", { from, to }, run.spanContext(), { ...about, step });
}

/** Outcomes in which the network took the request. */
const ANSWERED: readonly string[] = ["confirmed", "pending"];

function requestSpans({ api, make }: Spans, what: Announcements["request"], event: string | undefined): void {
  const { handle, operation, lane, outcome, status, at, tookMs, admissionMs, intent } = what;
  const subject = event ?? intent;
  // A poll belongs to no event: its admission is the root of a trace of two.
  const parent = subject === undefined ? undefined : parentOf(api, handle, subject);
  const about = { specialist: handle, operation, lane, event, intent };
  const sentAt = at - tookMs;
  const failed = ANSWERED.includes(outcome) ? undefined : outcome;
  const admission = make(`admission ${operation}`, { from: sentAt - admissionMs, to: sentAt }, parent, about);
  const more = { isRequest: true, failed };
  make(`request ${operation}`, { from: sentAt, to: at }, parent ?? admission.spanContext(), { ...about, outcome, status }, more);
}

/** The API has no word for it, and the providers of SDKs have. */
async function flush({ trace }: TraceApi, { clock, log }: TraceOptions): Promise<void> {
  const given: object = trace.getTracerProvider();
  const provider: unknown = "getDelegate" in given && typeof given.getDelegate === "function" ? given.getDelegate() : given;
  const send: unknown = typeof provider === "object" && provider !== null ? Reflect.get(provider, "forceFlush") : undefined;
  if (typeof send !== "function") return;
  const late = (): Error => new Error(`the SDK took longer than ${FLUSH_MS} ms`);
  try {
    await within(
      clock,
      { lengthMs: FLUSH_MS, signal: new AbortController().signal, late },
      async () => void (await Reflect.apply(send, provider, [])),
    );
  } catch (error) {
    log.warn("the last spans were not delivered", { message: messageOf(Array.isArray(error) ? error[0] : error) });
  }
}
