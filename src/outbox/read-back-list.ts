/**
 * Reads lists back, newest first. Pages are kept while the quota has no room for the rest: a key with room for one read at a time would
 * otherwise read the first page for ever. All checks that need the same list share it.
 */
import { cursorOf, pagingOf } from "../client/next-page.ts";
import { freshItems } from "../client/paging.ts";
import { MAY_BE_CUT_OFF } from "../contract/reading/read-answer.ts";
import type { NetworkRecord } from "../contract/records.ts";
import { HOUR } from "../core/units.ts";
import type { Member } from "../gateway/member.ts";
import type { ListReading } from "./outbox-memory.ts";
import { readResult } from "../gateway/read-result.ts";
import { MOST_PAGES } from "./reconcile.ts";
import type { OutboxDependencies } from "./outbox-dependencies.ts";

/**
 * Pages of a list read before it counts as incomplete: a hundredth of an hour's requests, for each hour since the sending, from this up to
 * `MOST_PAGES`. A list that grew while an action waited for its check is longer each time.
 */
const LEAST_PAGES = 5;
/** Requested page size, so that few requests go far back; networks reduce it to their maximum. */
const PAGE_SIZE = 100;
/** Later pages are read at most this long after the first: deletions meanwhile move the rest under the reader. */
const KEPT_MS = 3 * HOUR;

/** The quota has no room for a read now. */
export interface NoRoom {
  readonly kind: "no-room";
  readonly until: number;
}

/** Records read. An incomplete read can prove an effect, and never its absence. */
export interface Read {
  readonly kind: "read";
  readonly records: readonly NetworkRecord[];
  readonly complete: boolean;
  /** True if more pages than ever are read would be needed. */
  readonly isTooLong: boolean;
  /** The network's time, if it was stated. */
  readonly networkAt: number | undefined;
  /** Time of the first request, on the monotonic clock: later effects need not be shown. */
  readonly begunAt: number;
}

export interface BackTo {
  /** Time of the sought sending, by the network's clock. */
  readonly sentAt: (skewMs: number | undefined, networkAt: number | undefined) => number;
  /** Pages read before this, on the monotonic clock, would not show it. */
  readonly since: number;
  /** Time since the sending. */
  readonly ageMs: number;
}

/** Reads a list back to a sending; undefined if a page could not be read. */
export async function readBackTo(
  parts: OutboxDependencies,
  member: Member,
  operation: string,
  { sentAt, since, ageMs }: BackTo,
): Promise<Read | NoRoom | undefined> {
  const perHour = Math.max(LEAST_PAGES, Math.floor(member.limits.perHour / 100));
  const pages = Math.min(MOST_PAGES, Math.floor(perHour * (1 + Math.max(0, ageMs) / HOUR)));
  const reading = begin(parts, member, operation, since);
  const read = (isComplete: boolean): Read => ({
    ...reading,
    kind: "read",
    complete: isComplete && reading.unread === 0,
    isTooLong: !isComplete && reading.pages >= MOST_PAGES,
  });
  for (;;) {
    if (reading.reachesTo < sentAt(reading.skewMs, reading.networkAt)) return read(true);
    if (reading.end !== "more") return read(reading.end === "all");
    if (reading.pages >= pages) return read(false);
    const failed = await nextPage(parts, member, operation, reading);
    if (failed === "unreadable") return undefined;
    if (failed !== undefined) return failed;
  }
}

/** Drops readings that no check needs. */
export function dropListReadings({ clock, outbox: { readings } }: OutboxDependencies, member: Member, awaited: boolean): void {
  if (!awaited) return readings.forget(member);
  const kept = readings.find(member);
  for (const [operation, { begunAt }] of kept ?? []) if (clock.monotonic() - begunAt > KEPT_MS) kept?.delete(operation);
  readings.tidy(member);
}

function begin({ clock, outbox }: OutboxDependencies, member: Member, operation: string, since: number): ListReading {
  const readings = outbox.readings.of(member);
  const kept = readings.get(operation);
  if (kept !== undefined && kept.begunAt >= since && clock.monotonic() - kept.begunAt <= KEPT_MS) return kept;
  const reading: ListReading = {
    begunAt: clock.monotonic(),
    records: [],
    seen: new Set(),
    pages: 0,
    unread: 0,
    cursor: undefined,
    reachesTo: Infinity,
    end: "more",
    skewMs: undefined,
    networkAt: undefined,
  };
  readings.set(operation, reading);
  return reading;
}

async function nextPage(
  parts: OutboxDependencies,
  member: Member,
  operation: string,
  reading: ListReading,
): Promise<NoRoom | "unreadable" | undefined> {
  const { cursor } = reading;
  const input = { limit: PAGE_SIZE, ...(cursor === undefined ? {} : { cursor }) };
  const answer = await parts.gateway.read(member, { operation, input }, { lane: "obligation", signal: parts.ending });
  const result = readResult(answer);
  if (result.kind === "wait") return { kind: "no-room", until: result.until };
  if (result.kind !== "value") return "unreadable";
  const { record, items = [], next, skipped = 0, lacksMoved, skewMs } = result.value;
  reading.skewMs = skewMs;
  reading.networkAt = skewMs === undefined ? undefined : parts.wall.now() + skewMs;
  if (record !== undefined) reading.records.push(record);
  const fresh = freshItems(items, reading.seen);
  reading.records.push(...fresh);
  reading.pages += 1;
  reading.unread += skipped + (lacksMoved ? 1 : 0);
  reading.reachesTo = Math.min(reading.reachesTo, oldestOf(items));
  const isRepeat = items.length > 0 && fresh.length === 0;
  reading.cursor = next === undefined || isRepeat ? undefined : cursorOf(next);
  // A list without pages, or one that repeats its page, may end anywhere.
  const hasPages = pagingOf(parts.profile, parts.profile.operations.get(operation)).style !== "none" && !isRepeat;
  if (reading.cursor === undefined) reading.end = !hasPages && items.length >= MAY_BE_CUT_OFF ? "cut-off" : "all";
  return undefined;
}

/** The oldest date on a page that is newest first. */
function oldestOf(items: readonly NetworkRecord[]): number {
  const times = items.map((item) => ("createdAtMs" in item ? item.createdAtMs : undefined));
  const newestFirst = times.every((at, i) => at !== undefined && at <= (times[i - 1] ?? Infinity));
  return newestFirst ? (times.at(-1) ?? Infinity) : Infinity;
}
