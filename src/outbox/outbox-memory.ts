/** The outbox's state in memory; the rows hold the state of each intent. */
import type { NetworkRecord } from "../contract/records.ts";
import { perMember, type PerMember } from "../gateway/per-member.ts";
import type { Proof } from "../store/outbox.ts";

export interface OutboxMemory {
  /** Numbers of the intents being sent: no second send starts for them. */
  readonly inFlight: Set<number>;
  /** This process's state of each attempt in doubt (`seq/attempt`). */
  readonly doubts: PerMember<Map<string, OpenDoubt>>;
  /** Lists being read back, by operation, while the quota has no room for the rest. */
  readonly readings: PerMember<Map<string, ListReading>>;
  /** Operations with actions that were parked for want of a proof: true if the next confirmed action reopens them. */
  readonly unproven: PerMember<Map<string, boolean>>;
}

/** An attempt in doubt, in times of the monotonic clock. */
export interface OpenDoubt {
  readonly knownAt: number;
  /** The due check, which may wait for room in the quota. */
  check: WantedCheck | undefined;
}

export interface WantedCheck {
  /** A list whose first page was read after this time shows the effect, if there is one. */
  readonly since: number;
  /** Confirmed actions checked for it, to prove that reading back works. */
  controls: number;
  proof: Proof | undefined;
}

/** A list as far as it was read. */
export interface ListReading {
  readonly begunAt: number;
  readonly records: NetworkRecord[];
  /** Ids of the records. */
  readonly seen: Set<string>;
  pages: number;
  /** Unreadable items: one may be the sought one. */
  unread: number;
  cursor: string | undefined;
  /** Age of the oldest item read, if the list states it. */
  reachesTo: number;
  end: "more" | "all" | "cut-off";
  skewMs: number | undefined;
  networkAt: number | undefined;
}

export function createOutboxMemory(): OutboxMemory {
  return {
    inFlight: new Set(),
    doubts: perMember(() => new Map<string, OpenDoubt>()),
    readings: perMember(() => new Map<string, ListReading>()),
    unproven: perMember(() => new Map<string, boolean>()),
  };
}
