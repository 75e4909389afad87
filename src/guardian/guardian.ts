/** The Guardian's hand: what a person may ask and order, over a running runtime or over its store alone. */
import type { Clock } from "../core/clock.ts";
import { defined } from "../core/defined.ts";
import { Misconfigured, Refused } from "../core/errors.ts";
import { asHandle } from "../core/ids.ts";
import type { JsonObject } from "../core/json.ts";
import { knownSentAt } from "../outbox/sent-at.ts";
import { asOf, type Intent, type IntentChange, type IntentState } from "../outbox/intent.ts";
import { mayHaveHappened } from "../outbox/reconcile.ts";
import type { Store } from "../store/store.ts";
import { announceIntent, wordsOf } from "../outbox/announce.ts";
import { callOperation, type CallResult } from "./call-operation.ts";
import { follow } from "../outbox/follow-up.ts";
import { wakeAll, type GuardianContext, type OrderResult } from "./wake-waiting.ts";
import type { Member } from "../gateway/member.ts";
import { MAX_LISTED, pageOf, type Page } from "./page.ts";
import { words, type Words } from "./proposals.ts";
import type { Runtime } from "../runtime/runtime.ts";
import { showStatus, type Snapshot } from "./status.ts";
import { readDeliveries, readDelivery, type DeliveryQuery, type DeliveryShown } from "./shown-deliveries.ts";
import { known, createControls, type Controls } from "./controls.ts";
import { storedBreakers } from "../gateway/breakers.ts";
import type { Explanation } from "./explanation.ts";
import { explain } from "./explain.ts";
import type { KeptDelivery } from "../store/history.ts";

export interface LogQuery {
  readonly handle?: string;
  /** An operation such as `posts.reply`, or what it is about, such as `posts`. */
  readonly kind?: string;
  /** Ms since the epoch. */
  readonly since?: number;
  /** Only what came before this entry, to read on. */
  readonly before?: number;
  readonly limit: number;
}

/** An intent as people read it. */
export interface LogEntry {
  readonly seq: number;
  readonly id: string;
  readonly at: number;
  readonly handle: string;
  readonly operation: string;
  readonly target?: string;
  readonly state: IntentState;
  readonly code?: string;
  readonly message?: string;
  readonly created?: string;
  readonly settledAt?: number;
  /** The beginning of its own words, where it has some. */
  readonly words?: string;
}

export type Verdict = "happened" | "did-not" | "give-up";

/** Every order answers once it is on disk. */
export interface Guardian extends Controls, Words {
  status(query: Empty): Promise<Snapshot>;
  log(query: LogQuery): Promise<Page<LogEntry>>;
  /** Webhook deliveries that nobody handled or understood, newest first. `kind` is the network's word. */
  deliveries(query: DeliveryQuery): Promise<Page<KeptDelivery>>;
  /** What came with one of them. Throws `Refused` (`nothing_found`). */
  delivery(query: { readonly seq: number }): Promise<DeliveryShown>;
  /** Throws `Refused` (`nothing_found`). */
  why(query: { readonly id: string }): Promise<Explanation>;
  /** A parked event or intent again; or, by its name, an operation or a specialist that the network made us stop. Throws `Refused` (`nothing_parked`, `may_have_happened`). */
  retry(query: { readonly id: string; readonly handle?: string }): Promise<OrderResult>;
  /** What a person says of an action nobody could settle. Throws `Refused` (`not_in_doubt`). */
  settle(query: { readonly id: string; readonly verdict: Verdict; readonly created?: string }): Promise<OrderResult>;
  /** One operation by name, through all limits. */
  call(query: CallQuery): Promise<CallResult>;
  /** Writes a copy of the store. The path is absolute. */
  backup(query: { readonly file: string }): Promise<OrderResult>;
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
  /** Where a runtime is at work. */
  readonly live?: { readonly runtime: Runtime; readonly startedAt: number; readonly baseUrl: string };
  /** The specialists of the definitions, where nothing runs. */
  readonly members?: () => Promise<readonly Member[]>;
}

/** Rules by which the door makes what the network stopped wait. */
const STANDING_RULES: readonly string[] = ["drift", "capability"];
/** States that a person may decide. */
const DECIDABLE: readonly IntentState[] = ["in_doubt", "parked", "pending"];

export function createGuardian(options: GuardianOptions): Guardian {
  const { store, clock, live, members } = options;
  const hand: GuardianContext = {
    store,
    clock,
    parts: live?.runtime.parts,
    running: () => live?.runtime.members() ?? [],
    memberOf: async (handle) =>
      live === undefined ? (await members?.())?.find(({ specialist }) => specialist.handle === handle) : live.runtime.member(handle),
  };
  return {
    status: () => showStatus(defined({ store, clock, live })),
    log: (query) => readLog(store, query, clock.now()),
    deliveries: (query) => readDeliveries(store, query),
    delivery: ({ seq }) => readDelivery(store, seq),
    why: ({ id }) => explain(defined({ store, clock, memberOf: hand.memberOf, parts: hand.parts }), id),
    async call({ handle, ...call }) {
      await known(hand, handle);
      const member = live?.runtime.member(handle);
      if (member === undefined || hand.parts === undefined)
        throw new Refused("not_running", `${handle} does not run here`, { hint: "retinue status shows who does" });
      return callOperation(hand.parts, member, call);
    },
    async backup({ file }) {
      await store.backup(file);
      return { message: `a copy is in ${file}` };
    },
    ...createControls(hand),
    ...words(hand),
    ...decisions(hand),
  };
}

function decisions(hand: GuardianContext): Pick<Guardian, "retry" | "settle"> {
  const { store, clock, parts } = hand;
  return {
    async retry({ id, handle }) {
      const lifted = (await retryKey(hand, id)) ?? (await lift(hand, id, handle));
      if (lifted !== undefined) return lifted;
      const intent = await store.findIntent(id);
      if (intent === undefined) return retryEvent(hand, id, handle);
      if (intent.state !== "parked") throw new Refused("nothing_parked", `${id} is not parked, it is ${intent.state}`);
      if (mayHaveHappened(intent))
        throw new Refused("may_have_happened", `${id} may have happened already, and must not happen twice`, {
          hint: `look on the network, then: retinue settle ${id} --happened, or --did-not`,
        });
      await moved(hand, intent, { state: "ready", nextAt: clock.now() });
      wakeAll(hand);
      return { message: `${intent.operation} of ${intent.specialist} is tried again` };
    },
    async settle({ id, verdict, created }) {
      const intent = await store.findIntent(id);
      if (intent === undefined)
        throw new Refused("nothing_found", `there is nothing called "${id}"`, {
          hint: "retinue log and retinue status show what there is",
        });
      if (!DECIDABLE.includes(intent.state)) throw new Refused("not_in_doubt", `${id} is ${intent.state}: there is nothing to decide`);
      const change = settled(verdict, created, clock.now());
      const member = await hand.memberOf(intent.specialist);
      await moved(hand, intent, change, member);
      if (member !== undefined && parts !== undefined) announceIntent(parts.announcer, member, intent, change, clock.now());
      wakeAll(hand);
      return { message: `${intent.operation} of ${intent.specialist} is ${change.state === "ready" ? "tried again" : change.state}` };
    },
  };
}

function settled(verdict: Verdict, created: string | undefined, now: number): IntentChange {
  switch (verdict) {
    case "happened":
      return defined({ state: "confirmed", code: "settled", message: "the Guardian says it happened", createdRef: created });
    case "did-not":
      return { state: "ready", nextAt: now, everUnknown: false };
    case "give-up":
      return { state: "cancelled", code: "given_up", message: "the Guardian gave it up" };
  }
}

/** Moves an intent a person decided on, with all that follows for its author. */
async function moved({ store, clock }: GuardianContext, intent: Intent, change: IntentChange, member?: Member): Promise<void> {
  const now = clock.now();
  const follows = member === undefined ? undefined : follow(member, intent, change, now);
  const done = await store.moveIntent({
    seq: intent.seq,
    from: [intent.state],
    change,
    now,
    ...(follows === undefined ? {} : { events: follows.events, watches: follows.watches }),
  });
  if (!done) throw new Refused("changed_meanwhile", `${intent.id} has changed meanwhile`, { hint: `retinue why ${intent.id}` });
}

/** Uses a key once more that the network refused: it may have been wrong, as when what knows its keys is down. */
async function retryKey(hand: GuardianContext, handle: string): Promise<OrderResult | undefined> {
  const member = await hand.memberOf(handle);
  if (member?.keyTrouble?.code !== "key_refused") return undefined;
  member.keyTrouble = undefined;
  await hand.store.resume(member.specialist.handle, hand.clock.now());
  wakeAll(hand, ["key_unusable"]);
  return { message: `the key of ${handle} is tried again` };
}

/** Forgets what stops an operation or a specialist, and looks again at once at what waited for it. */
async function lift(hand: GuardianContext, name: string, handle: string | undefined): Promise<OrderResult | undefined> {
  const { store, clock, parts } = hand;
  const standing = parts?.breakers ?? (await storedBreakers(store, clock));
  const change = standing.lift(name, handle);
  if (change === undefined) return undefined;
  const now = clock.now();
  await store.saveNetworkState(change, now);
  const waiting = await store.intents({ states: ["ready"], limit: MAX_LISTED });
  for (const { seq, code, operation, specialist } of waiting)
    if (STANDING_RULES.includes(code ?? "") && (operation === name || specialist === name))
      await store.moveIntent({ seq, from: ["ready"], change: { state: "ready", nextAt: now }, now });
  wakeAll(hand, STANDING_RULES);
  return { message: `${name} is tried again${handle === undefined ? "" : ` for ${handle}`}; what the network then says counts anew` };
}

async function retryEvent(hand: GuardianContext, id: string, handle: string | undefined): Promise<OrderResult> {
  const { store, clock } = hand;
  const parked = (await store.parkedEvents(handle === undefined ? undefined : asHandle(handle), MAX_LISTED)).filter(
    (event) => event.id === id,
  );
  const [event, second] = parked;
  if (event === undefined)
    throw new Refused("nothing_parked", `nothing called "${id}" is parked`, { hint: "retinue status lists what is" });
  if (second !== undefined)
    throw new Misconfigured("several_parked", `${id} is parked for ${parked.map(({ specialist }) => specialist).join(" and ")}`, {
      hint: "say whose with --as <handle>",
    });
  await store.unparkEvent(event.specialist, id, clock.now());
  wakeAll(hand);
  return { message: `${event.kind} of ${event.specialist} is handled again` };
}

function readLog(store: Store, { handle, kind, since, before, limit }: LogQuery, now: number): Promise<Page<LogEntry>> {
  return pageOf(limit, async (bounded) => {
    const intents = await store.intents({
      ...(handle === undefined ? {} : { specialist: asHandle(handle) }),
      ...defined({ operation: kind, since, before }),
      limit: bounded,
    });
    return intents.map((intent) => entryOf(asOf(intent, now)));
  });
}

function entryOf(intent: Intent): LogEntry {
  const { target, code, message, createdRef, settledAt } = intent;
  return defined({
    seq: intent.seq,
    id: intent.id,
    at: knownSentAt(intent) ?? intent.createdAt,
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
