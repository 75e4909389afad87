/** A specialist at work: its definition and the little that is kept of it in memory. Truth is in the rows. */
import type { AnyCode } from "../core/error-codes.ts";
import { LANES, type Lane } from "../contract/operations.ts";
import type { NetworkRecord, Post } from "../contract/records.ts";
import type { TierLimits } from "../contract/tiers.ts";
import type { KeyId } from "../core/ids.ts";
import { floorsOf, type LaneFloors } from "../limits/lanes.ts";
import { WORK_KINDS, type WorkKind } from "../store/sources.ts";
import type { OperationRules } from "../specialist/operation-rules.ts";
import type { Specialist } from "../specialist/specialist.ts";
import type { Nudge } from "../store/deliveries.ts";
import type { Proof } from "../store/outbox.ts";

/** Why a lane sends nothing now. Kept in memory only: the rows say the same when asked again. */
export interface LaneWait {
  readonly until: number;
  readonly since: number;
  readonly rule: string;
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

export interface PostRead {
  readonly post: Post;
  /** On the monotonic clock, in ms. */
  readonly at: number;
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
  /** Lanes that send nothing now. Empty collections are left out: nearly all members are idle, and theirs would be a fifth of what they weigh. */
  waits: Map<Lane, LaneWait> | undefined;
  /** Intents being sent, by row number: no second send starts for them. */
  inFlight: Set<number> | undefined;
  /** What this process knows of each attempt in doubt (`seq/attempt`). */
  doubts: Map<string, OpenDoubt> | undefined;
  /** Lists that are read back, by operation, while the quota has no room for the rest. */
  readings: Map<string, ListReading> | undefined;
  /** What is at work for it now, one bit for each part, see `bitOf`; each runs once at a time. */
  busy: number;
  /** Parts asked for while they were at work, as bits: they run once more. */
  again: number;
  /** Parts to be asked at the next look whatever the rows say, as bits: at first all of them, later what failed. */
  unchecked: number;
  /** Looks asked for by deliveries while a pass that makes them was reading: they are made again after it. */
  missedNudges: readonly Nudge[];
  /** Posts that deliveries made us read a moment ago, the newest last. */
  postsRead: readonly PostRead[];
  /** Deliveries wait until its events have been handled. */
  deliveriesDeferred: boolean;
  /** Set once its first passes were begun. */
  begun: boolean;
  /** How often the Guardian's word has freed what waited: a wait that was found before the last word no longer counts. */
  ordersSeen: number;
  /** When the rows were last asked what is due. */
  checkedAt: number;
  /** Set once it was removed: it drains what it owes and begins nothing new. */
  retired: boolean;
}

const BITS = Object.fromEntries(WORK_KINDS.map((part, i) => [part, 1 << i])) as { readonly [part in WorkKind]: number };
export const ALL_WORK = (1 << WORK_KINDS.length) - 1;

/** A part's place in `busy`, `again` and `unasked`. */
export function bitOf(part: WorkKind): number {
  return BITS[part];
}

const NO_NUDGES: readonly Nudge[] = [];
const NO_POSTS: readonly PostRead[] = [];

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
    inFlight: undefined,
    doubts: undefined,
    readings: undefined,
    busy: 0,
    again: 0,
    unchecked: ALL_WORK,
    missedNudges: NO_NUDGES,
    postsRead: NO_POSTS,
    deliveriesDeferred: false,
    begun: false,
    ordersSeen: 0,
    checkedAt: 0,
    retired: false,
  };
}

/** Forgets the waits of lanes that are over. */
export function endWaits(member: Member, isOver: (wait: LaneWait) => boolean): void {
  const { waits } = member;
  if (waits === undefined) return;
  for (const [lane, wait] of waits) if (isOver(wait)) waits.delete(lane);
  if (waits.size === 0) member.waits = undefined;
}

/** Lanes that may send now. */
export function freeLanes({ waits }: Member): readonly Lane[] {
  return waits === undefined ? LANES : LANES.filter((lane) => !waits.has(lane));
}

/** Whether a part is at work. */
export function isBusy(member: Member, part: WorkKind): boolean {
  return (member.busy & bitOf(part)) !== 0;
}

/** An intent is being sent. */
export function addInFlight(member: Member, seq: number): void {
  (member.inFlight ??= new Set()).add(seq);
}

/** Its sending is over. */
export function removeInFlight(member: Member, seq: number): void {
  member.inFlight?.delete(seq);
  if (member.inFlight?.size === 0) member.inFlight = undefined;
}
