/** Where we stand with the network: what it lacks, forbids or no longer says readably, and when each is asked again. */
import type { Call, Outcome } from "../contract/call.ts";
import { createDriftLog, type DriftEntry, type DriftPolicy } from "../client/drift.ts";
import type { Observation } from "../contract/pins.ts";
import type { Clock } from "../core/clock.ts";
import type { Announcer } from "../core/events.ts";
import { HOUR, MINUTE } from "../core/units.ts";

/** Why requests of one operation, or all of one specialist, do not leave. */
export interface StandingStop {
  readonly rule: "drift" | "capability";
  /** `account_stopped`, `challenge`, `payment_required`, `operation_missing`, `forbidden`, `unreadable`, `shape_changed`. */
  readonly code: string;
  readonly message: string;
  /** The specialist it holds for; undefined for all. */
  readonly handle: string | undefined;
  /** Undefined where it holds for all operations. */
  readonly operation: string | undefined;
  readonly since: number;
  /** One request is let through then, to see whether it still holds. */
  readonly probeAt: number;
}

export interface Standing {
  /** What stands in a request's way now. */
  stop(handle: string, operation: string, isWrite: boolean): StandingStop | undefined;
  /** A request leaves although a stop holds: it is the probe, and no second one goes along. */
  leaving(handle: string, operation: string): void;
  /** What an answer says of where we stand. */
  heard(handle: string, call: Call, isWrite: boolean, outcome: Outcome): void;
  /** What a client reports of answers that changed their shape. */
  drifted(operation: string, observations: readonly Observation[]): void;
  stops(): readonly StandingStop[];
  drift(): readonly DriftEntry[];
  /** A person has looked: forgets what was seen of an operation. */
  settle(operation: string): void;
}

export interface StandingOptions {
  readonly clock: Clock;
  readonly announcer: Announcer;
  /** What a breaking change of shape leads to. Default `note`. */
  readonly drift?: DriftPolicy;
  /** Unreadable answers to writes of one operation, in a row, after which it stops. Default 3. */
  readonly quarantineAfter?: number;
}

/** A stop is looked at again after this, then after twice as long each time. */
const FIRST_PROBE_MS = 15 * MINUTE;
const LONGEST_PROBE_MS = 6 * HOUR;
/** With the policy `slow`, a write of an operation that drifted leaves this often. */
const SLOW_MS = 5 * MINUTE;
/** Refusals on as many objects in a row say that it is not the object. */
const FORBIDDEN_IN_A_ROW = 3;
const MAX_STREAKS = 10_000;
/** How networks word it; what is worded otherwise stops the operation only, which is the smaller mistake. */
const STOPPED = /suspend|banned|deactivat|disabled|blocked|locked|terminated/i;
const CHALLENGE = /captcha|challenge|human|verif/i;

interface Held extends StandingStop {
  readonly waitMs: number;
}

export function createStanding({ clock, announcer, drift = "note", quarantineAfter }: StandingOptions): Standing {
  const held = new Map<string, Held>();
  const streaks = new Map<string, Set<string>>();
  const left = new Map<string, number>();
  const say = (handle: string, code: string, message: string): void =>
    void announcer.emit("parked", { at: clock.now(), handle, code, message });
  const hold = (stop: Omit<Held, "since" | "probeAt" | "waitMs">): void => {
    const key = keyOf(stop.handle, stop.operation);
    const known = held.get(key);
    const now = clock.now();
    const waitMs = known === undefined ? FIRST_PROBE_MS : Math.min(known.waitMs * 2, LONGEST_PROBE_MS);
    held.set(key, { ...stop, since: known?.since ?? now, waitMs, probeAt: now + waitMs });
    if (known === undefined) say(stop.handle ?? "", stop.code, stop.message);
  };
  const log = createDriftLog({
    clock,
    policy: drift,
    ...(quarantineAfter === undefined ? {} : { quarantineAfter }),
    onNew: ({ operation, path, kind }) => void announcer.emit("drift", { at: clock.now(), handle: "", operation, path, kind }),
    onQuarantine: (operation) => hold({ rule: "drift", code: "unreadable", message: unreadable(operation), handle: undefined, operation }),
  });
  const changed = (operation: string): StandingStop | undefined => {
    const verdict = log.verdict(operation);
    if (verdict.reason !== "drift") return undefined;
    const since = verdict.sinceMs ?? clock.now();
    const probeAt = verdict.advice === "slow" ? (left.get(operation) ?? 0) + SLOW_MS : clock.now() + LONGEST_PROBE_MS;
    if (probeAt <= clock.now()) return undefined;
    const message = `${operation} answers in another shape than before; retinue doctor --diff says what changed`;
    return { rule: "drift", code: "shape_changed", message, handle: undefined, operation, since, probeAt };
  };
  const applying = (handle: string, operation: string): Held | undefined =>
    held.get(keyOf(handle, undefined)) ?? held.get(keyOf(handle, operation)) ?? held.get(keyOf(undefined, operation));

  return {
    stop(handle, operation, isWrite) {
      const stop = applying(handle, operation);
      if (stop !== undefined) return stop.probeAt > clock.now() ? stop : undefined;
      return isWrite ? changed(operation) : undefined;
    },
    leaving(handle, operation) {
      left.set(operation, clock.now());
      const stop = applying(handle, operation);
      if (stop !== undefined) held.set(keyOf(stop.handle, stop.operation), { ...stop, probeAt: clock.now() + stop.waitMs });
    },
    heard(handle, call, isWrite, outcome) {
      if (isWrite) log.wrote(call.operation, outcome);
      if (outcome.class === "confirmed" || outcome.class === "pending") {
        if (held.delete(keyOf(undefined, call.operation))) log.settle(call.operation);
        held.delete(keyOf(handle, call.operation));
        held.delete(keyOf(handle, undefined));
        streaks.delete(keyOf(handle, call.operation));
        return;
      }
      const lesson = lessonOf(handle, call, outcome, streaks);
      if (lesson !== undefined) hold(lesson);
      else if (outcome.class === "unknown" && outcome.unreadable === true && held.has(keyOf(undefined, call.operation)))
        hold({ rule: "drift", code: "unreadable", message: unreadable(call.operation), handle: undefined, operation: call.operation });
    },
    drifted: (operation, observations) => log.note(operation, observations),
    stops: () => [...held.values()],
    drift: () => log.entries(),
    settle(operation) {
      log.settle(operation);
      for (const [key, stop] of held) if (stop.operation === operation) held.delete(key);
    },
  };
}

function keyOf(handle: string | undefined, operation: string | undefined): string {
  return `${handle ?? "*"} ${operation ?? "*"}`;
}

function unreadable(operation: string): string {
  return `the answers to ${operation} cannot be read, so nothing more is written by it; retinue doctor says what the profile lacks`;
}

/** What a refusal means beyond the one request, if anything. */
function lessonOf(
  handle: string,
  { operation, target }: Call,
  outcome: Outcome,
  streaks: Map<string, Set<string>>,
): Omit<Held, "since" | "probeAt" | "waitMs"> | undefined {
  if (outcome.class !== "refused" && outcome.class !== "unknown") return undefined;
  const words = outcome.class === "refused" ? `${outcome.code} ${outcome.message}` : outcome.reason;
  const specialist = (code: string, message: string) => ({ rule: "capability" as const, code, message, handle, operation: undefined });
  const alone = (code: string, message: string) => ({ rule: "capability" as const, code, message, handle, operation });
  switch (outcome.status) {
    case 402:
      return alone("payment_required", `the network wants to be paid before ${handle} may do ${operation}`);
    case 405:
    case 501:
      return alone("operation_missing", `the network has no ${operation} at the address the profile gives`);
    case 404:
      return target === undefined
        ? alone("operation_missing", `there is nothing at the address the profile gives for ${operation}`)
        : undefined;
    case 403:
      if (outcome.class === "refused" && STOPPED.test(words))
        return specialist("account_stopped", `the network has stopped the account of ${handle}`);
      // A page for people where an answer was due is what stands in front of a network, not the network.
      if (outcome.class === "unknown" || CHALLENGE.test(words))
        return specialist("challenge", `the network wants to see a person before ${handle} goes on`);
      return isForbidden(streaks, keyOf(handle, operation), target)
        ? alone("forbidden", `the network does not let ${handle} do ${operation}`)
        : undefined;
    default:
      return undefined;
  }
}

/** A single object may be forbidden by itself; several in a row are not. */
function isForbidden(streaks: Map<string, Set<string>>, key: string, target: string | undefined): boolean {
  if (target === undefined) return true;
  const streak = streaks.get(key) ?? new Set<string>();
  streak.add(target);
  streaks.set(key, streak);
  const oldest = streaks.keys().next().value;
  if (streaks.size > MAX_STREAKS && oldest !== undefined) streaks.delete(oldest);
  return streak.size >= FORBIDDEN_IN_A_ROW;
}
