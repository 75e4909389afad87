/** How often to look: from what the tier sustains, slower after empty looks, faster after news. */
import { DAY, MINUTE, SECOND } from "../core/units.ts";
import type { Member } from "./member.ts";
import type { Parts } from "./parts.ts";

/** Lists together may use this share of the day's requests. */
const POLL_SHARE = 0.25;
const FASTEST_MS = SECOND;
const SLOWEST_MS = 30 * MINUTE;
const SLOWER = 1.5;
const FASTER = 0.5;
/** However long nothing happens, a list is looked at at least this much more rarely than its fair share. */
const MOST_SLOWED = 8;
const JITTER = 0.1;

export interface Look {
  /** The present pause between two looks; undefined before the first. */
  readonly intervalMs: number | undefined;
  readonly emptyLooks: number;
}

/** One request in this time could go on for ever. */
export function sustainableMs(_parts: Parts, member: Member): number {
  return DAY / member.limits.perDay;
}

/** When to look again, for one of `lists` lists that share the specialist's polling. */
export function nextLook(
  parts: Parts,
  member: Member,
  look: Look,
  news: boolean,
  lists: number,
): { readonly delayMs: number; readonly intervalMs: number; readonly emptyLooks: number } {
  const fair = Math.max(FASTEST_MS, (sustainableMs(parts, member) * Math.max(1, lists)) / POLL_SHARE);
  const slowest = Math.max(fair, Math.min(SLOWEST_MS, fair * MOST_SLOWED));
  const wanted = (look.intervalMs ?? fair) * (news ? FASTER : SLOWER);
  const { state } = parts.health.of(member.specialist.handle);
  // Healthy webhooks leave polls to find what was lost; once they have lost too much, polls slow down no more.
  const longest = state === "unhealthy" ? fair : slowest;
  const intervalMs = state === "healthy" ? slowest : Math.min(longest, Math.max(fair * FASTER, wanted));
  const jitter = 1 + JITTER * (2 * parts.random.next() - 1);
  return { delayMs: Math.round(intervalMs * jitter), intervalMs: Math.round(intervalMs), emptyLooks: news ? 0 : look.emptyLooks + 1 };
}
