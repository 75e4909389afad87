/** The circuit breaker: closed, open until its probe is due, half-open while one probe is out; and what moves each kind of it. */
import type { Outcome } from "../contract/call.ts";
import { longerMs, type Backoff } from "../core/backoff.ts";
import type { AnyCode } from "../core/error-codes.ts";
import { HOUR, MINUTE } from "../core/units.ts";
import type { BreakerRule } from "../limits/wait-rules.ts";

interface Kind {
  /** `request`: the next request that the breaker blocks; `account`: a read of the specialist's own account. */
  readonly probe: "request" | "account";
  /** Outcomes of the probe that close it. A person's `retry` closes every kind. */
  readonly closedBy: readonly Outcome["class"][];
  /** Delay of the first probe, and the longest to which refused probes extend it. */
  readonly delays: Backoff;
  /** Delay after a probe without an answer that decides; the current delay if absent. */
  readonly undecidedMs?: number;
}

const PROBES: Backoff = { firstMs: 15 * MINUTE, longestMs: 6 * HOUR };
const every = (ms: number): Backoff => ({ firstMs: ms, longestMs: ms });

export const BREAKERS = {
  /** Opens on a refusal that applies beyond one request (`classify-refusal.ts`), and on a quarantine (`drift.ts`). */
  refusal: { probe: "request", closedBy: ["confirmed", "pending"], delays: PROBES },
  /** Opens on a 401 to an unchanged key. An error may come from before the check of the key, and decides nothing. */
  key: { probe: "account", closedBy: ["confirmed", "pending", "refused"], delays: PROBES, undecidedMs: PROBES.firstMs },
  /** Opens on a breaking change of shape, by policy (`drift.ts`). With the policy `slow`, each write is a probe; none closes it. */
  drift: { probe: "request", closedBy: [], delays: every(5 * MINUTE) },
  /**
   * Opens and closes by the account's record (`trust.ts`), so that no write is tried to find out. Trust is earned over days, and four reads
   * a day are under a hundredth of the smallest tier's quota.
   */
  trust: { probe: "account", closedBy: [], delays: every(6 * HOUR) },
} as const satisfies { readonly [kind: string]: Kind };

export type BreakerKind = keyof typeof BREAKERS;
/** Kinds that let a request through as their probe. */
export type RequestProbed = { [K in BreakerKind]: (typeof BREAKERS)[K]["probe"] extends "request" ? K : never }[BreakerKind];

/** An open circuit; a closed one is undefined. */
export interface Circuit {
  readonly since: number;
  /** Time of the next probe; undefined if only a person closes it. */
  readonly probeAt: number | undefined;
  /** Delay of the probe after that. */
  readonly waitMs: number;
  /** Half-open: a request asks for admission as the probe, or has left as the probe. In memory only. */
  readonly probe?: "claimed" | "sent" | undefined;
}

/** A circuit that a probe closed. */
export interface ClosedCircuit {
  readonly at: number;
  readonly waitMs: number;
}

/** Opens a circuit. If one closed less than its delay ago, the probe was mistaken, and the delay goes on growing. */
export function openCircuit(kind: BreakerKind, now: number, last?: ClosedCircuit): Circuit {
  return waiting(kind, now, now, last !== undefined && now < last.at + last.waitMs ? last.waitMs : undefined);
}

/** Applies a refusal to an open circuit: of its probe, it delays the next one; other requests left before it opened. */
export function refuseProbe<C extends Circuit>(kind: BreakerKind, circuit: C, now: number): C {
  return circuit.probe === "sent" ? { ...circuit, ...waiting(kind, circuit.since, now, circuit.waitMs), probe: undefined } : circuit;
}

/** Marks a request that asks for admission as the probe: until it is released or sent, no other request passes. */
export function claimProbe<C extends Circuit>(circuit: C): C {
  return { ...circuit, probe: "claimed" };
}

/** Takes back an unused claim, or ends a probe that decided nothing: the circuit is open as before. */
export function releaseProbe<C extends Circuit>(circuit: C): C {
  return { ...circuit, probe: undefined };
}

/** Half-opens a circuit: its probe leaves. Without an answer that decides, the next one is due after the kind's delay. */
export function sendProbe<C extends Circuit>(kind: BreakerKind, circuit: C, now: number): C {
  const { undecidedMs = circuit.waitMs }: Kind = BREAKERS[kind];
  return { ...circuit, probe: "sent", probeAt: now + undecidedMs };
}

/** True if one request may pass as the probe. */
export function isProbeDue({ probe, probeAt }: Circuit, now: number): boolean {
  return probe !== "claimed" && probeAt !== undefined && probeAt <= now;
}

/** True if a probe with this outcome closes a circuit of this kind. */
export function isClosedBy(kind: BreakerKind, outcome: Outcome["class"]): boolean {
  const { closedBy }: Kind = BREAKERS[kind];
  return closedBy.includes(outcome);
}

function waiting(kind: BreakerKind, since: number, now: number, lastWaitMs: number | undefined): Circuit {
  const waitMs = longerMs(BREAKERS[kind].delays, lastWaitMs);
  return { since, probeAt: now + waitMs, waitMs };
}

/** The reason for which requests of one operation, or all of one specialist, do not leave. */
export interface RefusalClass {
  readonly rule: BreakerRule;
  /** `account_stopped`, `challenge`, `payment_required`, `operation_missing`, `forbidden`, `unreadable`. */
  readonly code: AnyCode;
  readonly message: string;
  /** The affected specialist; undefined for all. */
  readonly handle: string | undefined;
  /** Undefined if it applies to all operations. */
  readonly operation: string | undefined;
}

/** An open circuit with its cause, as shown and explained. */
export interface OpenBreaker extends RefusalClass {
  readonly since: number;
  /** Time of the probe; undefined if only a person closes the breaker. */
  readonly probeAt: number | undefined;
}
