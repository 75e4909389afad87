/** Poll intervals, derived from the remaining quota by yield: longer after empty polls and shorter after new items. */
import type { Lane } from "../contract/operations.ts";
import { DAY, SECOND } from "../core/units.ts";
import { agedActs, intervals, polled, type Source } from "../limits/poll-budget.ts";
import type { Member } from "../gateway/member.ts";
import type { ListPace } from "./list-state.ts";
import type { PollingDependencies } from "./polling-dependencies.ts";

/** Requests a day that one lane of the specialist may plan with now: its part of its key's budget. */
async function budgetOf({ store, clock, sharers }: PollingDependencies, member: Member, lane: Lane): Promise<number> {
  const { keyId, limits } = member;
  return keyId === undefined ? limits.perDay : (await store.laneBudget(keyId, lane, clock.now())) / sharers(member);
}

/** A list that shares its polls' budget with others. */
export interface PollResult {
  readonly source: ListPace;
  /** The event kind it is polled for. */
  readonly kind: string;
}

/** The time of the next poll after one that brought `news`, and the list's new pace. */
export async function nextPollAt(
  parts: PollingDependencies,
  member: Member,
  { source: before, kind }: PollResult,
  news: number,
  others: readonly PollResult[],
): Promise<{ readonly delayMs: number; readonly source: ListPace }> {
  const now = parts.clock.now();
  const acts = agedActs(before.acts, Math.max(0, now - before.actsAt)) + parts.acts.take(member, kind);
  const moved = { ...polled(before, news), acts, actsAt: now };
  const { handle } = member.specialist;
  const { state } = parts.coverage.of(handle);
  // Webhooks that lost too many events are not trusted: polls slow down no further.
  const source = state === "unhealthy" ? { ...moved, pace: Math.min(1, moved.pace) } : moved;
  const look = (list: PollResult): Source & { readonly covered: boolean } => ({
    ...list.source,
    covered: parts.coverage.covers(handle, list.kind),
  });
  const budget = await budgetOf(parts, member, "poll");
  const [delayMs = DAY / budget] = intervals(budget, [look({ source, kind }), ...others.map(look)], { random: parts.random });
  return { delayMs, source };
}

/** The shortest interval between checks of watched objects that the quota sustains. */
export async function watchPauseMs(parts: PollingDependencies, member: Member): Promise<number> {
  return Math.max(SECOND, DAY / (await budgetOf(parts, member, "watch")));
}
