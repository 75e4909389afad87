/**
 * Lanes share one key's quota by the purpose of requests.
 *
 * Each lane has a *floor*, a guaranteed share of the limit. One fifth of a floor is *kept*: no other lane ever takes it, so a quiet lane
 * can always act at once. The rest of an unused floor is lent until its lane asks for it: a lane that was refused below its floor is
 * *waiting*, and requests that the window frees are left to the waiting lanes (the emptiest first) before any borrower gets more. So no
 * lane starves, whichever asks first or most often. Obligations (noticing and delivering accepted work, reading back doubts) also have a
 * *reserve* that grows with the number of obligations and that no other lane touches, however much they have used; up to it they leave
 * nothing to others.
 */
import { LANES, type Lane } from "../contract/operations.ts";
import { slotIndex } from "./window-counts.ts";

/** Guaranteed shares in per cent of the limit; at most 100 together. */
export type LaneFloors = { readonly [lane in Lane]: number };

export const DEFAULT_FLOORS: LaneFloors = { obligation: 25, reply: 25, act: 15, watch: 10, poll: 20, explore: 5 };

/** Fills in missing floors: lanes that are not named share the remainder, in their default proportions. */
export function floorsOf(given: { readonly [lane in Lane]?: number | undefined } = {}): LaneFloors {
  if (LANES.every((lane) => given[lane] === undefined)) return DEFAULT_FLOORS;
  const named = LANES.reduce((sum, lane) => sum + (given[lane] ?? 0), 0);
  const usual = LANES.reduce((sum, lane) => sum + (given[lane] === undefined ? DEFAULT_FLOORS[lane] : 0), 0);
  const share = usual === 0 ? 0 : Math.max(0, Math.min(1, (100 - named) / usual));
  const floor = (lane: Lane): number => given[lane] ?? DEFAULT_FLOORS[lane] * share;
  return {
    obligation: floor("obligation"),
    reply: floor("reply"),
    act: floor("act"),
    watch: floor("watch"),
    poll: floor("poll"),
    explore: floor("explore"),
  };
}

/**
 * The part of a limit of the network's own that a lane leaves to more urgent ones among those that the limit counts: their floors, and at
 * least one request for what is owed. A limit of one request is nobody's.
 */
export function leftToOthers(max: number, lane: Lane, lanes: readonly Lane[] = []): number {
  const urgent = LANES.slice(0, LANES.indexOf(lane)).filter((one) => lanes.includes(one));
  const floor = (one: Lane): number => Math.max(one === "obligation" ? 1 : 0, Math.floor((max * DEFAULT_FLOORS[one]) / 100));
  return max < 2 ? 0 : urgent.reduce((sum, one) => sum + floor(one), 0);
}

/** The part of a floor that is never lent. */
export const KEPT_SHARE = 0.2;
/** Requests to read back one action in doubt: two complete checks and a spare. Always reserved. */
export const READ_BACK_CALLS = 3;
/** Checks until an application is seen to be assigned. */
export const NOTICE_CALLS = 3;
/** Requests of one application until its delivery: the checks, and the submission. */
export const CALLS_PER_OBLIGATION = NOTICE_CALLS + 1;

/** Floors and kept parts as whole requests, by slot index. External calls have neither. */
export interface LaneShares {
  readonly limit: number;
  readonly floors: readonly number[];
  readonly kept: readonly number[];
}

const OBLIGATION = slotIndex("obligation");

/**
 * Whole requests of a limit. Rounded down for floors (they never exceed the limit), up for kept parts. Obligations have at least the
 * requests that reading back needs, whatever the floors say.
 */
export function laneShares(limit: number, floors: LaneFloors = DEFAULT_FLOORS): LaneShares {
  const name = `${limit} ${LANES.map((lane) => floors[lane]).join(" ")}`;
  let shares = known.get(name);
  if (shares === undefined) {
    if (known.size >= MAX_KNOWN) known.clear();
    known.set(name, (shares = newShares(limit, floors)));
  }
  return shares;
}

/** Shared between keys: thousands of keys have few different shares, and these are a third of an idle key's memory. */
const known = new Map<string, LaneShares>();
const MAX_KNOWN = 256;

function newShares(limit: number, floors: LaneFloors): LaneShares {
  const readBack = Math.min(READ_BACK_CALLS, Math.floor(limit / 2));
  const whole = LANES.map((lane) => Math.max(lane === "obligation" ? readBack : 0, Math.floor((limit * floors[lane]) / 100)));
  return { limit, floors: whole, kept: whole.map((floor) => Math.ceil(floor * KEPT_SHARE)) };
}

/** Most of the reserve, in floors of the obligations lane: half of the hour. */
const MOST_FLOORS = 2;

/** Requests reserved for `obligations`, whatever they have used already. */
export function obligationReserve(shares: LaneShares, obligations: number): number {
  const floor = shares.floors[OBLIGATION] ?? 0;
  const most = obligations === 0 ? floor : Math.min(MOST_FLOORS * floor, Math.floor(shares.limit / 2));
  return Math.min(READ_BACK_CALLS + CALLS_PER_OBLIGATION * obligations, most);
}

/** Requests that the hour must have left for one more application: those of all jobs that are expected to need them in this hour. */
export function applyingReserve(shares: LaneShares, soon: number, noticeCalls = NOTICE_CALLS): number {
  return soon <= 1 ? obligationReserve(shares, soon) : READ_BACK_CALLS + (noticeCalls + 1) * soon;
}

/** Number of obligations that the reserve can cover; further applications wait until some are completed. */
export function maxObligations(shares: LaneShares): number {
  return Math.max(1, Math.floor(((shares.floors[OBLIGATION] ?? 0) - READ_BACK_CALLS) / CALLS_PER_OBLIGATION));
}

/** Usage of the other lanes. */
export interface LaneUse {
  /** Requests by slot, in flight included. */
  readonly used: readonly number[];
  readonly total: number;
  /** Reserved for obligations, see {@link obligationReserve}. */
  readonly reserve: number;
  /** True for lanes that were refused recently. */
  readonly waiting: readonly boolean[];
}

/** Requests a lane may take now: the limit, less all usage, less the share left to others. May be negative. */
export function laneRoom({ limit, floors, kept }: LaneShares, lane: number, { used, total, reserve, waiting }: LaneUse): number {
  const floor = floors[lane] ?? 0;
  const mine = used[lane] ?? 0;
  const isOwed = reserve > Math.min(READ_BACK_CALLS, floors[OBLIGATION] ?? 0);
  if (lane === OBLIGATION && isOwed) return limit - total;
  if (lane === OBLIGATION && mine < floor + reserve) return Math.min(limit - total, floor + reserve - mine);
  const fill = mine < floor ? mine / floor : Infinity;
  let room = limit - total;
  for (let other = 0; other < floors.length; other++) {
    if (other === lane) continue;
    const theirs = used[other] ?? 0;
    const theirFloor = floors[other] ?? 0;
    let left = 0;
    // Two lanes below their floor do not block each other: the emptier one goes first.
    if (theirs < theirFloor && theirs / theirFloor < fill)
      left = waiting[other] === true ? theirFloor - theirs : Math.min(theirFloor - theirs, kept[other] ?? 0);
    if (other !== OBLIGATION) room -= left;
    else room -= Math.max(left, isOwed ? reserve : Math.min(reserve, theirFloor + reserve - theirs));
  }
  return room;
}
