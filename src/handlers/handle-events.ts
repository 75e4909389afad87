/** Handles events: claims the due ones of a specialist, runs its handlers, and ends each run in one transaction. */
import { isTerminal, retryTime } from "../core/errors.ts";
import type { UnderWay } from "../core/under-way.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../core/units.ts";
import type { ClaimedEvent } from "../store/inbox.ts";
import { runHandler, RunInterrupted, type RunResult } from "../specialist/run.ts";
import { announceIntent } from "../outbox/announce.ts";
import { supersede } from "./pile-up.ts";
import { isStoreLost } from "../store/store-lost.ts";
import type { Member } from "../gateway/member.ts";
import type PQueue from "p-queue";
import type { WorkKind } from "../store/sources.ts";
import type { WorkerPool } from "./worker/worker-pool.ts";
import { failureOf } from "./failed-run.ts";
import { finishRun, withoutSecrets } from "./finish-run.ts";
import { Handling, type HandlingDependencies, type ReadForHandler } from "./handling.ts";
import { failureNote } from "../store/failure.ts";
import type { Acts } from "../polling/action-counts.ts";
import type { DraftIntent, StoredIntent } from "../specialist/intent-draft.ts";
import { handlingsAtOnce, runsSideBySide } from "../specialist/specialist.ts";
import { handlerOf } from "../specialist/handlers.ts";

/** Dependencies of event handling. */
export interface HandlerDependencies extends HandlingDependencies {
  /** Learns which events lead to actions. */
  readonly acts: Acts;
  /** Bounds the number of handlers' promises that are awaited at once. */
  readonly handlers: PQueue;
  /** Follows handlers that take time; undefined if nobody waits for a moment without one. */
  readonly underWay?: UnderWay | undefined;
  /** Runs definitions that ask for a thread; undefined if everything runs in this one. */
  readonly isolation: WorkerPool | undefined;
  /** Aborted when the runtime begins to stop: no new work begins. */
  readonly stopping: AbortSignal;
  /** Follows work that no pass awaits, for a stop that waits for it. */
  readonly track: (work: Promise<void>) => void;
  readonly members: () => readonly Member[];
  /** Reports that a kind of work of a specialist has something to do. */
  readonly wake: (member: Member, part: WorkKind) => void;
}

/** Events claimed at once: enough to share commits, few enough to return quickly on a stop. */
const CLAIM = 16;
/** Delays before the retries of a failed handling, which is then parked for a person. */
const HANDLING_RETRY_DELAYS_MS: readonly number[] = [5 * SECOND, 30 * SECOND, 5 * MINUTE, HOUR];
/** Longest delay by a `retryAt`: one that is years away is a mistake of units. */
const LONGEST_RETRY_MS = DAY;

/** The result of an event without a handler. */
const NOTHING_DECIDED: RunResult = { kind: "finished", intents: [] };

/** Characters of a message that are kept in memory. */
const MAX_STREAK_MESSAGE = 200;

/**
 * Handles the due events of one specialist, one after the other unless its definition says otherwise, once their claim is committed. Returns
 * true if there may be more.
 */
export function handleEvents(parts: HandlerDependencies, member: Member, read: ReadForHandler): boolean | Promise<boolean> {
  const { store, clock } = parts;
  if (member.underWay !== undefined || runsSideBySide(member.specialist)) return handleSideBySide(parts, member, read);
  const events = store.claimEvents(member.specialist.handle, clock.now(), CLAIM);
  return events.length > 0 && handleClaimed(parts, member, events, read);
}

async function handleClaimed(
  parts: HandlerDependencies,
  member: Member,
  events: readonly ClaimedEvent[],
  read: ReadForHandler,
): Promise<boolean> {
  await parts.store.committed();
  return handleInOrder(parts, member, events, read);
}

/** Handlings that run one after the other share this lane; every kind that may run at once has its own. */
const IN_ORDER = "";

/**
 * Begins the handlings that have room, and awaits none: those of a kind that is slow hold up no other kind. Each end looks for more.
 */
function handleSideBySide(parts: HandlerDependencies, member: Member, read: ReadForHandler): boolean | Promise<boolean> {
  const { store, clock, track, wake } = parts;
  const underWay = (member.underWay ??= new Map<string, number>());
  const laneOf = (kind: string): string => (handlingsAtOnce(member.specialist, kind) > 1 ? kind : IN_ORDER);
  const asked = new Map<string, number>();
  const hasRoom = (kind: string): boolean => {
    const lane = laneOf(kind);
    const taken = (asked.get(lane) ?? 0) + 1;
    asked.set(lane, taken);
    if (lane === IN_ORDER) return !underWay.has(lane);
    return taken + (underWay.get(lane) ?? 0) <= handlingsAtOnce(member.specialist, kind);
  };
  const events = store.claimEvents(member.specialist.handle, clock.now(), CLAIM, hasRoom);
  if (events.length === 0) return false;
  const begin = (lane: string, claimed: readonly ClaimedEvent[]): void => {
    underWay.set(lane, (underWay.get(lane) ?? 0) + 1);
    const over = (): void => {
      const left = (underWay.get(lane) ?? 1) - 1;
      if (left > 0) underWay.set(lane, left);
      else underWay.delete(lane);
      wake(member, "events");
    };
    track(
      store
        .committed()
        .then(() => handleInOrder(parts, member, claimed, read))
        .then(over, (error: unknown) => {
          over();
          throw error;
        }),
    );
  };
  const inOrder = events.filter(({ kind }) => laneOf(kind) === IN_ORDER);
  if (inOrder.length > 0) begin(IN_ORDER, inOrder);
  for (const event of events) if (laneOf(event.kind) !== IN_ORDER) begin(event.kind, [event]);
  return events.length === CLAIM;
}

/** Returns true if one of them is done, or there may be more. */
async function handleInOrder(
  parts: HandlerDependencies,
  member: Member,
  events: readonly ClaimedEvent[],
  read: ReadForHandler,
): Promise<boolean> {
  const { store, stopping, clock } = parts;
  let finished = false;
  for (const event of events) {
    if (stopping.aborted) {
      store.retryEvent(event.seq, { notBefore: 0, failed: false });
      continue;
    }
    const startedAt = clock.now();
    try {
      const result = runOne(parts, member, event, read);
      finished = end(parts, member, { event, startedAt }, result instanceof Promise ? await result : result) || finished;
    } catch (error) {
      if (isStoreLost(error)) throw error;
      // The result could not be stored. Without this, the event and those claimed with it would count as running until a restart. The
      // handler is not the cause, so the error's class does not apply to its event.
      giveBack(parts, member, { event, startedAt }, error, HANDLING_RETRY_DELAYS_MS[event.attempts]);
    }
    if (event.isLastTry) passTurn(parts);
  }
  // A claim may end early, because an event that may have ended the process is claimed alone; returned events are not claimed again at
  // once.
  return events.length === CLAIM || finished;
}

/** The next event that waits for its last try may have it. */
function passTurn({ store, members, wake }: HandlerDependencies): void {
  const next = store.nextLastTry();
  const member = next === undefined ? undefined : members().find(({ specialist }) => specialist.handle === next);
  if (member !== undefined) wake(member, "events");
}

/** A handling that has ended. */
interface Handled {
  readonly event: ClaimedEvent;
  readonly startedAt: number;
}

function aboutRun({ event: { id, seq, kind, beganAt }, startedAt }: Handled, handle: string, at: number) {
  return { at, handle, event: id, seq, kind, beganAt, startedAt };
}

/** Stores the result of a handling. Returns true if the event is done. */
function end(parts: HandlerDependencies, member: Member, handled: Handled, given: RunResult): boolean {
  const { store, clock, announcer } = parts;
  const { specialist } = member;
  const { event } = handled;
  const result = withoutSecrets(parts, given);
  const about = () => aboutRun(handled, specialist.handle, clock.now());
  switch (result.kind) {
    case "finished": {
      if (handlerOf(specialist, event.kind) !== undefined) member.handling = "works";
      const stored = finishRun(parts, member, event, result);
      if (announcer.listenerCount("run") > 0) announcer.emit("run", { ...about(), result: "finished", intents: stored.length });
      if (announcer.listenerCount("intent") > 0)
        for (const [index, intent] of stored.entries()) announceDecision(parts, member, result.intents[index], intent);
      for (const [index, intent] of stored.entries()) supersede(parts, member, event.seq, { draft: result.intents[index], stored: intent });
      if (stored.length > 0) {
        parts.acts.add(member, event.kind, stored.length);
        parts.wake(member, "intents");
      }
      if (stored.some(({ state }) => state === "in_doubt")) parts.wake(member, "doubts");
      return true;
    }
    case "suspended": {
      const message = parts.scrubber.clean(result.reason);
      store.retryEvent(event.seq, { notBefore: result.until, failed: false, note: message });
      announcer.emit("run", { ...about(), result: "suspended", intents: 0, message });
      return false;
    }
    case "failed":
      giveBack(parts, member, handled, result.error, retryDelay(result.error, event.attempts, clock.now()));
      return false;
  }
}

/** The delay before a failed handling is retried, after this many failures; undefined if it is not. The error's class decides. */
function retryDelay(error: unknown, attempts: number, now: number): number | undefined {
  if (isTerminal(error)) return undefined;
  const usual = HANDLING_RETRY_DELAYS_MS[attempts];
  const retryAt = retryTime(error);
  if (usual === undefined || retryAt === undefined || Number.isNaN(retryAt)) return usual;
  return Math.max(usual, Math.min(LONGEST_RETRY_MS, Math.ceil(retryAt - now)));
}

/** Retries the event after `retryMs`; without it, or after too many failures, parks it, so that no event is lost and no loop spins. */
function giveBack(parts: HandlerDependencies, member: Member, handled: Handled, error: unknown, retryMs: number | undefined): void {
  const { store, clock, announcer } = parts;
  const { event } = handled;
  const now = clock.now();
  const { handle } = member.specialist;
  if (error instanceof RunInterrupted && error.code === "run_stopped") {
    store.retryEvent(event.seq, { notBefore: now, failed: false });
    announcer.emit("run", { ...aboutRun(handled, handle, now), intents: 0, result: "failed", message: error.message });
    return;
  }
  const failure = failureOf(error, { at: now, tries: event.attempts + 1, clean: (text) => parts.scrubber.clean(text) });
  const { message, tries, file, line } = failure;
  const place = file === undefined || line === undefined ? {} : { file, line };
  const about = { ...aboutRun(handled, handle, now), intents: 0, message, tries, ...place };
  const streak = typeof member.handling === "object" ? member.handling : { tries: 0, since: now };
  member.handling = { tries: streak.tries + 1, since: streak.since, kind: event.kind, message: message.slice(0, MAX_STREAK_MESSAGE) };
  if (retryMs !== undefined) {
    const timed = retryTime(error) !== undefined;
    const note = failureNote({ ...failure, ...(timed ? { timed } : {}) });
    store.retryEvent(event.seq, { notBefore: now + retryMs, failed: true, note });
    announcer.emit("run", { ...about, result: "failed", nextAt: now + retryMs });
  } else {
    store.parkEvent(event.seq, now, failureNote(failure));
    announcer.emit("run", { ...about, result: "parked" });
  }
}

function runOne(parts: HandlerDependencies, member: Member, event: ClaimedEvent, read: ReadForHandler): RunResult | Promise<RunResult> {
  const { specialist } = member;
  const handler = handlerOf(specialist, event.kind);
  if (handler === undefined) return NOTHING_DECIDED;
  const request = new Handling(parts, member, event, read);
  const isolation = specialist.isolate === "worker" ? parts.isolation : undefined;
  return placed(parts.handlers, () => {
    const result = isolation === undefined ? runHandler(handler, request) : isolation.run(specialist, event.kind, request);
    return result instanceof Promise && parts.underWay !== undefined ? parts.underWay.follow(result) : result;
  });
}

/** Calls a handler once there is a place for its promise. One that returns no promise leaves its place at once, and no job is made for it. */
function placed(handlers: PQueue, call: () => RunResult | Promise<RunResult>): RunResult | Promise<RunResult> {
  if (handlers.size > 0 || handlers.pending >= handlers.concurrency) return handlers.add(async () => call());
  const result = call();
  return result instanceof Promise ? handlers.add(() => result) : result;
}

function announceDecision(parts: HandlerDependencies, member: Member, draft: DraftIntent | undefined, stored: StoredIntent): void {
  if (draft !== undefined) announceIntent(parts.announcer, member, draft, stored, parts.clock.now());
}
