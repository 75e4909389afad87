/** Shares polls of public lists between specialists: one key's poll serves all, once two keys were seen to get the same list. */
import type { Job, NetworkRecord } from "../contract/records.ts";
import type { KeyId } from "../core/ids.ts";
import type { Random } from "../core/random.ts";
import { SECOND } from "../core/units.ts";
import { MIN_SHARED_MS, RECONCILE_MS, spreadPause } from "../limits/poll-budget.ts";
import { withSeen } from "./list-cursor.ts";
import { COMPARABLE_MS, compared, isShared, placePoll, UNPROVEN, type PlannedPoll, type Sharing } from "./poll-sharing.ts";

/** Lists kept in memory; further ones are not shared. */
const MAX_LISTS = 1_000;

/** Above this number, random times spread polls as well as any order. */
const MAX_PLACED = 100;
/** Among so many, plans of the past are removed this often: at each poll it would cost the square of their number. */
const SWEEP_MS = SECOND;

interface SharedList {
  sharing: Sharing;
  last:
    | {
        readonly key: KeyId;
        readonly ids: readonly string[];
        /** Open jobs and their deadlines. */
        readonly openJobs: ReadonlyMap<string, number>;
        /** Statuses of assigned jobs. */
        readonly standings: ReadonlyMap<string, string>;
        readonly at: number;
      }
    | undefined;
  /** Time until which the open jobs of the list are not relied on. */
  doubtedUntil: number;
  /** A job of ours was seen to leave its open jobs when it was given. */
  proven: boolean;
  /** Jobs that left the open ones, with the time of the poll that shows it, newest last. */
  readonly left: Map<string, number>;
  seen: readonly string[];
  readonly planned: Map<KeyId, PlannedPoll>;
  /** The time at which plans of the past were last removed. */
  sweptAt: number;
}

/** Interval of a key's polls. */
export interface PollPause {
  readonly everyMs: number;
  /** Time to its next poll if it polls for itself alone. */
  readonly aloneMs: number;
}

/** A page of a public list, as another process polled it. */
export interface ListedElsewhere {
  /** The process. Keys of two processes are never the same. */
  readonly by: string;
  /** Ids of the items, newest first. */
  readonly ids: readonly string[];
}

/** Time in which a poll is answered; one that began earlier may have failed. */
export const ANSWERED_MS = 2 * SECOND;

export interface SharedLists {
  /**
   * Records a page that one key has polled; `at` is the time of its request. Returns the items new to everyone, if the list is known to be
   * the same for all keys; none otherwise.
   */
  looked(list: string, key: KeyId, items: readonly NetworkRecord[], at: number): readonly NetworkRecord[];
  /** True if the list is known to be the same for all keys. */
  isForAll(list: string): boolean;
  /** Records a page that another process has polled, and of which all are told here. */
  heard(list: string, page: ListedElsewhere, at: number): void;
  /** Records that a poll of a key begins. */
  begins(list: string, key: KeyId, now: number): void;
  /** The time of the next poll of a key, between the polls of others if the list is known to be the same for all keys. */
  nextLook(list: string, key: KeyId, pause: PollPause, now: number): number;
  /**
   * The time of the earliest poll that is planned, or began just now: the key's own, or any if the list is known to be the same for all
   * keys.
   */
  plannedAt(list: string, key: KeyId, now: number): number | undefined;
  /** Jobs that lately left the open ones of the list, with the time of the poll that shows it. */
  left(list: string, key: KeyId): ReadonlyMap<string, number>;
  /** True if the newest poll was the key's own, of a list that others poll too. */
  wasLast(list: string, key: KeyId | undefined): boolean;
  /**
   * The start time of the newest poll that shows a job as open, if it was the key's own or the list is known to be the same for all keys;
   * undefined if the job is not shown as open, or the list is not relied on.
   */
  openAt(list: string, key: KeyId, job: string, networkNow: number): number | undefined;
  /** Start time of such a poll that shows a job in a status. */
  shownAt(list: string, key: KeyId, job: string, standing: string): number | undefined;
  /** The open jobs of the list are not relied on until then. */
  doubt(list: string, until: number): void;
  /** Records that a job left the open jobs of the list when it was given. */
  prove(list: string): void;
  /** True if one has, and none was shown as open since then that was given. */
  isProven(list: string): boolean;
}

export function createSharedLists(random: Random): SharedLists {
  const lists = new Map<string, SharedList>();
  return {
    begins(list, key, now) {
      const planned = lists.get(list)?.planned;
      planned?.set(key, { at: now, everyMs: planned.get(key)?.everyMs ?? 0 });
    },
    nextLook(list, key, pause, now) {
      const known = lists.get(list);
      return known === undefined ? now + pause.aloneMs : plan(known, { key, pause, now, random });
    },
    plannedAt(list, key, now) {
      const known = lists.get(list);
      return known === undefined ? undefined : firstPlanned(known, key, now);
    },
    wasLast(list, key) {
      const known = lists.get(list);
      return known?.last !== undefined && known.last.key === key && isShared(known.sharing) && known.planned.size > 1;
    },
    left(list, key) {
      const known = lists.get(list);
      return known?.last !== undefined && (known.last.key === key || isShared(known.sharing)) ? known.left : NONE_LEFT;
    },
    openAt(list, key, job, networkNow) {
      const known = lists.get(list);
      if (known?.last === undefined) return undefined;
      const { last, sharing, doubtedUntil } = known;
      const isOffered = (last.openJobs.get(job) ?? 0) > networkNow;
      return isOffered && last.at >= doubtedUntil && (last.key === key || isShared(sharing)) ? last.at : undefined;
    },
    shownAt(list, key, job, standing) {
      const known = lists.get(list);
      if (known?.last === undefined || known.last.standings.get(job) !== standing) return undefined;
      return known.last.key === key || isShared(known.sharing) ? known.last.at : undefined;
    },
    doubt(list, until) {
      const known = lists.get(list);
      if (known !== undefined) Object.assign(known, { doubtedUntil: until, proven: false });
    },
    prove(list) {
      const known = lists.get(list);
      if (known !== undefined) known.proven = true;
    },
    isForAll(list) {
      const known = lists.get(list);
      return known !== undefined && isShared(known.sharing);
    },
    isProven: (list) => lists.get(list)?.proven === true,
    heard(list, { by, ids }, at) {
      const known = lists.get(list);
      if (known === undefined) return;
      compareWithLast(known, by, ids, at);
      known.seen = withSeen(known.seen, ids);
    },
    looked(list, key, items, at) {
      const known = lists.get(list) ?? newList();
      if (!lists.has(list) && lists.size >= MAX_LISTS) return [];
      lists.set(list, known);
      return notePage(known, { key, items, at });
    },
  };
}

function newList(): SharedList {
  return {
    sharing: UNPROVEN,
    last: undefined,
    doubtedUntil: 0,
    proven: false,
    left: new Map(),
    seen: [],
    planned: new Map(),
    sweptAt: 0,
  };
}

/** Notes a page that a key has polled. Returns the items new to everyone, if the list is known to be the same for all. */
function notePage(
  known: SharedList,
  { key, items, at }: { readonly key: KeyId; readonly items: readonly NetworkRecord[]; readonly at: number },
): readonly NetworkRecord[] {
  const ids = idsOf(items);
  const { last } = known;
  compareWithLast(known, key, ids, at);
  const before = known.seen;
  // A page that was in flight for long is older than one requested later.
  if (last === undefined || at >= last.at) {
    const { openJobs, standings } = standingsOf(items);
    if (last !== undefined && (last.key === key || isShared(known.sharing)))
      for (const id of leftOf([...last.openJobs.keys()], openJobs)) noteLeft(known.left, id, at);
    known.last = { key, ids, openJobs, standings, at };
  }
  known.seen = withSeen(before, ids);
  return known.seen !== before && isShared(known.sharing) ? newItems(items, before) : [];
}

/** Two keys that get the same list at about the same time show that it is the same for all. */
function compareWithLast(known: SharedList, key: string, ids: readonly string[], at: number): void {
  const { last } = known;
  if (last !== undefined && last.key !== key && Math.abs(at - last.at) <= COMPARABLE_MS)
    known.sharing = compared(known.sharing, ids, last.ids);
}

export function idsOf(items: readonly NetworkRecord[]): readonly string[] {
  return items.flatMap((item) => ("id" in item && item.id !== undefined ? [item.id] : []));
}

/** Those of the items that have an id, and none of these. */
function newItems(items: readonly NetworkRecord[], before: readonly string[]): readonly NetworkRecord[] {
  const seen = new Set(before);
  return items.filter((item) => "id" in item && item.id !== undefined && !seen.has(item.id));
}

/** Open jobs with their deadlines, and the statuses of the others. */
function standingsOf(items: readonly NetworkRecord[]) {
  const openJobs = new Map<string, number>();
  const standings = new Map<string, string>();
  for (const item of items)
    if (item.kind === "job" && isOpen(item)) openJobs.set(item.id, item.deadlineMs ?? Infinity);
    else if (item.kind === "job" && item.status !== undefined) standings.set(item.id, item.status);
  return { openJobs, standings };
}

const NONE_LEFT: ReadonlyMap<string, number> = new Map();
/** Jobs that left a list are remembered until so many more have. */
const MAX_LEFT = 100;

/** Jobs that were open and are not: a page may be cut, so an older one must still be shown. */
function leftOf(before: readonly string[], now: ReadonlyMap<string, number>): readonly string[] {
  const last = before.findLastIndex((id) => now.has(id));
  return before.slice(0, Math.max(0, last)).filter((id) => !now.has(id));
}

function noteLeft(left: Map<string, number>, id: string, at: number): void {
  left.delete(id);
  left.set(id, at);
  for (const [oldest] of left) if (left.size > MAX_LEFT) left.delete(oldest);
}

/** Plans the next poll of a key: the more keys share a list, the more rarely each reads it. Returns its time. */
function plan(
  known: SharedList,
  { key, pause, now, random }: { readonly key: KeyId; readonly pause: PollPause; readonly now: number; readonly random: Random },
): number {
  const { planned, sharing } = known;
  const isFirst = (planned.get(key)?.everyMs ?? 0) === 0;
  planned.delete(key);
  if (planned.size <= MAX_PLACED || now >= known.sweptAt + SWEEP_MS || now < known.sweptAt) {
    for (const [other, { at, everyMs: theirs }] of planned) if (at + theirs < now) planned.delete(other);
    known.sweptAt = now;
  }
  const together = isShared(sharing) ? Math.min(RECONCILE_MS, (planned.size + 1) * MIN_SHARED_MS) : 0;
  const everyMs = Math.max(pause.everyMs, together);
  // Keys that began together come back evenly, from now on.
  const spread = (): number => now + (isFirst ? random.next() * everyMs : spreadPause(everyMs, random));
  const among = (): number => (planned.size > MAX_PLACED ? spread() : placePoll(now, everyMs, [...planned.values()]));
  const at = isShared(sharing) ? among() : now + pause.aloneMs;
  planned.set(key, { at, everyMs });
  return at;
}

function firstPlanned({ planned, sharing }: SharedList, key: KeyId, now: number): number | undefined {
  let first: number | undefined;
  for (const [other, { at }] of planned)
    if ((other === key || isShared(sharing)) && at > now - ANSWERED_MS && at < (first ?? Infinity)) first = at;
  return first;
}

/** Nobody has been chosen yet. */
export function isOpen({ status, assigneeId, assigneeHandle }: Job): boolean {
  return (status === "open" || status === "applied") && assigneeId === undefined && assigneeHandle === undefined;
}
