/** How often to look: derived from what is left of the quota, by yield, slower after empty looks and faster after news. */
import type { Lane } from "../contract/operations.ts";
import { numberIn, type JsonObject } from "../core/json.ts";
import { DAY, SECOND } from "../core/units.ts";
import { intervals, polled, NEW_SOURCE, type Source } from "../limits/poll-budget.ts";
import type { Member } from "../gateway/member.ts";
import type { PollingDependencies } from "./polling-dependencies.ts";

/** What a list's cursor keeps of how it did. */
export function readPace(stored: JsonObject | undefined): Source {
  return { pace: numberIn(stored, "pace") ?? NEW_SOURCE.pace, yield: numberIn(stored, "yield") ?? NEW_SOURCE.yield };
}

/** Requests a day that one lane of the specialist may plan with, as things stand: its part of what its key has. */
async function budgetOf({ store, clock, sharers }: PollingDependencies, member: Member, lane: Lane): Promise<number> {
  const { keyId, limits } = member;
  return keyId === undefined ? limits.perDay : (await store.laneBudget(keyId, lane, clock.now())) / sharers(member);
}

/** A list beside others that share the same polling. */
export interface PollResult {
  readonly source: Source;
  /** The event it is looked at for. */
  readonly kind: string;
}

/** After a look that brought `news`: when to look again, and how the list is doing. */
export async function nextPollAt(
  parts: PollingDependencies,
  member: Member,
  { source: before, kind }: PollResult,
  news: number,
  others: readonly PollResult[],
): Promise<{ readonly delayMs: number; readonly source: Source }> {
  const moved = polled(before, news);
  const { handle } = member.specialist;
  const { state } = parts.coverage.of(handle);
  // Webhooks that have lost too much are not trusted: polls slow down no more.
  const source = state === "unhealthy" ? { ...moved, pace: Math.min(1, moved.pace) } : moved;
  const look = (list: PollResult): Source & { readonly covered: boolean } => ({
    ...list.source,
    covered: parts.coverage.covers(handle, list.kind),
  });
  const budget = await budgetOf(parts, member, "poll");
  const [delayMs = DAY / budget] = intervals(budget, [look({ source, kind }), ...others.map(look)], { random: parts.random });
  return { delayMs, source };
}

/** The shortest pause between two looks at followed objects that the quota sustains. */
export async function watchPauseMs(parts: PollingDependencies, member: Member): Promise<number> {
  return Math.max(SECOND, DAY / (await budgetOf(parts, member, "watch")));
}
