/** A specialist at work: its definition and the little that is kept of it in memory. Truth is in the rows. */
import type { AnyCode } from "../core/error-codes.ts";
import { LANES, type Lane } from "../contract/operations.ts";
import type { TierLimits } from "../contract/tiers.ts";
import type { KeyId } from "../core/ids.ts";
import { floorsOf, type LaneFloors } from "../limits/lanes.ts";
import type { WaitRule } from "../limits/wait-rules.ts";
import type { OperationRules } from "../specialist/operation-rules.ts";
import type { Specialist } from "../specialist/specialist.ts";

/** Why a lane sends nothing now. Kept in memory only: the rows say the same when asked again. */
export interface LaneWait {
  readonly until: number;
  readonly since: number;
  readonly rule: WaitRule;
  readonly message: string;
}

/** Why a key cannot be used: missing, unreadable, or refused by the network as it is now. */
export interface KeyTrouble {
  readonly code: AnyCode;
  readonly message: string;
  readonly since: number;
  readonly probe?: KeyProbe;
}

/** When one read tries a refused key again, and the pause that ends then. */
export interface KeyProbe {
  readonly at: number;
  readonly waitMs: number;
}

/** Handlings that failed one after the other, since the last one that did not. */
export interface FailureStreak {
  readonly tries: number;
  readonly since: number;
  /** Of the last one; the beginning of its message. */
  readonly kind: string;
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
  keyTrouble: KeyTrouble | undefined;
  limits: TierLimits;
  floors: LaneFloors;
  /** Lanes that send nothing now; undefined where there are none, as for nearly all members at any moment. */
  waits: Map<Lane, LaneWait> | undefined;
  /** Actions that the handlers of each kind of event have decided on since a list was last looked at for it. */
  acted: Map<string, number> | undefined;
  /** How often the Guardian's word has freed what waited: a wait that was found before the last word no longer counts. */
  ordersSeen: number;
  /** How its handlings go; undefined before the first has ended in this process. */
  handling: "works" | FailureStreak | undefined;
  /** Set once it was removed: it drains what it owes and begins nothing new. */
  retired: boolean;
}

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
    waits: undefined,
    acted: undefined,
    ordersSeen: 0,
    handling: undefined,
    retired: false,
  };
}

/** Its definition has changed: what is at work for it finishes on the old one. */
export function redefine(member: Member, specialist: Specialist, rules: OperationRules, limits: TierLimits): void {
  member.specialist = specialist;
  member.rules = rules;
  member.limits = limits;
  member.floors = floorsOf(specialist.lanes);
  member.retired = false;
  member.keyId = undefined; // registered again: tier and floors may have changed
}

/** A lane sends nothing for now. Since when is kept from the wait before. */
export function holdLane(member: Member, lane: Lane, wait: LaneWait): void {
  const waits = (member.waits ??= new Map<Lane, LaneWait>());
  waits.set(lane, { ...wait, since: waits.get(lane)?.since ?? wait.since });
}

/** Forgets the waits of lanes that are over. */
export function endWaits(member: Member, isOver: (wait: LaneWait) => boolean): void {
  const { waits } = member;
  if (waits === undefined) return;
  for (const [lane, wait] of waits) if (isOver(wait)) waits.delete(lane);
  if (waits.size === 0) member.waits = undefined;
}

/** The handler of an event has decided on something. */
export function addActs(member: Member, kind: string, acts: number): void {
  const acted = (member.acted ??= new Map<string, number>());
  acted.set(kind, (acted.get(kind) ?? 0) + acts);
}

/** Lanes that may send now. */
export function freeLanes({ waits }: Member): readonly Lane[] {
  return waits === undefined ? LANES : LANES.filter((lane) => !waits.has(lane));
}
