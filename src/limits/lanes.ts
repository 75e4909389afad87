/**
 * Lanes: how one key's quota is shared by what requests are for.
 *
 * Each lane has a *floor*, a guaranteed share of the limit. One fifth of a floor is *kept*: nobody else ever
 * takes it, so a quiet lane can always act at once. The rest of an unused floor is lent. What comes back as the
 * window moves on goes to the lanes below their floor first, the emptiest of them before the others, and only
 * then to borrowers. So a lane with demand below its floor is served by every request that frees: nothing starves.
 * Obligations (delivering what was promised, reading back what is in doubt) also have a *reserve* that grows with
 * what is owed and that no other lane touches.
 */
import { LANES, type Lane } from "../contract/operations.ts";
import { slotIndex } from "./cells.ts";

/** Guaranteed shares in per cent of the limit; at most 100 together. */
export type LaneFloors = { readonly [lane in Lane]: number };

export const DEFAULT_FLOORS: LaneFloors = { obligation: 25, reply: 25, act: 15, watch: 10, poll: 20, explore: 5 };

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

/** Whole requests of a limit. Rounded down for floors (they never pass the limit), up for what is kept. */
export function laneShares(limit: number, floors: LaneFloors = DEFAULT_FLOORS): LaneShares {
  const whole = LANES.map((lane) => Math.floor((limit * floors[lane]) / 100));
  return { limit, floors: whole, kept: whole.map((floor) => Math.ceil(floor * KEPT_SHARE)) };
}

/** Requests set aside for `obligations` things owed, capped by the obligations' own floor so that no other floor is eaten. */
export function obligationReserve(shares: LaneShares, obligations: number): number {
  const wanted = READ_BACK_CALLS + CALLS_PER_OBLIGATION * obligations;
  return Math.min(wanted, Math.max(shares.floors[OBLIGATION] ?? 0, READ_BACK_CALLS), Math.floor(shares.limit / 2));
}

/** How many obligations the reserve can cover; applying for more has to wait until some are settled. */
export function maxObligations(shares: LaneShares): number {
  return Math.max(1, Math.floor(((shares.floors[OBLIGATION] ?? 0) - READ_BACK_CALLS) / CALLS_PER_OBLIGATION));
}

/**
 * How many requests a lane may take now: the limit, less what is used by anyone, less what is kept for others.
 * `used` counts by slot and includes requests in flight. May be negative.
 */
export function laneRoom(shares: LaneShares, used: readonly number[], total: number, lane: number, reserve: number): number {
  const { floors, kept } = shares;
  const floor = floors[lane] ?? 0;
  const mine = used[lane] ?? 0;
  const fill = mine < floor ? mine / floor : Infinity;
  let room = shares.limit - total;
  for (let other = 0; other < floors.length; other++) {
    if (other === lane) continue;
    const unused = (floors[other] ?? 0) - (used[other] ?? 0);
    let keep = unused > 0 ? Math.min(unused, kept[other] ?? 0) : 0;
    // Two lanes below their floor do not hold each other up: the emptier one goes first.
    if (keep > 0 && (used[other] ?? 0) / (floors[other] ?? 1) >= fill) keep = 0;
    if (other === OBLIGATION) keep = Math.max(keep, reserve);
    room -= keep;
  }
  return room;
}
