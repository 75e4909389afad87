/** The Guardian's interface: queries and orders of a person, over a running runtime or over its store alone. */
import type { Clock } from "../core/clock.ts";
import { defined } from "../core/defined.ts";
import { Refused } from "../core/errors.ts";
import { asHandle, type Handle } from "../core/ids.ts";
import type { JsonObject } from "../core/json.ts";
import { isDecidable, type Intent, type IntentChange, type TargetOf } from "../outbox/intent.ts";
import { mayHaveHappened } from "../outbox/reconcile.ts";
import { isBreakerRule } from "../limits/wait-rules.ts";
import type { Store } from "../store/store.ts";
import { announceIntent } from "../outbox/announce.ts";
import { callOperation, type CallResult } from "./call-operation.ts";
import { follow } from "../outbox/follow-up.ts";
import { wakeAll, type GuardianContext, type OrderResult } from "./wake-waiting.ts";
import type { Member } from "../gateway/member.ts";
import { MAX_LISTED, type Page } from "./page.ts";
import { readInbox, type InboxEntry, type InboxQuery } from "./inbox-entries.ts";
import { readLog, type LogEntry, type LogQuery } from "./log-entries.ts";
import { readEvents, type EventsQuery, type TimelineEvent } from "./timeline-events.ts";
import { words, type Words } from "./proposals.ts";
import { severalParked } from "./failures.ts";
import type { Live } from "./live-runtime.ts";
import { showStatus, type Snapshot } from "./status.ts";
import { readDeliveries, readDelivery, type DeliveryQuery, type DeliveryShown } from "./shown-deliveries.ts";
import { known, createControls, type Controls } from "./halt-and-pause.ts";
import { readJobBoard, type JobBoard } from "./shown-jobs.ts";
import { storedBreakers } from "../gateway/network-breakers.ts";
import type { Explanation } from "./explanation.ts";
import { recordEvent, type Recording } from "./recording.ts";
import { explain } from "./explain.ts";
import type { KeptDelivery } from "../store/history.ts";
import type { UsageHour } from "../store/usage-hours.ts";
import type { Caller, OrderRow } from "../store/orders.ts";
import { PROGRAM, readOrders, recordOrders, type OrdersQuery } from "./record-orders.ts";

export type Verdict = "happened" | "did-not" | "give-up";

/** Every order resolves once it is on disk; a halt also if it is in memory alone. */
export interface Guardian extends Controls, Words {
  /** The present state of the program and of each specialist. Lists are cut at the longest that is shown, with their count. */
  status(query: Empty): Promise<Snapshot>;
  /** Actions, decisions and failures, newest first; `before` continues a page. */
  log(query: LogQuery): Promise<Page<LogEntry>>;
  /** The orders given here, newest first: who gave each, when, from where and why, and its result. */
  orders(query: OrdersQuery): Promise<Page<OrderRow>>;
  /** Events of one specialist with the actions they led to and their requests, newest first; `before` continues a page. */
  events(query: EventsQuery): Promise<Page<TimelineEvent>>;
  /** The watched jobs of one specialist by status, the newest of each, with the last action on each. */
  jobs(query: { readonly handle: string }): Promise<JobBoard>;
  /** Requests, lateness and money by hour, of one specialist or of all together; kept for 90 days. */
  usage(query: UsageQuery): Promise<{ readonly hours: readonly UsageHour[] }>;
  /** The newest events of one specialist with their payloads, newest first. */
  inbox(query: InboxQuery): Promise<readonly InboxEntry[]>;
  /** Webhook deliveries that nothing handled or understood, newest first. `kind` is the network's word. */
  deliveries(query: DeliveryQuery): Promise<Page<KeptDelivery>>;
  /** The body of one of them. Throws `Refused` (`nothing_found`). */
  delivery(query: { readonly seq: number }): Promise<DeliveryShown>;
  /** An event with the present value of its specialist, to be handled again. Throws `Refused` (`nothing_found`). */
  recording(query: { readonly id: string; readonly handle?: string }): Promise<Recording>;
  /** Throws `Refused` (`nothing_found`). */
  why(query: { readonly id: string }): Promise<Explanation>;
  /**
   * Retries a parked or failed event or a parked intent; by its name, an operation or a specialist with an open breaker, or all failures of
   * a specialist. Throws `Refused` (`nothing_parked`, `may_have_happened`,
   * `changed_meanwhile`), or `Misconfigured` (`several_parked`) for an event that failed for several specialists.
   */
  retry(query: { readonly id: string; readonly handle?: string }): Promise<OrderResult>;
  /**
   * Records a person's verdict on an action that could not be resolved. Throws `Refused` (`nothing_found`, `not_in_doubt`,
   * `changed_meanwhile`).
   */
  settle(query: { readonly id: string; readonly verdict: Verdict; readonly created?: string }): Promise<OrderResult>;
  /**
   * Runs one operation by name, through all limits. Throws `Refused` (`not_running`, and the code of a refusal), or `Misconfigured`
   * (`specialist_unknown`).
   */
  call(query: CallQuery): Promise<CallResult>;
  /** Writes a copy of the store. The path is absolute. Throws `Misconfigured` (`backup_exists`, `backup_failed`). */
  backup(query: { readonly file: string }): Promise<OrderResult>;
}

export interface UsageQuery {
  readonly handle?: string;
  /** Ms since the epoch. */
  readonly since: number;
}

export type Empty = { readonly [name: string]: never };

export interface CallQuery {
  readonly handle: string;
  readonly operation: string;
  readonly target?: string;
  readonly input: JsonObject;
}

export interface GuardianOptions {
  readonly store: Store;
  readonly clock: Clock;
  /** Set if a runtime is running. */
  readonly live?: Live;
  /** The specialists of the definitions, if no runtime is running. */
  readonly members?: () => Promise<readonly Member[]>;
  /** The person whose orders come by this interface; without one, the program. */
  readonly caller?: Caller;
}

export function createGuardian(options: GuardianOptions): Guardian {
  const { store, clock, live, members } = options;
  const context: GuardianContext = {
    store,
    clock,
    parts: live?.runtime.parts,
    running: () => live?.runtime.members() ?? [],
    memberOf: async (handle) =>
      live === undefined ? (await members?.())?.find(({ specialist }) => specialist.handle === handle) : live.runtime.member(handle),
  };
  const guardian: Guardian = {
    status: () => showStatus(defined({ store, clock, live })),
    log: (query) => readLog(store, query, clock.now()),
    orders: (query) => readOrders(store, query),
    events: (query) => readEvents(store, query, clock.now()),
    jobs: (query) => readJobBoard(store, query, clock.now()),
    usage: async ({ handle, since }) => ({ hours: await store.reads.hours({ since, ...specialistOf(handle) }) }),
    inbox: (query) => readInbox(store, query),
    deliveries: (query) => readDeliveries(store, query),
    delivery: ({ seq }) => readDelivery(store, seq),
    recording: ({ id, handle }) => recordEvent(store, id, handle),
    why: ({ id }) => explain(defined({ store, clock, memberOf: context.memberOf, parts: context.parts }), id),
    async call({ handle, ...call }) {
      await known(context, handle);
      const member = live?.runtime.member(handle);
      if (member === undefined || context.parts === undefined)
        throw new Refused("not_running", `${handle} does not run here`, { hint: "retinue status lists those that do" });
      return callOperation(context.parts, member, call);
    },
    async backup({ file }) {
      await store.backup(file);
      return { message: `a copy is in ${file}` };
    },
    ...createControls(context),
    ...words(context),
    ...decisions(context),
  };
  return recordOrders(guardian, context, options.caller ?? PROGRAM);
}

function specialistOf(handle: string | undefined): { readonly specialist?: Handle } {
  return handle === undefined ? {} : { specialist: asHandle(handle) };
}

function decisions(context: GuardianContext): Pick<Guardian, "retry" | "settle"> {
  const { store, clock, parts } = context;
  return {
    async retry({ id, handle }) {
      const lifted = (await retryKey(context, id)) ?? (await lift(context, id, handle));
      if (lifted !== undefined) return lifted;
      const retried = await store.retryFailed(asHandle(id), "parked", clock.now());
      if (retried > 0) {
        wakeAll(context);
        return { message: `${retried} ${retried === 1 ? "event" : "events"} of ${id} ${retried === 1 ? "is" : "are"} handled again` };
      }
      const intent = await store.findIntent(id);
      if (intent === undefined) return retryEvent(context, id, handle);
      const isParked = intent.state === "parked";
      if (isParked ? mayHaveHappened(intent) : isDecidable(intent.state))
        throw new Refused("may_have_happened", `${id} may have happened already, and must not happen twice`, {
          hint: `${isParked ? "" : "it is read back by itself; or "}check on the network, then: retinue settle ${id} --happened, or --did-not`,
        });
      if (!isParked) throw new Refused("nothing_parked", `${id} is not parked, it is ${intent.state}`);
      await moved(context, intent, "retry", { state: "ready", nextAt: clock.now() });
      wakeAll(context);
      return { message: `${intent.operation} of ${intent.specialist} is tried again` };
    },
    async settle({ id, verdict, created }) {
      const intent = await store.findIntent(id);
      if (intent === undefined)
        throw new Refused("nothing_found", `there is nothing called "${id}"`, {
          hint: "retinue log and retinue status list ids",
        });
      if (!isDecidable(intent.state)) throw new Refused("not_in_doubt", `${id} is ${intent.state}: there is nothing to decide`);
      const change = settled(verdict, created, clock.now());
      const member = await context.memberOf(intent.specialist);
      await moved(context, intent, "settle", change, member);
      if (member !== undefined && parts !== undefined) announceIntent(parts.announcer, member, intent, change, clock.now());
      wakeAll(context);
      return { message: `${intent.operation} of ${intent.specialist} is ${change.state === "ready" ? "tried again" : change.state}` };
    },
  };
}

function settled(verdict: Verdict, created: string | undefined, now: number): IntentChange<TargetOf<"settle">> {
  switch (verdict) {
    case "happened":
      return defined({ state: "confirmed", code: "settled", message: "the Guardian confirmed it", createdRef: created });
    case "did-not":
      return { state: "ready", nextAt: now, everUnknown: false };
    case "give-up":
      return { state: "cancelled", code: "given_up", message: "the Guardian gave it up" };
  }
}

/** Moves an intent that a person decided on, with all consequences for its author. */
async function moved<By extends "retry" | "settle">(
  { store, clock }: GuardianContext,
  intent: Intent,
  by: By,
  change: IntentChange<TargetOf<By>>,
  member?: Member,
): Promise<void> {
  const now = clock.now();
  const follows = member === undefined ? undefined : follow(member, intent, change, now);
  const done = await store.moveIntent({
    seq: intent.seq,
    by,
    change,
    now,
    ...(follows === undefined ? {} : { events: follows.events, watches: follows.watches }),
  });
  if (!done) throw new Refused("changed_meanwhile", `${intent.id} has changed meanwhile`, { hint: `retinue why ${intent.id}` });
}

/** Uses a refused key once more: the refusal may have been a mistake, as during an outage of the network's key service. */
async function retryKey(context: GuardianContext, handle: string): Promise<OrderResult | undefined> {
  const member = context.running().find(({ specialist }) => specialist.handle === handle);
  if (member?.keyTrouble?.code !== "key_refused") return undefined;
  member.keyTrouble = undefined;
  await context.store.resume(member.specialist.handle, context.clock.now());
  wakeAll(context, "retry-key");
  return { message: `the key of ${handle} is tried again` };
}

/** Closes the breakers of an operation or a specialist, and wakes at once the work that waited for it. */
async function lift(context: GuardianContext, name: string, handle: string | undefined): Promise<OrderResult | undefined> {
  const { store, clock, parts } = context;
  const breakers = parts?.breakers ?? (await storedBreakers(store, clock));
  const change = breakers.lift(name, handle);
  if (change === undefined) return undefined;
  const now = clock.now();
  await store.saveNetworkState(change, now);
  const waiting = await store.reads.intents({ states: ["ready"], limit: MAX_LISTED });
  for (const { seq, code, operation, specialist } of waiting)
    if (isBreakerRule(code ?? "") && (operation === name || specialist === name))
      await store.moveIntent({ seq, by: "outbox", change: { state: "ready", nextAt: now }, now });
  wakeAll(context, "retry");
  return { message: `${name} is tried again${handle === undefined ? "" : ` for ${handle}`}; later answers of the network count from zero` };
}

async function retryEvent(context: GuardianContext, id: string, handle: string | undefined): Promise<OrderResult> {
  const { store, clock } = context;
  const known = (await store.reads.findEvents(id, MAX_LISTED)).filter(({ specialist }) => handle === undefined || specialist === handle);
  const parked = known.filter(({ state, failure }) => state === "parked" || (state === "ready" && failure !== undefined));
  const [event, second] = parked;
  if (event === undefined)
    throw new Refused("nothing_parked", `nothing called "${id}" is parked or failed`, { hint: "retinue status lists what is" });
  if (second !== undefined)
    throw severalParked(
      id,
      parked.map(({ specialist }) => specialist),
    );
  await store.unparkEvent(event.specialist, id, clock.now());
  wakeAll(context);
  return { message: `${event.kind} of ${event.specialist} is handled again` };
}
