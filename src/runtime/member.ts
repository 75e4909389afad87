/** A specialist at work: its definition and the little that is kept of it in memory. Truth is in the rows. */
import type { Lane } from "../contract/operations.ts";
import type { TierLimits } from "../contract/tiers.ts";
import type { KeyId } from "../core/ids.ts";
import type { Nudge } from "../inbox/port.ts";
import { floorsOf } from "../limits/check.ts";
import type { LaneFloors } from "../limits/lanes.ts";
import type { OperationRules } from "../specialist/rules.ts";
import type { Specialist } from "../specialist/specialist.ts";

/** Why a lane sends nothing now. Kept in memory only: the rows say the same when asked again. */
export interface LaneWait {
  readonly until: number;
  readonly since: number;
  readonly rule: string;
  readonly message: string;
}

export interface Member {
  specialist: Specialist;
  rules: OperationRules;
  /** The network's id of the account, once given or learnt. */
  accountId: string | undefined;
  /** When it joined this process. */
  readonly enlistedAt: number;
  /** When the network is next asked for the account, where it is not known. */
  askAccountAt: number;
  keyId: KeyId | undefined;
  /** Why its key cannot be used: missing, unreadable, or refused by the network as it is now. */
  keyTrouble: { readonly code: string; readonly message: string; readonly since: number } | undefined;
  limits: TierLimits;
  floors: LaneFloors;
  readonly waits: Map<Lane, LaneWait>;
  /** Intents being sent, by row number: no second send starts for them. */
  readonly flying: Set<number>;
  /** Since when, on the monotonic clock, this process has known of each attempt in doubt (`seq/attempt`). */
  readonly doubtsSince: Map<string, number>;
  /** What is at work for it now; each part runs once at a time. */
  readonly busy: Set<Part>;
  /** Parts asked for while they were at work: they run once more. */
  readonly again: Set<Part>;
  /** Looks asked for by deliveries while a pass that makes them was reading: they are made again after it. */
  missedNudges: readonly Nudge[];
  /** The earliest time something of it is due, as last armed. */
  dueAt: number;
  /** Set once it was removed: it drains what it owes and begins nothing new. */
  retired: boolean;
}

/** What can be at work for a specialist. */
export const PARTS = ["deliveries", "events", "intents", "doubts", "schedules", "sources", "watches"] as const;
export type Part = (typeof PARTS)[number];

export function createMember(specialist: Specialist, rules: OperationRules, limits: TierLimits, now: number): Member {
  return {
    specialist,
    rules,
    accountId: specialist.id,
    enlistedAt: now,
    askAccountAt: 0,
    keyId: undefined,
    keyTrouble: undefined,
    limits,
    floors: floorsOf(specialist.lanes),
    waits: new Map(),
    flying: new Set(),
    doubtsSince: new Map(),
    busy: new Set(),
    again: new Set(),
    missedNudges: [],
    dueAt: Infinity,
    retired: false,
  };
}
