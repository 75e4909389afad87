/** The gateway is the only way to the network: pacing, admission, the request, and the row that records its end. */
import type { HeldKey } from "../client/auth.ts";
import type { BuiltRequest } from "../client/build-request.ts";
import type { Client } from "../client/client.ts";
import { CONNECTIONS } from "../client/transport.ts";
import type { Call, Outcome } from "../contract/call.ts";
import type { Lane } from "../contract/operations.ts";
import { namesOwnId } from "../contract/profile/network-operations.ts";
import type { Profile } from "../contract/profile/profile.ts";
import { backoffMs, type Backoff } from "../core/backoff.ts";
import { sleep, type Clock } from "../core/clock.ts";
import { defined } from "../core/defined.ts";
import { Refused } from "../core/errors.ts";
import type { Announcer } from "../core/events.ts";
import type { Secret } from "../core/secret.ts";
import { HOUR, MINUTE, SECOND } from "../core/units.ts";
import { decide } from "../limits/decide.ts";
import type { Pacer } from "../limits/pacing.ts";
import type { Verdict } from "../limits/verdict.ts";
import {
  DRY_RUN,
  DRY_RUN_MESSAGE,
  type Attempt,
  type Conclusion,
  type Intent,
  type IntentChange,
  type TargetOf,
} from "../outbox/intent.ts";
import type { Store } from "../store/store.ts";
import { admitFor, effectOf, type AdmissionSources, type GatewayRequest } from "./admission-request.ts";
import { endOf } from "./attempt-end.ts";
import { createCredentials, type Credential, type Credentials } from "./credentials.ts";
import { KEY_CHECK_MS, type KeyWatch } from "./keys.ts";
import type { Member } from "./member.ts";
import { withReplies } from "./read-replies.ts";
import type { GatewayAnswer } from "./gateway-answer.ts";
import { createSemaphore, type Semaphore } from "./semaphore.ts";
import { chargedBy } from "./prices.ts";
import { lackedBy, operationOf } from "./permissions.ts";
import type { Breakers } from "./network-breakers.ts";
import type { Admission, Paid } from "../store/admission.ts";

export interface GatewayOptions extends AdmissionSources {
  /** Creates a client for another profile on the same network. */
  readonly connect: (profile: Profile) => Client;
  readonly store: Store;
  readonly pacer: Pacer;
  /** Places of all gateways that share sockets. Default: of this one alone. */
  readonly places?: Semaphore | undefined;
  readonly keys: KeyWatch;
  readonly clock: Clock;
  readonly announcer: Announcer;
  /** Circuit breakers for operations that the network lacks, forbids, or answers unreadably. */
  readonly breakers: Breakers;
  /** `refuse` for a dry run: no write leaves, and nothing is charged or held for one. */
  readonly writes: "send" | "refuse";
  /** Decides the consequences of an intent's outcome, stored in the transaction that records it. */
  readonly conclude: (member: Member, intent: Intent, outcome: Outcome) => Conclusion<TargetOf<"answer">>;
  /** Announces the state of an intent after an attempt. */
  readonly announce: (member: Member, intent: Intent, change: IntentChange) => void;
}

export interface ReadOptions {
  readonly lane?: Lane;
  readonly signal: AbortSignal;
  /** The event whose handler reads. */
  readonly event?: string | undefined;
  /** Sent with a key that the network refused, to check if it still does. */
  readonly probe?: boolean;
}

export interface Gateway {
  /** A charged read, retried if no answer came, each try admitted separately. */
  read(member: Member, call: Call, options: ReadOptions): Promise<GatewayAnswer>;
  /** One attempt for an intent. Never repeated here: only the outbox resends. */
  send(member: Member, intent: Intent): Promise<GatewayAnswer>;
  /**
   * One write of the runtime's own, such as registering its webhook: under every limit and the halt, outside `may`. Only for writes that a
   * later check can repair, because no intent records them.
   */
  perform(member: Member, call: Call, signal: AbortSignal): Promise<GatewayAnswer>;
  /** One charged read under another profile, past every breaker: for the doctor. */
  examine(member: Member, call: Call, profile: Profile, signal: AbortSignal): Promise<GatewayAnswer>;
  /** The present verdict on an intent. */
  explain(member: Member, intent: Intent): Promise<Verdict>;
}

interface GatewayParts extends GatewayOptions {
  readonly credentials: Credentials<GatewayAnswer>;
  readonly places: Semaphore;
  readonly onLeaving: () => void;
}

/** Tries of one read, including the first. */
const READ_TRIES = 3;
const READ_BACKOFF: Backoff = { firstMs: SECOND, longestMs: 2 * SECOND };
/** Interval of tries if only a person or another intent's outcome ends a wait. */
const OPEN_WAIT_MS = MINUTE;
/** Interval of tries if a person's order ends a wait: the order itself wakes it, and this covers a missed wake. */
const STOPPED_WAIT_MS = HOUR;

export function createGateway(given: GatewayOptions): Gateway {
  const { client, clock } = given;
  const options: GatewayParts = {
    ...given,
    places: given.places ?? createSemaphore(CONNECTIONS),
    onLeaving: () => given.store.requireCurrent(),
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
  const readOnce: Gateway["read"] = async (member, call, { lane, signal, event, probe = false }) => {
    const lacked = lackedBy(client.profile, member.specialist.tier, call.operation);
    if (lacked !== undefined) return { kind: "refused", ...lacked };
    const built = checked(given, client, { member, call, lane: lane ?? laneOf(call.operation) });
    if ("kind" in built) return built;
    for (let tries = 1; ; tries++) {
      const answer = await attempt(options, { member, call, built, lane: lane ?? laneOf(call.operation), signal, probe, event });
      if (answer.kind !== "answered" || tries >= READ_TRIES || signal.aborted) return answer;
      if (answer.outcome.class === "unauthorized" && member.keyTrouble === undefined) continue; // there is a new key
      if (answer.outcome.class !== "unknown" && answer.outcome.class !== "never-left") return answer;
      await sleep(clock, backoffMs(READ_BACKOFF, tries), signal);
    }
  };
  return {
    async read(member, call, how) {
      const answer = await readOnce(member, call, how);
      const replies = client.profile.operations.get(call.operation)?.replies;
      if (replies === undefined) return answer;
      const lane = how.lane ?? laneOf(call.operation);
      return withReplies(answer, { operation: replies, target: call.target }, (page) => readOnce(member, page, { ...how, lane }));
    },
    send(member, intent) {
      const call = callOf(intent);
      const built = checked(given, client, { member, call, lane: intent.lane });
      return "kind" in built ? Promise.resolve(built) : attempt(options, { member, call, built, lane: intent.lane, intent });
    },
    async perform(member, call, signal) {
      const built = checked(given, client, { member, call, lane: laneOf(call.operation) });
      return "kind" in built ? built : attempt(options, { member, call, built, lane: laneOf(call.operation), signal, own: true });
    },
    async examine(member, call, profile, signal) {
      const examining = options.connect(profile);
      const { effect, lane } = operationOf(profile, call.operation);
      if (effect !== "read")
        return { kind: "refused", code: "not_a_read", message: `${call.operation} writes, and an examination only reads` };
      const built = checked(given, examining, { member, call, lane });
      return "kind" in built ? built : attempt(options, { member, call, built, lane, signal, examining });
    },
    explain: (member, intent) => verdictOn(options, { member, call: callOf(intent), lane: intent.lane, intent }),
  };
}

/** The present verdict on a write. */
async function verdictOn(options: GatewayOptions, request: GatewayRequest): Promise<Verdict> {
  const { store, breakers, keys, clock } = options;
  const { member, call, lane, intent } = request;
  const key = await keys.usable(member);
  const stop = breakers.stop(member.specialist.handle, call.operation, true);
  if (stop !== undefined) {
    const { rule, message, since, probeAt } = stop;
    return { kind: "wait", rule, message, lane, window: undefined, since, until: probeAt };
  }
  if (key !== undefined && lacksOwnId(options.client, request))
    return {
      kind: "wait",
      rule: "account_unknown",
      message: NO_OWN_ID,
      lane,
      window: undefined,
      since: intent?.createdAt ?? clock.now(),
      until: undefined,
    };
  if (key !== undefined) return store.explain(admitFor(options, request, key), decide);
  const noKey = { message: "there is no key", since: intent?.createdAt ?? clock.now(), circuit: undefined };
  const { message, since, circuit } = member.keyTrouble ?? noKey;
  return { kind: "wait", rule: "key_unusable", message, lane, window: undefined, since, until: circuit?.probeAt };
}

/** A dry run's answer to a write: the rule that refuses it for good, or that only the dry run withheld it. */
async function withheld(options: GatewayOptions, { member, call, lane, own = false }: GatewayRequest): Promise<GatewayAnswer> {
  // Without its intent: the ledger may belong to another store, whose rows have other numbers.
  const verdict = await verdictOn(options, { member, call, lane, own });
  if (verdict.kind === "refuse") return { kind: "refused", code: verdict.code, message: verdict.message };
  const meanwhile = verdict.kind === "wait" ? `; a real run would wait: ${verdict.message}` : "";
  return { kind: "refused", code: DRY_RUN, message: `${DRY_RUN_MESSAGE}${meanwhile}` };
}

/** One attempt: paced, admitted, sent, recorded. Nothing queues after the admission. A promise is made only where it has to wait. */
function attempt(options: GatewayParts, request: GatewayRequest): Promise<GatewayAnswer> {
  const { member, probe = false, trade = false } = request;
  const client = request.examining ?? options.client;
  if (options.writes === "refuse" && effectOf(client.profile, request) !== "read") return withheld(options, request);
  const key = options.keys.usable(member, probe || trade);
  return key instanceof Promise ? key.then((held) => withKey(options, request, client, held)) : withKey(options, request, client, key);
}

function withKey(options: GatewayParts, request: GatewayRequest, client: Client, key: HeldKey | undefined): Promise<GatewayAnswer> {
  const { member, call, lane } = request;
  if (key === undefined) return Promise.resolve(withoutKey(options, member, lane));
  // Before the pacer: an exchange is paced separately.
  const credential = options.credentials.of(member, key, call);
  return credential instanceof Promise
    ? onceHeld(options, request, { key, client }, credential)
    : paced(options, request, { key, client }, credential);
}

/** Apart from `withKey`, which would allocate for it at every call. */
async function onceHeld(
  options: GatewayParts,
  request: GatewayRequest,
  by: Omit<AdmittedBy, "secret">,
  credential: Promise<Credential<GatewayAnswer>>,
): Promise<GatewayAnswer> {
  return paced(options, request, by, await credential);
}

function paced(
  options: GatewayParts,
  request: GatewayRequest,
  { key, client }: Omit<AdmittedBy, "secret">,
  credential: Credential<GatewayAnswer>,
): Promise<GatewayAnswer> {
  if (credential.kind === "credential")
    return options.pacer.run(key.fingerprint, () => sendAdmitted(options, request, { key, client, secret: credential.secret }));
  if (credential.kind === "held") return Promise.resolve(credential.held);
  const { message, until = options.clock.now() + OPEN_WAIT_MS } = credential;
  return Promise.resolve(waits(options, request.member, { until, rule: "token_unavailable", message, lane: request.lane }));
}

const KEY_REFUSED: Outcome = { class: "never-left", reason: "the network refused the key of another request" };

function isKeyRefused({ member, probe = false, trade = false }: GatewayRequest): boolean {
  return member.keyTrouble !== undefined && !probe && !trade;
}

function withoutKey({ clock }: GatewayParts, member: Member, lane: Lane): GatewayAnswer {
  const message = member.keyTrouble?.message ?? "there is no key";
  return { kind: "waits", until: clock.now() + KEY_CHECK_MS, rule: "key_unusable", message, lane };
}

interface AdmittedBy {
  readonly key: HeldKey;
  readonly client: Client;
  readonly secret: Secret;
}

/** Admission, the request, and the row that records its end. */
async function sendAdmitted(options: GatewayParts, request: GatewayRequest, by: AdmittedBy): Promise<GatewayAnswer> {
  const { places, store, clock, breakers, onLeaving } = options;
  const { member, call, intent, signal, examining, built } = request;
  const { handle } = member.specialist;
  const isWrite = effectOf(by.client.profile, request) !== "read";
  // Admission comes last: an admitted request must find a free socket, or it would leave after a halt, or too late to count.
  const asked = options.announcer.listenerCount("request") > 0 ? clock.monotonic() : 0;
  const turn = places.take();
  if (turn !== undefined) await turn;
  try {
    const held = heldBack(options, request, isWrite);
    if (held !== undefined) return held;
    const release = examining === undefined ? breakers.claim(handle, call.operation, isWrite) : undefined;
    const admission = await store.admit(admitFor(options, request, by.key), decide).finally(() => release?.());
    if (admission.kind !== "admitted") return notAdmitted(options, member, admission);
    // The network refused the key while the admission was written.
    if (isKeyRefused(request)) {
      recordEnd(options, request, admission.attempt, KEY_REFUSED, { tookMs: 0, admissionMs: clock.monotonic() - asked });
      return withoutKey(options, member, request.lane);
    }
    if (examining === undefined) breakers.leaving(handle, call.operation, isWrite);
    const began = clock.monotonic();
    const { outcome, wire } = await by.client.exchange(call, { key: by.secret, idempotencyKey: intent?.id, signal, built, onLeaving });
    recordEnd(options, request, admission.attempt, outcome, { tookMs: clock.monotonic() - began, admissionMs: began - asked });
    if (examining === undefined) breakers.heard(handle, call, isWrite, outcome);
    if (options.credentials.refusesKey(member, { key: by.key, secret: by.secret, call }, outcome))
      await options.keys.refused(member, by.key);
    return examining === undefined ? { kind: "answered", outcome } : { kind: "answered", outcome, wire };
  } finally {
    places.leave();
  }
}

/** The rule that stops a request before its admission is asked for. */
function heldBack(options: GatewayParts, request: GatewayRequest, isWrite: boolean): GatewayAnswer | undefined {
  const { clock, breakers } = options;
  const { member, call, intent, lane, examining } = request;
  const stop = examining === undefined ? breakers.stop(member.specialist.handle, call.operation, isWrite) : undefined;
  if (stop !== undefined) return waits(options, member, { ...stop, until: stop.probeAt ?? clock.now() + STOPPED_WAIT_MS, lane });
  // A request queued when the network refused its key would be refused too.
  if (isKeyRefused(request)) return withoutKey(options, member, lane);
  // Requests queued when the first of them was told to wait need not ask again.
  const lined = intent === undefined || examining !== undefined ? undefined : member.waits?.get(lane);
  return lined !== undefined && lined.until > clock.now() ? { ...lined, kind: "waits", lane } : undefined;
}

function notAdmitted(options: GatewayOptions, member: Member, admission: Exclude<Admission, { readonly kind: "admitted" }>): GatewayAnswer {
  if (admission.kind === "gone") return admission;
  if (admission.kind === "refuse") return { kind: "refused", code: admission.code, message: admission.message };
  const { clock, ledger } = options;
  const { rule, message, lane } = admission;
  // Waits are in the ledger's time, timers run by the clock's.
  const until = clock.now() + (admission.until === undefined ? OPEN_WAIT_MS : Math.max(0, admission.until - ledger.now()));
  return waits(options, member, { rule, message, lane, until, open: admission.until === undefined });
}

function waits(
  { clock, announcer }: GatewayOptions,
  member: Member,
  wait: Omit<Extract<GatewayAnswer, { readonly kind: "waits" }>, "kind">,
): Extract<GatewayAnswer, { readonly kind: "waits" }> {
  const { rule, message, lane, until, open = false } = wait;
  announcer.emit("wait", { at: clock.now(), handle: member.specialist.handle, lane, rule, until, message });
  return { kind: "waits", until, open, rule, message, lane };
}

function recordEnd(
  options: GatewayOptions,
  { member, call, intent, event }: GatewayRequest,
  admitted: Attempt,
  outcome: Outcome,
  { tookMs, admissionMs }: { readonly tookMs: number; readonly admissionMs: number },
): void {
  const { store, ledger, clock, announcer } = options;
  const heard = "skewMs" in outcome && outcome.skewMs !== undefined ? ledger.heed(outcome.skewMs, tookMs) : undefined;
  const now = ledger.now();
  const follows =
    intent === undefined ? undefined : options.conclude(member, outcome.class === "confirmed" ? intent : sent(intent, admitted), outcome);
  const note = "reason" in outcome ? outcome.reason : "message" in outcome ? outcome.message : undefined;
  const status = "status" in outcome ? outcome.status : undefined;
  const paid = intent === undefined ? undefined : paidFor(options, member, call, outcome);
  store.complete({
    attempt: admitted,
    end: endOf(admitted, outcome),
    outcome: outcome.class,
    status,
    note,
    now,
    heard,
    intent: intent === undefined || follows === undefined ? undefined : { seq: intent.seq, id: intent.id, change: follows.change },
    paid,
    events: follows?.events ?? [],
    watches: follows?.watches ?? [],
  });
  if (announcer.listenerCount("request") > 0)
    announcer.emit("request", {
      at: clock.now(),
      handle: member.specialist.handle,
      operation: call.operation,
      lane: admitted.lane,
      outcome: outcome.class,
      ...defined({ status, intent: intent?.id, eventSeq: intent?.eventSeq, event }),
      tookMs,
      admissionMs,
    });
  if (intent !== undefined && follows !== undefined) options.announce(member, intent, follows.change);
}

/** As the store holds it. Nothing that follows from a success asks for that. */
function sent(intent: Intent, { startedAt }: Attempt): Intent {
  return { ...intent, attempt: intent.attempt + 1, sentAt: startedAt };
}

/** The cost of an action by the network's answer. */
function paidFor({ client, caps }: GatewayOptions, member: Member, { operation }: Call, outcome: Outcome): Paid | undefined {
  const money = chargedBy(outcome, operationOf(client.profile, operation).price);
  return money === undefined ? undefined : { money, caps: caps(member) };
}

function callOf({ operation, target, thread, input }: Intent): Call {
  return { operation, ...defined({ target, thread }), input };
}

/** True if the request holds the account's own id, and that is not known yet. */
function lacksOwnId({ profile }: Client, { member, call }: GatewayRequest): boolean {
  return member.accountId === undefined && namesOwnId(operationOf(profile, call.operation));
}

const NO_OWN_ID = "the specialist's own id on the network is not known yet, and the request holds it";

/** The request of a call, built before its admission; or the wait or the refusal of a call that cannot be sent. */
function checked(
  options: GatewayOptions,
  client: Client,
  request: GatewayRequest,
): BuiltRequest | Extract<GatewayAnswer, { readonly kind: "refused" | "waits" }> {
  const { member, call, lane } = request;
  try {
    if (!lacksOwnId(client, request)) return client.check(call, member.accountId);
    const until = options.clock.now() + OPEN_WAIT_MS;
    return waits(options, member, { until, open: true, rule: "account_unknown", message: NO_OWN_ID, lane });
  } catch (error) {
    if (error instanceof Refused) return { kind: "refused", code: error.code, message: error.message };
    throw error;
  }
}
