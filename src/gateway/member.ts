/** A working specialist: its definition and a little state in memory. Truth is in the rows. */
import type { AnyCode } from "../core/error-codes.ts";
import { LANES, type Lane } from "../contract/operations.ts";
import type { TierLimits } from "../contract/tiers.ts";
import type { KeyId } from "../core/ids.ts";
import { floorsOf, type LaneFloors } from "../limits/lanes.ts";
import type { WaitRule } from "../limits/wait-rules.ts";
import type { Circuit } from "./breaker.ts";
import type { OperationRules } from "../specialist/operation-rules.ts";
import type { Specialist } from "../specialist/specialist.ts";

/** The reason for which a lane sends nothing now. In memory only: the rows give the same answer again. */
export interface LaneWait {
  readonly until: number;
  readonly since: number;
  readonly rule: WaitRule;
  readonly message: string;
}

/** The reason for which nothing is sent with a key: it is missing, unreadable, refused by the network, or shared with another specialist. */
export interface KeyTrouble {
  readonly code: AnyCode;
  readonly message: string;
  readonly since: number;
  /** Of a refused key. */
  readonly circuit?: Circuit;
}

/** Consecutive failed handlings. */
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
  /** Time at which it joined this process, or got its present definition. */
  enlistedAt: number;
  /** Time of the next request for the account, while its id is unknown. */
  askAccountAt: number;
  keyId: KeyId | undefined;
  keyTrouble: KeyTrouble | undefined;
  limits: TierLimits;
  floors: LaneFloors;
  /** Lanes that send nothing now; undefined if there are none, as for nearly all members. */
  waits: Map<Lane, LaneWait> | undefined;
  /** Number of Guardian's orders that released waiting work: a wait found before the last order no longer counts. */
  ordersSeen: number;
  /** Result of its handlings; undefined before the first has ended in this process. */
  handling: "works" | FailureStreak | undefined;
  /** Handlings under way by kind of event, and of all that run one after the other under an empty name; undefined if there never were any. */
  underWay: Map<string, number> | undefined;
  /** True once it was removed: it finishes its obligations and begins no new work. */
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
    ordersSeen: 0,
    handling: undefined,
    underWay: undefined,
    retired: false,
  };
}

/** Replaces its definition: running work finishes on the old one. */
export function redefine(member: Member, specialist: Specialist, rules: OperationRules, limits: TierLimits, now: number): void {
  member.specialist = specialist;
  member.enlistedAt = now;
  member.rules = rules;
  member.limits = limits;
  member.floors = floorsOf(specialist.lanes);
  member.retired = false;
  member.keyId = undefined; // registered again: tier and floors may have changed
}

/** Stops a lane for now. The start of an earlier wait is kept. */
export function holdLane(member: Member, lane: Lane, wait: LaneWait): void {
  const waits = (member.waits ??= new Map<Lane, LaneWait>());
  waits.set(lane, { ...wait, since: waits.get(lane)?.since ?? wait.since });
}

/** Removes the waits of lanes that are over. */
export function endWaits(member: Member, isOver: (wait: LaneWait) => boolean): void {
  const { waits } = member;
  if (waits === undefined) return;
  for (const [lane, wait] of waits) if (isOver(wait)) waits.delete(lane);
  if (waits.size === 0) member.waits = undefined;
}

/** Removes the waits whose time has come. */
export function endPastWaits(member: Member, now: number): void {
  if (member.waits !== undefined) endWaits(member, ({ until }) => until <= now);
}

/** Lanes that may send now. */
export function freeLanes({ waits }: Member): readonly Lane[] {
  return waits === undefined ? LANES : LANES.filter((lane) => !waits.has(lane));
}
