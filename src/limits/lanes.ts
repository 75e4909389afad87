/**
 * Lanes: how one key's quota is shared by what requests are for.
 *
 * Each lane has a *floor*, a guaranteed share of the limit. One fifth of a floor is *kept*: nobody else ever
 * takes it, so a quiet lane can always act at once. The rest of an unused floor is lent until its lane asks for it:
 * a lane that was refused below its floor is *waiting*, and what comes back as the window moves on is left to the
 * waiting (the emptiest first) before any borrower gets more. So nothing starves, whoever asks first or oftenest.
 * Obligations (delivering what was promised, reading back what is in doubt) also have a *reserve* on top of their
 * floor that grows with what is owed and that no other lane touches; up to both they need not leave anything to others.
 */
import { LANES, type Lane } from "../contract/operations.ts";
import { slotIndex } from "./window-cells.ts";

/** Guaranteed shares in per cent of the limit; at most 100 together. */
export type LaneFloors = { readonly [lane in Lane]: number };

export const DEFAULT_FLOORS: LaneFloors = { obligation: 25, reply: 25, act: 15, watch: 10, poll: 20, explore: 5 };

/** Floors with what is left out filled in: lanes not named share what the named ones leave, in their usual proportion. */
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

/** The part of a floor that is never lent. */
export const KEPT_SHARE = 0.2;
/** What reading back one action in doubt needs: two complete looks and a spare. Always reserved. */
export const READ_BACK_CALLS = 3;
/** What delivering one job needs: look at it, submit, look again, and a spare. */
export const CALLS_PER_OBLIGATION = 4;

/** Floors and kept parts as whole requests, by slot index. Foreign calls have neither. */
export interface LaneShares {
  readonly limit: number;
  readonly floors: readonly number[];
  readonly kept: readonly number[];
}

const OBLIGATION = slotIndex("obligation");

/**
 * Whole requests of a limit. Rounded down for floors (they never pass the limit), up for what is kept.
 * Obligations have at least what reading back needs, whatever the floors say.
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

/** Few differ among thousands of keys, so keys share them: it is a third of what an idle key takes. */
const known = new Map<string, LaneShares>();
const MAX_KNOWN = 256;

function newShares(limit: number, floors: LaneFloors): LaneShares {
  const readBack = Math.min(READ_BACK_CALLS, Math.floor(limit / 2));
  const whole = LANES.map((lane) => Math.max(lane === "obligation" ? readBack : 0, Math.floor((limit * floors[lane]) / 100)));
  return { limit, floors: whole, kept: whole.map((floor) => Math.ceil(floor * KEPT_SHARE)) };
}

/** Requests set aside for `obligations` things owed, capped by the obligations' own floor so that no other floor is eaten. */
export function obligationReserve(shares: LaneShares, obligations: number): number {
  return Math.min(READ_BACK_CALLS + CALLS_PER_OBLIGATION * obligations, shares.floors[OBLIGATION] ?? 0);
}

/** How many obligations the reserve can cover; applying for more has to wait until some are settled. */
export function maxObligations(shares: LaneShares): number {
  return Math.max(1, Math.floor(((shares.floors[OBLIGATION] ?? 0) - READ_BACK_CALLS) / CALLS_PER_OBLIGATION));
}

/** What a lane wants to know of the others. */
export interface LaneUse {
  /** Requests by slot, in flight included. */
  readonly used: readonly number[];
  readonly total: number;
  /** Set aside for obligations, see {@link obligationReserve}. */
  readonly reserve: number;
  /** By lane: whether it was lately refused. */
  readonly waiting: readonly boolean[];
}

/** How many requests a lane may take now: the limit, less what anyone used, less what is left to others. May be negative. */
export function laneRoom({ limit, floors, kept }: LaneShares, lane: number, { used, total, reserve, waiting }: LaneUse): number {
  const floor = floors[lane] ?? 0;
  const mine = used[lane] ?? 0;
  if (lane === OBLIGATION && mine < floor + reserve) return Math.min(limit - total, floor + reserve - mine);
  const fill = mine < floor ? mine / floor : Infinity;
  let room = limit - total;
  for (let other = 0; other < floors.length; other++) {
    if (other === lane) continue;
    const theirs = used[other] ?? 0;
    const theirFloor = floors[other] ?? 0;
    let left = 0;
    // Two lanes below their floor do not hold each other up: the emptier one goes first.
    if (theirs < theirFloor && theirs / theirFloor < fill)
      left = waiting[other] === true ? theirFloor - theirs : Math.min(theirFloor - theirs, kept[other] ?? 0);
    room -= other === OBLIGATION ? Math.max(left, Math.min(reserve, theirFloor + reserve - theirs)) : left;
  }
  return room;
}
