/** Jobs applied for, checked by the list of offers: one read of it shows which of them are still open, to every specialist that shares it. */
import { chanceWithin } from "../limits/learnt-delay.ts";
import { MINUTE, SECOND } from "../core/units.ts";
import type { Member } from "../gateway/member.ts";
import { OFFERS_LIST } from "./list-readers.ts";
import { pollOffers } from "./poll-lists.ts";
import type { PollingDependencies } from "./polling-dependencies.ts";
import { keep, pauseMs, sinceOf, type Followed, type Round } from "./settle-watch.ts";
import { ANSWERED_MS } from "./shared-lists.ts";
import type { JobState } from "./watch-state.ts";

/** Consecutive checks of a job by a list, which may lag behind: fewer until a job was seen to leave it when it was given. */
const MOST_BY_LIST = { unproven: 3, proven: 12 } as const;
/** A read of the list must be expected to spare so many checks of single jobs. It also discovers jobs. */
const LEAST_SPARED = 0.7;
/** Chance that a job was given, while the delay is unknown. */
const UNKNOWN_CHANCE = 0.5;
/** A check waits for a poll that is planned so soon after the last one, or within this share of the time since it. */
const WITHIN_MS = 55 * SECOND;
const WITHIN_SHARE = 1 / 7;
/** The last reader of a shared list leaves the next read to the others. */
const YIELD_MS = 3 * SECOND;

/** Reads the list of offers if that spares checks of single jobs, and no poll of it is planned soon. Returns true if it was polled. */
export async function readOffers(round: Round, due: readonly Followed[]): Promise<boolean> {
  const { parts, member } = round;
  const now = parts.clock.now();
  const learnt = parts.timings.of("given");
  let spared = 0;
  for (const one of due) {
    const { state } = one;
    if (state.kind !== "job" || state.lookedAt === undefined || !restsOnList(parts, member, { ...one, state })) continue;
    if ((await shownUntil(round, { ...one, state })) > now || plannedSoon(parts, member, state.lookedAt) !== undefined) continue;
    const since = sinceOf(state, now);
    spared += 1 - (chanceWithin(learnt, { afterMs: state.lookedAt - since, byMs: now - since }) ?? UNKNOWN_CHANCE);
  }
  // Another may have begun to read it meanwhile.
  if (spared < LEAST_SPARED || member.keyId === undefined || plannedSoon(parts, member, now) !== undefined) return false;
  parts.shared.begins(OFFERS_LIST, member.keyId, now);
  await pollOffers(parts, member);
  return true;
}

/** Defers the check of a job that the list has shown open since the last check, or will show soon. Returns true if it did. */
export async function deferWhileOpen(round: Round, before: Followed<JobState>): Promise<boolean> {
  const { parts, member } = round;
  const { state } = before;
  const now = parts.clock.now();
  if (state.lookedAt === undefined || !restsOnList(parts, member, before)) return false;
  const until = await shownUntil(round, before);
  if (until > now) {
    const after = { ...state, looks: state.looks + 1, lookedAt: offeredAt(parts, member, before), deferred: state.deferred + 1 };
    await keep(parts, member, { ...before, state: after, dueAt: until });
    return true;
  }
  const plannedAt = plannedSoon(parts, member, state.lookedAt);
  if (plannedAt === undefined) return false;
  await keep(parts, member, { ...before, dueAt: plannedAt + ANSWERED_MS });
  return true;
}

/** The start time of a poll of the offers that shows the job open. */
export function offeredAt({ shared, networkNow }: PollingDependencies, { keyId }: Member, { object }: Followed): number | undefined {
  return keyId === undefined ? undefined : shared.openAt(OFFERS_LIST, keyId, object, networkNow());
}

/** Not while deliveries make checks rare, nor before its first check is planned. */
function restsOnList(parts: PollingDependencies, member: Member, before: Followed<JobState>): boolean {
  const { standing, state } = before;
  if (standing !== "applied" || (!state.planned && state.looks === 0)) return false;
  const most = parts.shared.isProven(OFFERS_LIST) ? MOST_BY_LIST.proven : MOST_BY_LIST.unproven;
  return (
    state.deferred < most &&
    offeredAt(parts, member, before) !== undefined &&
    !parts.coverage.covers(member.specialist.handle, "job.assigned")
  );
}

/** The time of the next check after a poll that shows the job open, or -Infinity if none came after the last check. */
async function shownUntil(round: Round, before: Followed<JobState>): Promise<number> {
  const { parts, member } = round;
  const { state } = before;
  const openAt = offeredAt(parts, member, before);
  if (openAt === undefined || state.lookedAt === undefined || openAt <= state.lookedAt) return -Infinity;
  const after = { ...before, state: { ...state, looks: state.looks + 1, lookedAt: openAt } };
  const turnMs = parts.shared.wasLast(OFFERS_LIST, member.keyId) ? YIELD_MS : 0;
  return openAt + turnMs + (await pauseMs(round, after, openAt, 0));
}

/** The time of a planned poll that a check waits for. */
function plannedSoon({ shared, clock }: PollingDependencies, { keyId }: Member, lookedAt: number): number | undefined {
  const now = clock.now();
  const at = keyId === undefined ? undefined : shared.plannedAt(OFFERS_LIST, keyId, now);
  const latest = Math.max(lookedAt + WITHIN_MS, now + Math.min(MINUTE, now - lookedAt > MINUTE ? (now - lookedAt) * WITHIN_SHARE : 0));
  return at !== undefined && at <= latest ? at : undefined;
}
