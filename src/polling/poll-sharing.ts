/** Decides if keys may share polls of a public list: only while they have been seen to get the same one. */

import { MAX_INTERVAL_MS } from "../limits/poll-budget.ts";

/** Lists with fewer items in common prove nothing. */
export const LEAST_COMMON = 3;
/** Agreements needed at first, and again after a contradiction (a single one may be an item deleted between two polls). */
const TRUST_FIRST = 1;
const TRUST_AGAIN = 3;
/** Polls further apart than this are not compared: a list may have moved on too far. */
export const COMPARABLE_MS = 15 * 60_000;

/** Knowledge of one list of one network. */
export interface Sharing {
  readonly agreements: number;
  readonly needed: number;
}

export const UNPROVEN: Sharing = { agreements: 0, needed: TRUST_FIRST };

export function isShared(sharing: Sharing): boolean {
  return sharing.agreements >= sharing.needed;
}

/** Compares two polls of the same list by different keys, newest first. */
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
 * Items that came after the earlier poll precede the first common item, items that left the page follow the last: between them both lists
 * must be equal.
 */
export function agreement(one: readonly string[], other: readonly string[]): "same" | "different" | "unclear" {
  const inOne = between(one, new Set(other));
  const inOther = between(other, new Set(one));
  if (inOne.length === 0) return "unclear";
  const same = inOne.length === inOther.length && inOne.every((id, i) => id === inOther[i]);
  if (!same) return "different";
  return inOne.length >= LEAST_COMMON ? "same" : "unclear";
}

/** A planned poll of one key, and the interval of its polls. */
export interface PlannedPoll {
  readonly at: number;
  readonly everyMs: number;
}

/** A poll may move by this share of its interval, so that all polls are spread evenly. */
const SHIFT = 0.25;

/**
 * The time of the next poll of a key with interval `everyMs`, for the earliest discovery of new items: the middle of the widest gap between
 * the others' polls near its own choice.
 */
export function placePoll(now: number, everyMs: number, others: readonly PlannedPoll[]): number {
  const wanted = now + everyMs;
  const [from, to] = [wanted - SHIFT * everyMs, Math.max(wanted, Math.min(now + MAX_INTERVAL_MS, wanted + SHIFT * everyMs))];
  // Each returns after its own interval; our own polls bound the list.
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
