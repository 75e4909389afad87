/** The one door out: pacing, admission, the request, and the row that says how it ended. Nothing else sends. */
import type { AnyCode } from "../core/error-codes.ts";
import type { HeldKey } from "../client/auth.ts";
import type { Client } from "../client/client.ts";
import { CONNECTIONS, type WireAnswer } from "../client/transport.ts";
import type { Call, Outcome } from "../contract/call.ts";
import type { Effect, Lane } from "../contract/operations.ts";
import type { Profile } from "../contract/profile/profile.ts";
import { backoffMs, type Backoff } from "../core/backoff.ts";
import { sleep, type Clock } from "../core/clock.ts";
import { Refused } from "../core/errors.ts";
import type { Announcer } from "../core/events.ts";
import type { Secret } from "../core/secret.ts";
import { HOUR, MINUTE, SECOND } from "../core/units.ts";
import { payloadHash } from "../limits/approvals.ts";
import { decide } from "../limits/decide.ts";
import type { Pacer } from "../limits/pacing.ts";
import type { AdmissionRequest, AttemptEnd, Verdict } from "../limits/admission.ts";
import type { Cap } from "../limits/spending.ts";
import type { LedgerTime } from "../limits/ledger-clock.ts";
import { DRY_RUN, DRY_RUN_MESSAGE, type Attempt, type Conclusion, type Intent, type IntentChange } from "../outbox/intent.ts";
import type { Store } from "../store/store.ts";
import { createCredentials, type Credentials } from "./credentials.ts";
import { keyWait, type KeyWatch } from "./keys.ts";
import type { Member } from "./member.ts";
import { createSemaphore, type Semaphore } from "./semaphore.ts";
import { currencyOf, priceOf } from "./prices.ts";
import { lackedBy, operationOf, ownLimitsOf } from "./permissions.ts";
import type { Breakers } from "./breakers.ts";
import type { Admission, Admit, Paid } from "../store/admission.ts";

export interface GatewayOptions {
  readonly client: Client;
  /** A client that speaks as another profile says, to the same network. */
  readonly connect: (profile: Profile) => Client;
  readonly store: Store;
  readonly pacer: Pacer;
  readonly keys: KeyWatch;
  readonly clock: Clock;
  /** The time by which windows age; never back. */
  readonly ledger: LedgerTime;
  readonly announcer: Announcer;
  /** What the network lacks, forbids, or no longer says readably. */
  readonly breakers: Breakers;
  readonly caps: (member: Member) => readonly Cap[];
  /** Money held for an action whose outcome stays open counts as spent after this. */
  readonly holdMs: number;
  /** `refuse` for a dry run: no write leaves, and nothing is charged or held for one. */
  readonly writes: "send" | "refuse";
  /** What follows from an intent's outcome, stored in the transaction that records it. */
  readonly conclude: (member: Member, intent: Intent, outcome: Outcome) => Conclusion;
  /** Announces the state of an intent after an attempt. */
  readonly announce: (member: Member, intent: Intent, change: IntentChange) => void;
}

export type GatewayAnswer =
  | {
      readonly kind: "answered";
      readonly outcome: Outcome;
      /** The answer as it came, for an examination. */
      readonly wire?: WireAnswer;
    }
  | {
      readonly kind: "waits";
      /** When to ask again. */
      readonly until: number;
      /** True where no time ends the wait, but a person or what becomes of something else. */
      readonly open?: boolean;
      readonly rule: string;
      readonly message: string;
      readonly lane: Lane;
    }
  | { readonly kind: "refused"; readonly code: AnyCode; readonly message: string }
  /** The intent is somebody else's now. */
  | { readonly kind: "gone" };

export interface ReadOptions {
  readonly lane?: Lane;
  readonly signal: AbortSignal;
  /** Sent with a key that the network refused, to see whether it still does. */
  readonly probe?: boolean;
}

export interface Gateway {
  /** A charged read, tried again where nothing came back, each try admitted on its own. */
  read(member: Member, call: Call, options: ReadOptions): Promise<GatewayAnswer>;
  /** One attempt for an intent. Never repeated here: the outbox is the only one that sends again. */
  send(member: Member, intent: Intent): Promise<GatewayAnswer>;
  /**
   * One write of the runtime's own, such as keeping its webhook registered: under every limit and the halt, outside `may`.
   * Only for what can be repaired by looking again, since no intent remembers it.
   */
  perform(member: Member, call: Call, signal: AbortSignal): Promise<GatewayAnswer>;
  /** One charged read as some other profile says, whatever stands in the way of the runtime itself: for the doctor. */
  examine(member: Member, call: Call, profile: Profile, signal: AbortSignal): Promise<GatewayAnswer>;
  /** What stands in an intent's way now. */
  explain(member: Member, intent: Intent): Promise<Verdict>;
}

/** One request as it goes through the door. */
interface GatewayRequest {
  readonly member: Member;
  readonly call: Call;
  readonly lane: Lane;
  readonly intent?: Intent;
  readonly signal?: AbortSignal;
  /** The runtime's own, which no definition has to allow. */
  readonly own?: boolean;
  /** An examination: it speaks otherwise than the runtime, and tells nothing of where the runtime stands. */
  readonly examining?: Client;
  readonly probe?: boolean;
  /** A key's trade for a token: it changes nothing on the network, so that a halt keeps nobody from looking. */
  readonly trade?: boolean;
}

type GatewayParts = GatewayOptions & { readonly credentials: Credentials<GatewayAnswer>; readonly places: Semaphore };

/** Tries of one read, the first included. */
const READ_TRIES = 3;
const READ_BACKOFF: Backoff = { firstMs: SECOND, longestMs: 2 * SECOND };
/** Where only a person or another's outcome ends a wait, it is asked again after this. */
const OPEN_WAIT_MS = MINUTE;
/** What only a person lets go on is woken by that person's word; this is for what that word misses. */
const STOPPED_WAIT_MS = HOUR;

export function createGateway(given: GatewayOptions): Gateway {
  const { client, clock } = given;
  const options: GatewayParts = {
    ...given,
    places: createSemaphore(CONNECTIONS),
    credentials: createCredentials<GatewayAnswer>({
      profile: client.profile,
      clock,
      async send(member, call) {
        const answer = await attempt(options, { member, call, lane: laneOf(call.operation), own: true, trade: true });
        return answer.kind === "answered" ? { outcome: answer.outcome } : { held: answer };
      },
    }),
  };
  const laneOf = (operation: string): Lane => operationOf(client.profile, operation).lane;
  return {
    async read(member, call, { lane, signal, probe = false }) {
      const lacked = lackedBy(client.profile, member.specialist.tier, call.operation);
      const refusal = lacked === undefined ? refusedCall(client, call) : { kind: "refused" as const, ...lacked };
      if (refusal !== undefined) return refusal;
      for (let tries = 1; ; tries++) {
        const answer = await attempt(options, { member, call, lane: lane ?? laneOf(call.operation), signal, probe });
        if (answer.kind !== "answered" || tries >= READ_TRIES || signal.aborted) return answer;
        if (answer.outcome.class === "unauthorized" && member.keyTrouble === undefined) continue; // there is a new key
        if (answer.outcome.class !== "unknown" && answer.outcome.class !== "never-left") return answer;
        await sleep(clock, backoffMs(READ_BACKOFF, tries), signal);
      }
    },
    async send(member, intent) {
      const call = callOf(intent);
      return refusedCall(client, call) ?? attempt(options, { member, call, lane: intent.lane, intent });
    },
    async perform(member, call, signal) {
      return refusedCall(client, call) ?? attempt(options, { member, call, lane: laneOf(call.operation), signal, own: true });
    },
    async examine(member, call, profile, signal) {
      const examining = options.connect(profile);
      const { effect, lane } = operationOf(profile, call.operation);
      if (effect !== "read")
        return { kind: "refused", code: "not_a_read", message: `${call.operation} writes, and an examination only reads` };
      return refusedCall(examining, call) ?? attempt(options, { member, call, lane, signal, examining });
    },
    explain: (member, intent) => verdictOn(options, { member, call: callOf(intent), lane: intent.lane, intent }),
  };
}

/** What stands in the way of a write now. */
async function verdictOn(options: GatewayOptions, passage: GatewayRequest): Promise<Verdict> {
  const { store, breakers, keys, clock } = options;
  const { member, call, lane, intent } = passage;
  const key = await keys.usable(member);
  const stop = breakers.stop(member.specialist.handle, call.operation, true);
  if (stop !== undefined) {
    const { rule, message, since, probeAt } = stop;
    return { kind: "wait", rule, message, lane, window: undefined, since, until: probeAt };
  }
  if (key !== undefined) return store.explain(admitFor(options, passage, key), decide);
  const noKey = { message: "there is no key", since: intent?.createdAt ?? clock.now(), probe: undefined };
  const { message, since, probe } = member.keyTrouble ?? noKey;
  return { kind: "wait", rule: "key_unusable", message, lane, window: undefined, since, until: probe?.at };
}

/** A dry run's answer to a write: the rule that refuses it for good, or that all but the dry run let it go, now or later. */
async function withheld(options: GatewayOptions, { member, call, lane, own = false }: GatewayRequest): Promise<GatewayAnswer> {
  // Without its intent: the ledger may be another store's, whose rows have numbers of their own.
  const verdict = await verdictOn(options, { member, call, lane, own });
  if (verdict.kind === "refuse") return { kind: "refused", code: verdict.code, message: verdict.message };
  const meanwhile = verdict.kind === "wait" ? `; a real run would wait: ${verdict.message}` : "";
  return { kind: "refused", code: DRY_RUN, message: `${DRY_RUN_MESSAGE}${meanwhile}` };
}

/** One attempt: paced, admitted, sent, recorded. Nothing queues after the admission. */
async function attempt(options: GatewayParts, passage: GatewayRequest): Promise<GatewayAnswer> {
  const { pacer, keys, clock, credentials } = options;
  const { member, call, lane, examining, probe = false, trade = false } = passage;
  const client = examining ?? options.client;
  if (options.writes === "refuse" && effectOf(client.profile, passage) !== "read") return withheld(options, passage);
  const key = await keys.usable(member, probe || trade);
  if (key === undefined) return { kind: "waits", ...keyWait(member, clock.now()), lane };
  // Before the pacer: a trade takes a place of its own there.
  const credential = await credentials.of(member, key, call);
  if (credential.kind === "held") return credential.held;
  if (credential.kind === "none") {
    const { message, until = clock.now() + OPEN_WAIT_MS } = credential;
    return waits(options, member, { until, rule: "token_unavailable", message, lane });
  }
  return pacer.run(key.fingerprint, async () => {
    // Admission comes last: what it let through must find a free socket, or it would leave after a halt, or too late to count.
    const leave = await options.places.take();
    try {
      return await sendAdmitted(options, passage, { key, client, secret: credential.secret });
    } finally {
      leave();
    }
  });
}

interface AdmittedBy {
  readonly key: HeldKey;
  readonly client: Client;
  readonly secret: Secret;
}

/** Admission, the request, and the row that says how it ended. */
async function sendAdmitted(options: GatewayParts, passage: GatewayRequest, { key, client, secret }: AdmittedBy): Promise<GatewayAnswer> {
  const { store, keys, clock, breakers, credentials } = options;
  const { member, call, intent, signal, lane, examining, probe = false, trade = false } = passage;
  const { handle } = member.specialist;
  const isWrite = effectOf(client.profile, passage) !== "read";
  const stop = examining === undefined ? breakers.stop(handle, call.operation, isWrite) : undefined;
  if (stop !== undefined) return waits(options, member, { ...stop, until: stop.probeAt ?? clock.now() + STOPPED_WAIT_MS, lane });
  // What was lined up when the network refused its key would be refused as well.
  if (member.keyTrouble !== undefined && !probe && !trade) return { kind: "waits", ...keyWait(member, clock.now()), lane };
  // Those that were lined up when the first of them was told to wait need not ask again.
  const lined = intent === undefined || examining !== undefined ? undefined : member.waits?.get(lane);
  if (lined !== undefined && lined.until > clock.now()) return { ...lined, kind: "waits", lane };
  const release = examining === undefined ? breakers.claim(handle, call.operation, isWrite) : undefined;
  const admission = await store.admit(admitFor(options, passage, key), decide).finally(release);
  if (admission.kind !== "admitted") return notAdmitted(options, member, admission);
  if (examining === undefined) breakers.leaving(handle, call.operation, isWrite);
  const began = clock.monotonic();
  const { outcome, wire } = await client.exchange(call, {
    key: secret,
    ...(intent === undefined ? {} : { idempotencyKey: intent.id }),
    ...(signal === undefined ? {} : { signal }),
  });
  await recordEnd(options, passage, admission.attempt, outcome, clock.monotonic() - began);
  if (examining === undefined) breakers.heard(handle, call, isWrite, outcome);
  if (credentials.refusesKey(member, { key, secret, call }, outcome)) await keys.refused(member, key);
  return { kind: "answered", outcome, ...(examining === undefined ? {} : { wire }) };
}

function effectOf(profile: Profile, { call, trade = false }: GatewayRequest): Effect {
  return trade ? "read" : operationOf(profile, call.operation).effect;
}

function admitFor(options: GatewayOptions, passage: GatewayRequest, key: HeldKey): Admit {
  const { member, call, lane, intent, own = false, examining } = passage;
  const { profile } = examining ?? options.client;
  const { specialist } = member;
  const operation = operationOf(profile, call.operation);
  const now = options.ledger.now();
  const request: AdmissionRequest = {
    specialist: specialist.handle,
    key: key.fingerprint,
    operation: call.operation,
    effect: effectOf(profile, passage),
    lane,
    cost: operation.weight,
    promises: call.operation === "jobs.apply" ? 1 : 0,
    price: priceOf(profile, { tier: specialist.tier, trust: options.breakers.trust.of(specialist.handle) }, operation, call.input),
    ownLimits: ownLimitsOf(profile, call.operation),
    ...(intent === undefined
      ? {}
      : {
          intent: intent.id,
          payloadHash: payloadHash(intent),
          readyAt: intent.createdAt,
        }),
  };
  return {
    request,
    ...(intent === undefined ? {} : { intent: { seq: intent.seq, id: intent.id, conflictKey: intent.conflictKey } }),
    ...(call.target === undefined ? {} : { target: call.target }),
    now,
    deadlineAt: now + profile.timing.deadlineMs,
    holdExpiresAt: now + options.holdMs,
    known: { may: own ? [call.operation] : specialist.may, review: specialist.review.includes(call.operation), caps: options.caps(member) },
  };
}

function notAdmitted(options: GatewayOptions, member: Member, admission: Exclude<Admission, { readonly kind: "admitted" }>): GatewayAnswer {
  if (admission.kind === "gone") return admission;
  if (admission.kind === "refuse") return { kind: "refused", code: admission.code, message: admission.message };
  const { clock, ledger } = options;
  const { rule, message, lane } = admission;
  // Waits are told in the ledger's time, timers run by the clock's.
  const until = clock.now() + (admission.until === undefined ? OPEN_WAIT_MS : Math.max(0, admission.until - ledger.now()));
  return waits(options, member, { rule, message, lane, until, open: admission.until === undefined });
}

function waits(
  { clock, announcer }: GatewayOptions,
  member: Member,
  wait: Omit<Extract<GatewayAnswer, { readonly kind: "waits" }>, "kind">,
): GatewayAnswer {
  const { rule, message, lane, until, open = false } = wait;
  announcer.emit("wait", { at: clock.now(), handle: member.specialist.handle, lane, rule, until, message });
  return { kind: "waits", until, open, rule, message, lane };
}

async function recordEnd(
  options: GatewayOptions,
  { member, call, intent }: GatewayRequest,
  admitted: Attempt,
  outcome: Outcome,
  tookMs: number,
): Promise<void> {
  const { store, ledger, clock, announcer } = options;
  const heard = "skewMs" in outcome && outcome.skewMs !== undefined ? ledger.heed(outcome.skewMs, tookMs) : undefined;
  const now = ledger.now();
  const follows =
    intent === undefined
      ? undefined
      : options.conclude(member, { ...intent, attempt: intent.attempt + 1, sentAt: admitted.startedAt }, outcome);
  const note = "reason" in outcome ? outcome.reason : "message" in outcome ? outcome.message : undefined;
  const status = "status" in outcome && outcome.status !== undefined ? { status: outcome.status } : {};
  const paid = intent === undefined ? undefined : paidFor(options, member, call, outcome);
  await store.complete({
    attempt: admitted,
    end: endOf(admitted, outcome),
    outcome: outcome.class,
    ...status,
    ...(note === undefined ? {} : { note }),
    now,
    ...(heard === undefined ? {} : { heard }),
    ...(intent === undefined || follows === undefined ? {} : { intent: { seq: intent.seq, id: intent.id, change: follows.change } }),
    ...(paid === undefined ? {} : { paid }),
    events: follows?.events ?? [],
    watches: follows?.watches ?? [],
  });
  announcer.emit("request", {
    at: clock.now(),
    handle: member.specialist.handle,
    operation: call.operation,
    outcome: outcome.class,
    ...status,
    tookMs,
  });
  if (intent !== undefined && follows !== undefined) options.announce(member, intent, follows.change);
}

/** What the network says an action cost. */
function paidFor({ client, caps }: GatewayOptions, member: Member, { operation }: Call, outcome: Outcome): Paid | undefined {
  if (outcome.class !== "confirmed" || outcome.chargedMicros === undefined) return undefined;
  const currency = currencyOf(operationOf(client.profile, operation).price);
  return { money: { currency, micros: outcome.chargedMicros }, caps: caps(member) };
}

export function callOf(intent: Intent): Call {
  return { operation: intent.operation, ...(intent.target === undefined ? {} : { target: intent.target }), input: intent.input };
}

function refusedCall(client: Client, call: Call): GatewayAnswer | undefined {
  try {
    client.check(call);
    return undefined;
  } catch (error) {
    if (error instanceof Refused) return { kind: "refused", code: error.code, message: error.message };
    throw error;
  }
}

function endOf(attempt: Attempt, outcome: Outcome): AttemptEnd {
  return {
    key: attempt.keyId,
    attempt: attempt.seq,
    lane: attempt.lane,
    cost: attempt.cost,
    admittedAt: attempt.startedAt,
    deadlineAt: attempt.deadlineAt,
    ending: endingOf(outcome),
    ...(outcome.class === "limited" && outcome.retryAfterMs !== undefined ? { retryAfterMs: outcome.retryAfterMs } : {}),
    ...("limits" in outcome && outcome.limits !== undefined ? { hints: outcome.limits } : {}),
  };
}

function endingOf(outcome: Outcome): AttemptEnd["ending"] {
  if (outcome.class === "never-left" || outcome.class === "limited") return outcome.class;
  return outcome.class === "unknown" ? "lost" : "answered";
}
