/** Whether keys may share looks at a public list: only once they have been seen to get the same one, and no longer than that. */

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

function between(list: readonly string[], common: ReadonlySet<string>): readonly string[] {
  const first = list.findIndex((id) => common.has(id));
  const last = list.findLastIndex((id) => common.has(id));
  return first < 0 ? [] : list.slice(first, last + 1);
}
