/** What the outbox keeps in memory only; the rows say where each intent stood. */
import type { NetworkRecord } from "../contract/records.ts";
import type { Member } from "../gateway/member.ts";
import { perMember, type PerMember } from "../gateway/per-member.ts";
import type { Proof } from "../store/outbox.ts";

export interface OutboxMemory {
  /** Intents being sent, by row number: no second send starts for them. */
  readonly inFlight: PerMember<Set<number>>;
  /** What this process knows of each attempt in doubt (`seq/attempt`). */
  readonly doubts: PerMember<Map<string, OpenDoubt>>;
  /** Lists that are read back, by operation, while the quota has no room for the rest. */
  readonly readings: PerMember<Map<string, ListReading>>;
}

/** An attempt in doubt, in times of the monotonic clock. */
export interface OpenDoubt {
  readonly knownAt: number;
  /** The look that is due, and may wait for room in the quota. */
  look: WantedCheck | undefined;
}

export interface WantedCheck {
  /** A list that was begun to be read since then shows what the look would have shown. */
  readonly since: number;
  /** Confirmed actions looked at for it, to see whether reading back works. */
  controls: number;
  proof: Proof | undefined;
}

/** As far as a list was read. */
export interface ListReading {
  readonly begunAt: number;
  readonly records: NetworkRecord[];
  pages: number;
  /** Items that could not be read: one may be what is looked for. */
  unread: number;
  cursor: string | undefined;
  /** How old what was read goes, where the list says so. */
  reachesTo: number;
  end: "more" | "all" | "cut-off";
  skewMs: number | undefined;
  networkAt: number | undefined;
}

export function createOutboxMemory(): OutboxMemory {
  return {
    inFlight: perMember(() => new Set<number>()),
    doubts: perMember(() => new Map<string, OpenDoubt>()),
    readings: perMember(() => new Map<string, ListReading>()),
  };
}

/** Its sending is over. */
export function removeInFlight({ inFlight }: OutboxMemory, member: Member, seq: number): void {
  inFlight.find(member)?.delete(seq);
  inFlight.tidy(member);
}
