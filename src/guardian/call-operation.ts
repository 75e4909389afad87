/** Runs one operation by name for a person: a read is made at once, a write becomes an intent like any other. */
import type { NewEvent } from "../contract/event.ts";
import { eventId } from "../contract/event-id.ts";
import { defined } from "../core/defined.ts";
import { Refused } from "../core/errors.ts";
import { newIntentId } from "../core/ids.ts";
import type { Json, JsonObject } from "../core/json.ts";
import type { Intent, IntentState } from "../outbox/intent.ts";
import { brake } from "../specialist/brakes.ts";
import { runHandler } from "../specialist/run.ts";
import type { Member } from "../gateway/member.ts";
import type { Dependencies } from "../runtime/dependencies.ts";
import { readFor } from "../handlers/reads.ts";
import { refuseSecrets } from "../gateway/secret-refusal.ts";
import { sendOne } from "../outbox/send.ts";
import type { DraftIntent } from "../specialist/intent-draft.ts";

export interface Calling {
  readonly operation: string;
  readonly target?: string;
  readonly input: JsonObject;
}

export type CallResult =
  | { readonly kind: "read"; readonly value: Json }
  /** The quota has no room for a read now. */
  | { readonly kind: "waits"; readonly until: number; readonly message: string }
  | {
      readonly kind: "write";
      readonly intent: string;
      readonly state: IntentState;
      readonly created?: string;
      readonly code?: string;
      readonly message?: string;
      /** The reason and end of a delay. */
      readonly until?: number;
    };

const KIND = "guardian.call";

/** Throws `Refused` if a rule refuses before anything is recorded, `Retryable` if a read came back incomplete. */
export async function callOperation(parts: Dependencies, member: Member, call: Calling): Promise<CallResult> {
  if (member.rules.of(call.operation).effect === "read") {
    const result = await readFor(parts, member, call, { signal: parts.ending, since: 0 });
    return "value" in result
      ? { kind: "read", value: result.value }
      : { kind: "waits", until: result.suspendedUntil, message: result.reason };
  }
  const id = await recordCall(parts, member, call);
  const ready = await parts.store.findIntent(id);
  if (ready?.state === "ready") await sendOne(parts, member, ready);
  return resultOf((await parts.store.findIntent(id)) ?? missing(id), member);
}

/** Records the write as the decision of a handling, so that all rules for those apply: allow-list, brakes, approvals. Returns the intent's id. */
export async function recordCall(parts: Dependencies, member: Member, call: Calling): Promise<string> {
  const { clock, random, store } = parts;
  const { specialist } = member;
  const now = clock.now();
  refuseSecrets(parts.scrubber, `${call.operation}: the target`, call.target);
  const event: NewEvent = {
    specialist: specialist.handle,
    id: eventId(KIND, random.word(15)),
    kind: KIND,
    payload: { operation: call.operation, target: call.target ?? null, input: call.input },
    via: "runtime",
    hops: 0,
  };
  const wanted = defined({ input: call.input, target: call.target });
  const result = await runHandler((_payload, act) => void act.perform(call.operation, wanted), {
    event: { ...event, beganAt: now },
    steps: new Map(),
    me: { handle: specialist.handle, id: member.accountId },
    state: {},
    rules: member.rules,
    deadlineMs: specialist.deadlineMs,
    read: () => Promise.reject(new Refused("call_reads", "a call reads nothing")),
    saveStep: () => Promise.reject(new Refused("call_steps", "a call has no steps")),
    newIntentId: () => newIntentId(random, clock.now()),
    fetch: parts.fetch,
    clock,
    log: parts.log,
    signal: parts.ending,
  });
  if (result.kind === "failed") throw result.error;
  const drafts: readonly DraftIntent[] = result.kind === "finished" ? result.intents : [];
  const [stored] = await store.recordRun(event, {
    specialist: specialist.handle,
    now,
    intents: drafts,
    caps: specialist.brakes,
    brake: (draft, words) => brake(draft, words, specialist.brakes),
    report: () => undefined, // the caller gets the report, not the behaviour
  });
  return stored?.id ?? missing(call.operation);
}

function resultOf(intent: Intent, member: Member): CallResult {
  const wait = intent.state === "ready" ? member.waits?.get(intent.lane) : undefined;
  const message = wait?.message ?? intent.message;
  const code = wait?.rule ?? intent.code;
  const until = wait?.until ?? (intent.state === "ready" ? intent.nextAt : undefined);
  return defined({ kind: "write", intent: intent.id, state: intent.state, created: intent.createdRef, code, message, until });
}

function missing(what: string): never {
  throw new Refused("call_lost", `the call of ${what} was not recorded`);
}
