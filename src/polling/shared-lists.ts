/** Shares polls of public lists between specialists: one key's poll serves all, once two keys were seen to get the same list. */
import type { Job, NetworkRecord } from "../contract/records.ts";
import type { KeyId } from "../core/ids.ts";
import type { Random } from "../core/random.ts";
import { spreadPause } from "../limits/poll-budget.ts";
import { COMPARABLE_MS, compared, isShared, placePoll, UNPROVEN, type PlannedPoll, type Sharing } from "./poll-sharing.ts";

/** Ids remembered per list; several pages. */
const MAX_SEEN = 400;
/** Lists kept in memory; further ones are not shared. */
const MAX_LISTS = 1_000;

/** Above this number, random times spread polls as well as any order. */
const MAX_PLACED = 100;

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
  seen: readonly string[];
  readonly planned: Map<KeyId, PlannedPoll>;
}

export interface SharedLists {
  /**
   * Records a page that one key has polled; `at` is the time of its request. Returns the items new to everyone, if the list is known to be
   * the same for all keys; none otherwise.
   */
  looked(list: string, key: KeyId, items: readonly NetworkRecord[], at: number): readonly NetworkRecord[];
  /**
   * The time of the next poll of a key with interval `everyMs`, between the polls of others; undefined if the list is not known to be the
   * same for all keys.
   */
  nextLook(list: string, key: KeyId, everyMs: number, now: number): number | undefined;
  /**
   * The start time of the newest poll that shows a job as open, if it was the key's own or the list is known to be the same for all keys;
   * undefined if the job is not shown as open, or the list is not relied on.
   */
  openAt(list: string, key: KeyId, job: string, networkNow: number): number | undefined;
  /** Start time of such a poll that shows a job in a status. */
  shownAt(list: string, key: KeyId, job: string, standing: string): number | undefined;
  /** The open jobs of the list are not relied on until then. */
  doubt(list: string, until: number): void;
}

export function createSharedLists(random: Random): SharedLists {
  const lists = new Map<string, SharedList>();
  return {
    nextLook(list, key, everyMs, now) {
      const known = lists.get(list);
      if (known === undefined || !isShared(known.sharing)) return undefined;
      for (const [other, { at, everyMs: pause }] of known.planned) if (other === key || at + pause < now) known.planned.delete(other);
      const at =
        known.planned.size > MAX_PLACED ? now + spreadPause(everyMs, random) : placePoll(now, everyMs, [...known.planned.values()]);
      known.planned.set(key, { at, everyMs });
      return at;
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
      if (known !== undefined) known.doubtedUntil = until;
    },
    looked(list, key, items, at) {
      const known: SharedList = lists.get(list) ?? {
        sharing: UNPROVEN,
        last: undefined,
        doubtedUntil: 0,
        seen: [],
        planned: new Map(),
      };
      if (!lists.has(list) && lists.size >= MAX_LISTS) return [];
      lists.set(list, known);
      const ids = items.flatMap((item) => ("id" in item && item.id !== undefined ? [item.id] : []));
      const { last } = known;
      if (last !== undefined && last.key !== key && Math.abs(at - last.at) <= COMPARABLE_MS)
        known.sharing = compared(known.sharing, ids, last.ids);
      const seen = new Set(known.seen);
      // A page that was in flight for long is older than one requested later.
      if (last === undefined || at >= last.at) {
        const openJobs = new Map(
          items.flatMap((item) => (item.kind === "job" && isOpen(item) ? [[item.id, item.deadlineMs ?? Infinity] as const] : [])),
        );
        const given = items.flatMap((item) =>
          item.kind === "job" && !isOpen(item) && item.status !== undefined ? [[item.id, item.status] as const] : [],
        );
        known.last = { key, ids, openJobs, standings: new Map(given), at };
      }
      known.seen = [...new Set([...ids, ...known.seen])].slice(0, MAX_SEEN);
      return isShared(known.sharing) ? items.filter((item) => "id" in item && item.id !== undefined && !seen.has(item.id)) : [];
    },
  };
}

/** Nobody has been chosen yet. */
function isOpen({ status, assigneeId, assigneeHandle }: Job): boolean {
  return (status === "open" || status === "applied") && assigneeId === undefined && assigneeHandle === undefined;
}
