/**
 * Lists read back, newest first. What was read is kept while the quota has no room for the rest: a key that gets one place at a
 * time would otherwise read the first page for ever. All who want the same look share it.
 */
import { cursorOf } from "../client/next-page.ts";
import { MAY_BE_CUT_OFF } from "../contract/reading/read-answer.ts";
import type { NetworkRecord } from "../contract/records.ts";
import { HOUR } from "../core/units.ts";
import type { Member } from "../gateway/member.ts";
import type { ListReading } from "./outbox-memory.ts";
import { readResult } from "../gateway/read-result.ts";
import type { OutboxDependencies } from "./outbox-dependencies.ts";

/** Pages of a list read before it counts as incomplete: a hundredth of an hour's requests, within these. */
const LEAST_PAGES = 5;
const MOST_PAGES = 50;
/** Asked for, so that few requests go far back; networks cut it to what they allow. */
const PAGE_SIZE = 100;
/** Later pages are read this long after the first at most: what is deleted meanwhile moves the rest under the reader. */
const KEPT_MS = 3 * HOUR;

/** The quota has no place for a read now. */
export interface NoRoom {
  readonly kind: "no-room";
  readonly until: number;
}

/** What was read. Incomplete, it can show that something happened, and never that it did not. */
export interface Read {
  readonly kind: "read";
  readonly records: readonly NetworkRecord[];
  readonly complete: boolean;
  /** What time it was for the network, where it told. */
  readonly networkAt: number | undefined;
  /** When the first request left, on the monotonic clock: nothing later need be in it. */
  readonly begunAt: number;
}

export interface BackTo {
  /** When what is looked for was sent, in the network's time. */
  readonly sentAt: (skewMs: number | undefined, networkAt: number | undefined) => number;
  /** What was read before this, on the monotonic clock, would not show it. */
  readonly since: number;
}

/** Reads a list back to a sending; undefined when a page could not be read. */
export async function readBackTo(
  parts: OutboxDependencies,
  member: Member,
  operation: string,
  { sentAt, since }: BackTo,
): Promise<Read | NoRoom | undefined> {
  const pages = Math.min(MOST_PAGES, Math.max(LEAST_PAGES, Math.floor(member.limits.perHour / 100)));
  const reading = begin(parts, member, operation, since);
  const read = (complete: boolean): Read => ({ ...reading, kind: "read", complete: complete && reading.unread === 0 });
  for (;;) {
    if (reading.reachesTo < sentAt(reading.skewMs, reading.networkAt)) return read(true);
    if (reading.end !== "more") return read(reading.end === "all");
    if (reading.pages >= pages) return read(false);
    const failed = await nextPage(parts, member, operation, reading);
    if (failed === "unreadable") return undefined;
    if (failed !== undefined) return failed;
  }
}

/** Forgets what nobody waits for any more. */
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
  const { record, items = [], next, skipped = 0, skewMs } = result.value;
  reading.skewMs = skewMs;
  reading.networkAt = skewMs === undefined ? undefined : parts.wall.now() + skewMs;
  if (record !== undefined) reading.records.push(record);
  reading.records.push(...items);
  reading.pages += 1;
  reading.unread += skipped;
  reading.reachesTo = Math.min(reading.reachesTo, oldestOf(items));
  reading.cursor = next === undefined ? undefined : cursorOf(next);
  if (reading.cursor === undefined)
    reading.end = parts.profile.paging.style === "none" && items.length >= MAY_BE_CUT_OFF ? "cut-off" : "all";
  return undefined;
}

/** How far a page goes back that is newest first. */
function oldestOf(items: readonly NetworkRecord[]): number {
  const times = items.map((item) => ("createdAtMs" in item ? item.createdAtMs : undefined));
  const newestFirst = times.every((at, i) => at !== undefined && at <= (times[i - 1] ?? Infinity));
  return newestFirst ? (times.at(-1) ?? Infinity) : Infinity;
}
