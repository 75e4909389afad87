/** Whether keys may share looks at a public list: only once they have been seen to get the same one, and no longer than that. */

import { MAX_INTERVAL_MS } from "../limits/poll-budget.ts";

/** Lists with fewer items in common prove nothing. */
export const LEAST_COMMON = 3;
/** Agreements needed at first, and again after a contradiction (one may be an item deleted between two looks). */
const TRUST_FIRST = 1;
const TRUST_AGAIN = 3;
/** Two looks further apart than this are not compared: a list may have moved on too far. */
export const COMPARABLE_MS = 15 * 60_000;

/** What is known of one list of one network. */
export interface Sharing {
  readonly agreements: number;
  readonly needed: number;
}

export const UNPROVEN: Sharing = { agreements: 0, needed: TRUST_FIRST };

export function isShared(sharing: Sharing): boolean {
  return sharing.agreements >= sharing.needed;
}

/** Two looks by different keys at the same list, newest first. */
export function compared(sharing: Sharing, one: readonly string[], other: readonly string[]): Sharing {
  switch (agreement(one, other)) {
    case "same":
      return { ...sharing, agreements: Math.min(sharing.agreements + 1, TRUST_AGAIN) };
    case "different":
      return { agreements: 0, needed: TRUST_AGAIN };
    case "unclear":
      return sharing;
  }
}

/**
 * What came since the earlier look stands before the first common item, what fell off the page behind the last: between
 * them both lists must be the same.
 */
export function agreement(one: readonly string[], other: readonly string[]): "same" | "different" | "unclear" {
  const inOne = between(one, new Set(other));
  const inOther = between(other, new Set(one));
  if (inOne.length === 0) return "unclear";
  const same = inOne.length === inOther.length && inOne.every((id, i) => id === inOther[i]);
  if (!same) return "different";
  return inOne.length >= LEAST_COMMON ? "same" : "unclear";
}

/** A look that one key plans at a list, and how far apart its looks are. */
export interface PlannedPoll {
  readonly at: number;
  readonly everyMs: number;
}

/** A look may be this share of its pause earlier or later, so that the looks of all lie evenly apart. */
const SHIFT = 0.25;

/**
 * When a key that looks every `everyMs` should look next, so that news waits as short as it can: in the middle of the
 * widest gap between the looks of the others near the time it would have chosen itself.
 */
export function placePoll(now: number, everyMs: number, others: readonly PlannedPoll[]): number {
  const wanted = now + everyMs;
  const [from, to] = [wanted - SHIFT * everyMs, Math.max(wanted, Math.min(now + MAX_INTERVAL_MS, wanted + SHIFT * everyMs))];
  // Each comes back after its own pause; before and after ours stand our own looks.
  const looks = [now, ...others.flatMap((other) => [other.at, other.at + other.everyMs]), now + 2 * everyMs]
    .filter((at) => at >= now && at <= now + 2 * everyMs)
    .sort((a, b) => a - b);
  let best = { at: wanted, apart: -1 };
  for (const [i, before] of looks.entries()) {
    const after = looks[i + 1];
    if (after === undefined || after < from || before > to) continue;
    const at = Math.min(to, Math.max(from, (before + after) / 2));
    const apart = Math.min(at - before, after - at);
    if (apart > best.apart || (apart === best.apart && Math.abs(at - wanted) < Math.abs(best.at - wanted))) best = { at, apart };
  }
  return Math.round(best.at);
}

function between(list: readonly string[], common: ReadonlySet<string>): readonly string[] {
  const first = list.findIndex((id) => common.has(id));
  const last = list.findLastIndex((id) => common.has(id));
  return first < 0 ? [] : list.slice(first, last + 1);
}
