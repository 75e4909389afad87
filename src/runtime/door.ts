/** The one door out: pacing, admission, the request, and the row that says how it ended. Nothing else sends. */
import type { HeldKey, KeyProvider } from "../client/auth.ts";
import type { Client } from "../client/client.ts";
import type { Call, Outcome } from "../contract/call.ts";
import type { Lane } from "../contract/operations.ts";
import { sleep, type Clock } from "../core/clock.ts";
import { messageOf, Misconfigured, Refused } from "../core/errors.ts";
import type { Announcer } from "../core/events.ts";
import { MINUTE, SECOND } from "../core/units.ts";
import { decide } from "../limits/decide.ts";
import type { Pacer } from "../limits/pacing.ts";
import type { AdmissionRequest, AttemptEnd } from "../limits/port.ts";
import type { Cap } from "../limits/spending.ts";
import type { LedgerTime } from "../limits/time.ts";
import type { Attempt, Intent } from "../outbox/port.ts";
import type { Admission, Admit, Settlement, Store } from "../store/store.ts";
import type { Member } from "./member.ts";
import { priceOf } from "./prices.ts";
import { operationOf, payloadHash } from "./rules.ts";

export interface DoorOptions {
  readonly client: Client;
  readonly store: Store;
  readonly pacer: Pacer;
  readonly keys: KeyProvider;
  readonly clock: Clock;
  /** The time by which windows age; never back. */
  readonly ledger: LedgerTime;
  readonly announcer: Announcer;
  readonly caps: (member: Member) => readonly Cap[];
  /** Money held for an action whose outcome stays open counts as spent after this. */
  readonly holdMs: number;
  /** What follows from an intent's outcome, stored in the transaction that records it. */
  readonly conclude: (
    member: Member,
    intent: Intent,
    outcome: Outcome,
  ) => Pick<Settlement, "events" | "watches"> & { readonly change: NonNullable<Settlement["intent"]>["change"] };
}

export type DoorAnswer =
  | { readonly kind: "answered"; readonly outcome: Outcome }
  | { readonly kind: "waits"; readonly until: number; readonly rule: string; readonly message: string; readonly lane: Lane }
  | { readonly kind: "refused"; readonly code: string; readonly message: string }
  /** The intent is somebody else's now. */
  | { readonly kind: "gone" };

export interface Door {
  /** A charged read, tried again where nothing came back, each try admitted on its own. */
  read(member: Member, call: Call, options: { readonly lane?: Lane; readonly signal: AbortSignal }): Promise<DoorAnswer>;
  /** One attempt for an intent. Never repeated here: the outbox is the only one that sends again. */
  send(member: Member, intent: Intent): Promise<DoorAnswer>;
  /** Looks whether a parked specialist has a key again. Asks nothing of the network. */
  rereadKey(member: Member): Promise<boolean>;
  /** What stands in an intent's way now. */
  explain(member: Member, intent: Intent): Promise<Awaited<ReturnType<Store["explain"]>>>;
}

/** Tries of one read, the first included. */
const READ_TRIES = 3;
const READ_BACKOFF_MS = 500;
/** Where only a person or another's outcome ends a wait, it is asked again after this. */
const OPEN_WAIT_MS = MINUTE;
/** A refused key is read again this often: only the file, never the network. */
export const KEY_LOOK_MS = 5 * SECOND;

export function createDoor(options: DoorOptions): Door {
  const { client, store, pacer, keys, clock, ledger, announcer } = options;
  const { profile } = client;
  const deadlineMs = profile.timing.deadlineMs;

  const requestFor = (member: Member, key: HeldKey, call: Call, lane: Lane | undefined, intent: Intent | undefined): AdmissionRequest => {
    const operation = operationOf(profile, call.operation);
    return {
      specialist: member.specialist.handle,
      key: key.fingerprint,
      operation: call.operation,
      effect: operation.effect,
      lane: lane ?? operation.lane,
      cost: operation.weight,
      promises: call.operation === "jobs.apply" ? 1 : 0,
      price: priceOf(operation, call.input),
      ...(intent === undefined
        ? {}
        : {
            intent: intent.id,
            payloadHash: payloadHash(intent.operation, intent.targetIntent ?? intent.target, intent.input),
            readyAt: intent.createdAt,
          }),
    };
  };

  const admitFor = (member: Member, key: HeldKey, call: Call, lane: Lane | undefined, intent: Intent | undefined): Admit => {
    const now = ledger.now();
    return {
      request: requestFor(member, key, call, lane, intent),
      ...(intent === undefined ? {} : { intent: { seq: intent.seq, id: intent.id, conflictKey: intent.conflictKey } }),
      ...(call.target === undefined ? {} : { target: call.target }),
      now,
      deadlineAt: now + deadlineMs,
      holdExpiresAt: now + options.holdMs,
      known: { may: member.specialist.may, review: member.specialist.review.includes(call.operation), caps: options.caps(member) },
    };
  };

  /** One attempt: admitted, sent, recorded. */
  const attempt = async (
    member: Member,
    call: Call,
    lane: Lane | undefined,
    intent: Intent | undefined,
    signal: AbortSignal | undefined,
  ): Promise<DoorAnswer> => {
    const key = await usableKey(member);
    if (key === undefined) return parkedAnswer(member, lane ?? operationOf(profile, call.operation).lane);
    return pacer.run(key.fingerprint, async () => {
      const admission = await store.admit(admitFor(member, key, call, lane, intent), decide);
      if (admission.kind !== "admitted") return held(member, admission);
      const began = clock.monotonic();
      const outcome = await client.send(call, {
        key: key.key,
        deadlineMs,
        ...(intent === undefined ? {} : { idempotencyKey: intent.id }),
        ...(signal === undefined ? {} : { signal }),
      });
      await record(member, admission.attempt, outcome, intent);
      const status = "status" in outcome && outcome.status !== undefined ? { status: outcome.status } : {};
      announcer.emit("request", {
        at: clock.now(),
        handle: member.specialist.handle,
        operation: call.operation,
        outcome: outcome.class,
        ...status,
        tookMs: clock.monotonic() - began,
      });
      if (outcome.class === "unauthorized") await keyRefused(member, key);
      return { kind: "answered", outcome };
    });
  };

  const held = (member: Member, admission: Exclude<Admission, { readonly kind: "admitted" }>): DoorAnswer => {
    if (admission.kind === "gone") return admission;
    if (admission.kind === "refuse") return { kind: "refused", code: admission.code, message: admission.message };
    // Waits are told in the ledger's time, timers run by the clock's.
    const until = admission.until === undefined ? clock.now() + OPEN_WAIT_MS : clock.now() + Math.max(0, admission.until - ledger.now());
    announcer.emit("wait", {
      at: clock.now(),
      handle: member.specialist.handle,
      lane: admission.lane,
      rule: admission.rule,
      until,
      message: admission.message,
    });
    return { kind: "waits", until, rule: admission.rule, message: admission.message, lane: admission.lane };
  };

  const record = async (member: Member, admitted: Attempt, outcome: Outcome, intent: Intent | undefined): Promise<void> => {
    if ("skewMs" in outcome && outcome.skewMs !== undefined) ledger.confirm(outcome.skewMs);
    const now = ledger.now();
    const follows =
      intent === undefined
        ? undefined
        : options.conclude(member, { ...intent, attempt: intent.attempt + 1, sentAt: admitted.startedAt }, outcome);
    const reason = "reason" in outcome ? outcome.reason : "message" in outcome ? outcome.message : undefined;
    await store.settle({
      attempt: admitted,
      end: endOf(admitted, outcome),
      outcome: outcome.class,
      ...("status" in outcome && outcome.status !== undefined ? { status: outcome.status } : {}),
      ...(reason === undefined ? {} : { note: reason }),
      now,
      ...(intent === undefined || follows === undefined ? {} : { intent: { seq: intent.seq, id: intent.id, change: follows.change } }),
      events: follows?.events ?? [],
      watches: follows?.watches ?? [],
    });
    if (intent !== undefined && follows !== undefined) announceIntent(announcer, member, intent, follows.change, now);
  };

  /** The key, registered with its tier's limits. A key that replaces another starts with what that one was charged. */
  const usableKey = async (member: Member): Promise<HeldKey | undefined> => {
    if (member.keyTrouble !== undefined) return undefined;
    const { handle } = member.specialist;
    const key = readKey(member, () => keys.current(handle));
    if (key === undefined || key.fingerprint === member.keyId) return key;
    await store.registerKey(handle, key.fingerprint, { limits: member.limits, floors: member.floors }, ledger.now());
    member.keyId = key.fingerprint;
    return key;
  };

  /** A key that is not there or cannot be used is a state of the specialist, not a failure of whoever asked. */
  const readKey = (member: Member, read: () => HeldKey): HeldKey | undefined => {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof Misconfigured)) throw error;
      member.keyTrouble = {
        code: error.code,
        message: [messageOf(error), error.details.hint].filter(Boolean).join("; "),
        since: clock.now(),
      };
      return undefined;
    }
  };

  /** 401: the key is read again once; unchanged, the specialist is parked until its file or variable changes. */
  const keyRefused = async (member: Member, refused: HeldKey): Promise<void> => {
    const { handle } = member.specialist;
    let verdict: "replaced" | "dead" | undefined;
    const replaced = readKey(member, () => {
      verdict = keys.rejected(handle, refused.fingerprint);
      return keys.current(handle);
    });
    if (verdict === "replaced" || (member.keyTrouble !== undefined && replaced !== undefined)) return;
    const message = `the network refuses the key of ${handle} (401); give it a new one, it is read again every ${KEY_LOOK_MS / SECOND} s`;
    member.keyTrouble ??= { code: "key_refused", message, since: clock.now() };
    await store.park(handle, member.keyTrouble, clock.now());
    announcer.emit("parked", { at: clock.now(), handle, ...member.keyTrouble });
  };

  const parkedAnswer = (member: Member, lane: Lane): DoorAnswer => {
    const message = member.keyTrouble?.message ?? "there is no key";
    return { kind: "waits", until: clock.now() + KEY_LOOK_MS, rule: "key_unusable", message, lane };
  };

  return {
    async read(member, call, { lane, signal }) {
      const refusal = refusedCall(client, call);
      if (refusal !== undefined) return refusal;
      for (let tries = 1; ; tries++) {
        const answer = await attempt(member, call, lane, undefined, signal);
        if (answer.kind !== "answered" || tries >= READ_TRIES || signal.aborted) return answer;
        const again =
          answer.outcome.class === "unknown" ||
          answer.outcome.class === "never-left" ||
          (answer.outcome.class === "unauthorized" && member.keyTrouble === undefined);
        if (!again) return answer;
        if (answer.outcome.class !== "unauthorized") await sleep(clock, READ_BACKOFF_MS * 2 ** tries, signal);
      }
    },
    async send(member, intent) {
      const call = callOf(intent);
      return refusedCall(client, call) ?? attempt(member, call, undefined, intent, undefined);
    },
    async explain(member, intent) {
      const key = await usableKey(member);
      if (key !== undefined) return store.explain(admitFor(member, key, callOf(intent), undefined, intent), decide);
      const { message, since } = member.keyTrouble ?? { message: "there is no key", since: intent.createdAt };
      return { kind: "wait", rule: "key_unusable", message, lane: intent.lane, window: undefined, since, until: undefined };
    },
    async rereadKey(member) {
      const before = member.keyId;
      const key = readKey(member, () => keys.reread(member.specialist.handle));
      if (key === undefined || (key.fingerprint === before && member.keyTrouble?.code === "key_refused")) return false;
      member.keyTrouble = undefined;
      await store.unpark(member.specialist.handle, clock.now());
      return true;
    },
  };
}

export function callOf(intent: Intent): Call {
  return { operation: intent.operation, ...(intent.target === undefined ? {} : { target: intent.target }), input: intent.input };
}

function refusedCall(client: Client, call: Call): DoorAnswer | undefined {
  try {
    client.check(call);
    return undefined;
  } catch (error) {
    if (error instanceof Refused) return { kind: "refused", code: error.code, message: error.message };
    throw error;
  }
}

function endOf(attempt: Attempt, outcome: Outcome): AttemptEnd {
  const ending =
    outcome.class === "never-left"
      ? "never-left"
      : outcome.class === "limited"
        ? "limited"
        : outcome.class === "unknown"
          ? "lost"
          : "answered";
  return {
    key: attempt.keyId,
    attempt: attempt.seq,
    lane: attempt.lane,
    cost: attempt.cost,
    admittedAt: attempt.startedAt,
    deadlineAt: attempt.deadlineAt,
    ending,
    ...(outcome.class === "limited" && outcome.retryAfterMs !== undefined ? { retryAfterMs: outcome.retryAfterMs } : {}),
    ...("limits" in outcome && outcome.limits !== undefined ? { hints: outcome.limits } : {}),
  };
}

export function announceIntent(
  announcer: Announcer,
  member: Member,
  intent: Intent,
  change: { readonly state: string; readonly code?: string; readonly message?: string },
  now: number,
): void {
  announcer.emit("intent", {
    at: now,
    handle: member.specialist.handle,
    id: intent.id,
    operation: intent.operation,
    state: change.state,
    ...(intent.target === undefined ? {} : { target: intent.target }),
    ...(change.code === undefined ? {} : { code: change.code }),
    ...(change.message === undefined ? {} : { message: change.message }),
  });
}
