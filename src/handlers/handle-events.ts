/** From the inbox to the outbox: claims what is due for a specialist, runs its handlers, ends each run in one transaction. */
import { Fatal, messageOf, Misconfigured, Refused, Retryable, RetinueError } from "../core/errors.ts";
import { newIntentId } from "../core/ids.ts";
import type { JsonObject } from "../core/json.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../core/units.ts";
import type { ClaimedEvent } from "../store/inbox.ts";
import { brake } from "../specialist/brakes.ts";
import type { ReadCall, ReadResult, RunRequest } from "../specialist/run-request.ts";
import { runHandler, RunInterrupted, type EventHandler, type RunResult } from "../specialist/run.ts";
import { announceIntent } from "../outbox/announce.ts";
import { isStoreLost } from "../store/store-lost.ts";
import type { Member } from "../gateway/member.ts";
import type { Semaphore } from "../gateway/semaphore.ts";
import type { Clock } from "../core/clock.ts";
import type { Announcer } from "../core/events.ts";
import type { Logger } from "../core/log.ts";
import type { Scrubber } from "../core/scrubber.ts";
import type { Random } from "../core/random.ts";
import type { WorkKind } from "../store/sources.ts";
import type { Store } from "../store/store.ts";
import type { WorkerPool } from "./worker/worker-pool.ts";
import { draftReceipt, receiptEvent } from "../outbox/receipts.ts";
import type { DraftIntent, StoredIntent } from "../specialist/intent-draft.ts";
import { handlerOf } from "../specialist/handlers.ts";
import { refuseSecrets } from "../gateway/secret-refusal.ts";

/** The parts of the runtime that the handling of events uses. */
export interface HandlerDependencies {
  readonly clock: Clock;
  readonly random: Random;
  readonly log: Logger;
  /** Knows every secret: foreign text is cleaned by it before anything is read from it, or cut. */
  readonly scrubber: Scrubber;
  readonly announcer: Announcer;
  readonly store: Store;
  /** Bounds how many handlers run at once. */
  readonly handlers: Semaphore;
  /** Runs definitions that ask for a thread; undefined where everything runs in this one. */
  readonly isolation: WorkerPool | undefined;
  readonly fetch: typeof globalThis.fetch;
  /** Aborted when the runtime begins to stop: nothing new begins. */
  readonly stopping: AbortSignal;
  /** Aborted when the time to drain is over: running work is cut short. */
  readonly ending: AbortSignal;
  /** Reports that a kind of work of a specialist has something to do. */
  readonly wake: (member: Member, part: WorkKind) => void;
}

/** Events taken at once: enough to share commits, few enough to give back quickly when stopping. */
const CLAIM = 16;
/** A failing handling is tried again after these, then parked for a person. */
const RETRY_DELAYS_MS: readonly number[] = [5 * SECOND, 30 * SECOND, 5 * MINUTE, HOUR];
/** A `retryAt` puts an event off for this at most: one that is years away is a mistake of units. */
const LONGEST_RETRY_MS = DAY;

/** Handles what is due for one specialist, one event after the other. Answers whether there may be more. */
export async function handleEvents(
  parts: HandlerDependencies,
  member: Member,
  read: (member: Member, call: ReadCall, signal: AbortSignal) => Promise<ReadResult>,
): Promise<boolean> {
  const { store, clock, handlers, stopping } = parts;
  const events = await store.claimEvents(member.specialist.handle, clock.now(), CLAIM);
  if (events.length === 0 && member.deliveriesDeferred) {
    member.deliveriesDeferred = false;
    parts.wake(member, "deliveries");
  }
  let finished = false;
  for (const event of events) {
    if (stopping.aborted) {
      await store.retryEvent(event.seq, { notBefore: 0, failed: false, note: "the runtime stopped" });
      continue;
    }
    const leave = handlers.takeNow() ?? (await handlers.take());
    try {
      finished = (await handleOne(parts, member, event, read)) || finished;
    } catch (error) {
      if (isStoreLost(error)) throw error;
      // Its end could not be stored. Left as it is, it would count as at work until a restart, and so would those claimed with it.
      // The handler had nothing to do with it, so the error's class says nothing of its event.
      await giveBack(parts, member, event, error, RETRY_DELAYS_MS[event.attempts]);
    } finally {
      leave();
    }
  }
  // A claim may end early, as what may have ended the process is claimed alone; what was given back is not asked for again.
  return events.length === CLAIM || finished;
}

/** Answers whether the event is done. */
async function handleOne(
  parts: HandlerDependencies,
  member: Member,
  event: ClaimedEvent,
  read: Parameters<typeof handleEvents>[2],
): Promise<boolean> {
  const { store, clock, announcer } = parts;
  const { specialist } = member;
  const handler = handlerOf(specialist, event.kind);
  const result: RunResult =
    handler === undefined
      ? { kind: "finished", intents: [] }
      : storable(parts, await runOne(parts, member, event, handler, (call, signal) => read(member, call, signal)));
  const about = { at: clock.now(), handle: specialist.handle, event: event.id, kind: event.kind };
  switch (result.kind) {
    case "finished": {
      const stored = await finish(parts, member, event, result);
      announcer.emit("run", { ...about, result: "finished", intents: stored.length });
      for (const [index, intent] of stored.entries()) announceDecision(parts, member, result.intents[index], intent);
      if (stored.length > 0) parts.wake(member, "intents");
      if (stored.some(({ state }) => state === "in_doubt")) parts.wake(member, "doubts");
      return true;
    }
    case "suspended": {
      const message = parts.scrubber.clean(result.reason);
      await store.retryEvent(event.seq, { notBefore: result.until, failed: false, note: message });
      announcer.emit("run", { ...about, result: "suspended", intents: 0, message });
      return false;
    }
    case "failed":
      await giveBack(parts, member, event, result.error, retryDelay(result.error, event.attempts, clock.now()));
      return false;
  }
}

/** The pause before a failed handling is tried again, after so many that failed before; undefined where it is not. The error's class decides. */
function retryDelay(error: unknown, attempts: number, now: number): number | undefined {
  if (error instanceof Refused || error instanceof Misconfigured || error instanceof Fatal) return undefined;
  const usual = RETRY_DELAYS_MS[attempts];
  const retryAt = error instanceof Retryable ? error.retryAt : undefined;
  if (usual === undefined || retryAt === undefined || Number.isNaN(retryAt)) return usual;
  return Math.max(usual, Math.min(LONGEST_RETRY_MS, Math.ceil(retryAt - now)));
}

/** Tried again after `retryMs`; without, or where it was tried often enough, parked, so that nothing is lost and nothing spins. */
async function giveBack(
  parts: HandlerDependencies,
  member: Member,
  event: ClaimedEvent,
  error: unknown,
  retryMs: number | undefined,
): Promise<void> {
  const { store, clock, announcer, log } = parts;
  // A definition may have read a secret, and thrown it. The message is cleaned before anything cuts it.
  const message = parts.scrubber.clean(messageOf(error));
  const stopped = error instanceof RunInterrupted && error.code === "run_stopped";
  const delay = stopped ? 0 : retryMs;
  const about = { at: clock.now(), handle: member.specialist.handle, event: event.id, kind: event.kind, intents: 0, message };
  if (delay !== undefined) {
    await store.retryEvent(event.seq, { notBefore: clock.now() + delay, failed: !stopped, note: message });
    announcer.emit("run", { ...about, result: "failed" });
  } else {
    await store.parkEvent(event.seq, clock.now(), message);
    announcer.emit("run", { ...about, result: "parked" });
  }
  if (!stopped)
    log.warn("a handler failed", {
      handle: member.specialist.handle,
      event: event.id,
      code: error instanceof RetinueError ? error.code : "handler_threw",
      message,
      parked: delay === undefined,
    });
}

async function runOne(
  parts: HandlerDependencies,
  member: Member,
  event: ClaimedEvent,
  handler: EventHandler,
  read: (call: ReadCall, signal: AbortSignal) => Promise<ReadResult>,
): Promise<RunResult> {
  const { specialist } = member;
  const stored = await parts.store.loadState(specialist.handle);
  const request: RunRequest = {
    event,
    steps: event.steps,
    me: { handle: specialist.handle, id: member.accountId },
    state: isEmpty(stored) && !isEmpty(specialist.initialState) ? structuredClone(specialist.initialState) : stored,
    rules: member.rules,
    deadlineMs: specialist.deadlineMs,
    read,
    async saveStep(name, value) {
      refuseSecrets(parts.scrubber, "what a step returned", [name, value]);
      await parts.store.saveStep(event.seq, name, value);
    },
    newIntentId: () => newIntentId(parts.random),
    fetch: parts.fetch,
    clock: parts.clock,
    log: parts.log.child({ handle: specialist.handle, event: event.id }),
    signal: parts.ending,
  };
  const isolation = specialist.isolate === "worker" ? parts.isolation : undefined;
  return isolation === undefined ? runHandler(handler, request) : isolation.run(specialist, event.kind, request);
}

/** A run that wants a secret stored has failed. The inputs of its actions were checked when it decided on them. */
function storable({ scrubber }: HandlerDependencies, result: RunResult): RunResult {
  if (result.kind !== "finished") return result;
  try {
    refuseSecrets(scrubber, "act.state", result.state);
    for (const { operation, target, label, data } of result.intents)
      if (target !== undefined || label !== undefined || data !== undefined)
        refuseSecrets(scrubber, `${operation}: its target or what goes with it`, [target ?? null, label ?? null, data ?? null]);
    return result;
  } catch (error) {
    return { kind: "failed", error };
  }
}

function isEmpty(state: JsonObject): boolean {
  return Object.keys(state).length === 0;
}

function finish(
  parts: HandlerDependencies,
  member: Member,
  event: ClaimedEvent,
  result: Extract<RunResult, { readonly kind: "finished" }>,
): Promise<readonly StoredIntent[]> {
  const { specialist } = member;
  return parts.store.finishRun({
    seq: event.seq,
    specialist: specialist.handle,
    now: parts.clock.now(),
    ...(result.state === undefined ? {} : { state: result.state }),
    intents: result.intents,
    caps: specialist.brakes,
    brake: (draft, words) => brake(draft, words, specialist.brakes),
    report: (draft, refusal) => receiptEvent(specialist, "intent.refused", draftReceipt(draft, refusal), draft.hops),
  });
}

function announceDecision(parts: HandlerDependencies, member: Member, draft: DraftIntent | undefined, stored: StoredIntent): void {
  if (draft !== undefined) announceIntent(parts.announcer, member, draft, stored, parts.clock.now());
}
