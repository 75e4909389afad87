/** Polls watched objects into the inbox: jobs applied for and threads with own posts, until they are completed. */
import type { Lane } from "../contract/operations.ts";
import { SECOND } from "../core/units.ts";
import type { Member } from "../gateway/member.ts";
import { readResult } from "../gateway/read-result.ts";
import { isOurs, laneOf } from "./job-cadence.ts";
import { OFFERS_LIST } from "./list-readers.ts";
import { deferWhileOpen, offeredAt, readOffers } from "./check-offers.ts";
import type { PollingDependencies } from "./polling-dependencies.ts";
import { followedIn, keep, LONGEST_MS, pauseMs, recordWatch, shownBy, sinceOf, type Followed, type Round } from "./record-watch.ts";
import type { JobState } from "./watch-state.ts";

/** Objects checked in one pass; the rest follows in the next. */
const BATCH = 32;
/** Checks at a time; pacing may allow fewer. */
const AT_ONCE = 4;
/** One first check in this many comes earlier than learnt: a network may have become faster. */
const EARLY_ONE_IN = 16;

/** Checks the due watches. Returns true if there may be more. */
export async function followWatches(parts: PollingDependencies, member: Member): Promise<boolean> {
  const { store, clock } = parts;
  const { handle } = member.specialist;
  let rows = await store.dueWatches(handle, clock.now(), BATCH);
  if (rows.length === 0) return false;
  const round: Round = { parts, member, standings: await store.jobStandings(handle) };
  const due = rows.map((row) => followedIn(row, clock.now()));
  if (await readOffers(round, due)) rows = await store.dueWatches(handle, clock.now(), BATCH);
  /** Lanes without room: all requests of such a lane are refused together. */
  const full = new Set<Lane>();
  const next = rows.values();
  const checkRest = async (): Promise<void> => {
    for (const row of next) {
      if (parts.stopping.aborted) return;
      const before = followedIn(row, clock.now());
      const lane = lookLane(before);
      if (!full.has(lane) && !(await follow(round, before, lane))) full.add(lane);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, checkRest));
  return rows.length === BATCH && !parts.stopping.aborted;
}

/** A reported object is checked in its own lane, whatever it waits for. */
function lookLane({ state, status }: Followed): Lane {
  const lane = laneOf({ kind: state.kind, state: status });
  return lane === "explore" && state.kind === "job" && state.lookedAt === undefined ? "watch" : lane;
}

/** Returns true if there was room for the check. */
async function follow(round: Round, before: Followed, lane: Lane): Promise<boolean> {
  const { parts, member } = round;
  const { gateway, store, clock } = parts;
  const { object, status, state } = before;
  if (state.kind === "job" && (await defer(round, { ...before, state }))) return true;
  const operation = state.kind === "thread" ? "posts.get" : "jobs.get";
  const answer = await gateway.read(member, { operation, target: object, input: {} }, { lane, signal: parts.ending });
  const now = clock.now();
  const result = readResult(answer);
  if (result.kind === "wait") {
    const until = Math.max(result.until, now + SECOND);
    await store.postponeWatches(member.specialist.handle, now, until, { kind: state.kind, state: status });
    return false;
  }
  if (result.kind === "gone") {
    await keep(parts, member, { ...before, status: "gone", dueAt: null });
    return true;
  }
  const record = result.kind === "value" ? result.value.record : undefined;
  const shown = record === undefined ? undefined : shownBy(member, state, record, { now, networkNow: parts.networkNow() });
  if (shown === undefined) {
    const again = { ...before, state: { ...state, looks: state.looks + 1 } };
    await keep(parts, member, { ...again, dueAt: now + (await pauseMs(round, again, now)) });
    return true;
  }
  if (state.kind === "job" && state.deferred > 0 && status === "applied" && isOurs(shown.state)) proveOffers(parts, member, before);
  await recordWatch(round, before, shown, { record, isLook: true });
  return true;
}

/** Decides, without a request, if a check can be deferred. Never if something was reported, or while deliveries make checks rare. */
async function defer(round: Round, before: Followed<JobState>): Promise<boolean> {
  const { parts, member } = round;
  const { state } = before;
  const { lookedAt } = state;
  if (lookedAt === undefined) return false;
  const now = parts.clock.now();
  if (now - sinceOf(state, now) > LONGEST_MS) {
    await keep(parts, member, { ...before, dueAt: null });
    return true;
  }
  if (before.status !== "applied") return deferWhileShown(round, before, lookedAt);
  if (state.planned || state.looks > 0) return deferWhileOpen(round, before);
  const pause = await pauseMs(round, before, now);
  const early = parts.random.next() * EARLY_ONE_IN < 1 ? pause * parts.random.next() : pause;
  if (early <= SECOND) return false;
  await keep(parts, member, { ...before, state: { ...state, planned: true }, dueAt: Math.round(now + early) });
  return true;
}

/** A list that no longer shows a job as open which it showed before, and which is ours now, can be relied on. */
function proveOffers(parts: PollingDependencies, member: Member, before: Followed): void {
  if (offeredAt(parts, member, before) === undefined) parts.shared.prove(OFFERS_LIST);
}

/** Defers the check if the list shows that a verdict or payment has not come yet. Returns true if it did. */
async function deferWhileShown(round: Round, before: Followed<JobState>, lookedAt: number): Promise<boolean> {
  const { parts, member } = round;
  const { object, status, state } = before;
  if (laneOf({ kind: "job", state: status }) !== "explore" || member.keyId === undefined) return false;
  const shownAt = parts.shared.shownAt(OFFERS_LIST, member.keyId, object, status);
  if (shownAt === undefined || shownAt <= lookedAt) return false;
  const after = { ...before, state: { ...state, looks: state.looks + 1, lookedAt: shownAt } };
  const now = parts.clock.now();
  await keep(parts, member, { ...after, dueAt: now + (await pauseMs(round, after, now)) });
  return true;
}
