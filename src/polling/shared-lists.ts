/** Looks at public lists shared between specialists: what one key sees, all learn of, once two keys were seen to get the same list. */
import type { Job, NetworkRecord } from "../contract/records.ts";
import type { KeyId } from "../core/ids.ts";
import type { Random } from "../core/random.ts";
import { spreadPause } from "../limits/poll-budget.ts";
import { COMPARABLE_MS, compared, isShared, placePoll, UNPROVEN, type PlannedPoll, type Sharing } from "./list-agreement.ts";

/** Ids remembered per list; several pages. */
const MAX_SEEN = 400;
/** Lists kept in memory; a further one is simply not shared. */
const MAX_LISTS = 1_000;

/** Among more than these, chance spreads looks as well as any order. */
const MAX_PLACED = 100;

interface SharedList {
  sharing: Sharing;
  last:
    | {
        readonly key: KeyId;
        readonly ids: readonly string[];
        /** With their deadlines. */
        readonly openJobs: ReadonlyMap<string, number>;
        readonly at: number;
      }
    | undefined;
  /** Till then what it shows open is not relied on. */
  doubtedUntil: number;
  seen: readonly string[];
  readonly planned: Map<KeyId, PlannedPoll>;
}

export interface SharedLists {
  /**
   * Takes in a page of a list that one key has got, `at` the time when it asked for it. Answers what of it nobody had seen before,
   * where the list is known to be the same for all; nothing where it is not, or not yet.
   */
  looked(list: string, key: KeyId, items: readonly NetworkRecord[], at: number): readonly NetworkRecord[];
  /** When a key that looks every `everyMs` looks next, between the looks of the others; undefined where the list is not known to be the same for all. */
  nextLook(list: string, key: KeyId, everyMs: number, now: number): number | undefined;
  /**
   * When the newest look at a list began that shows a job as open, where that look was the key's own or the list is known to be
   * the same for all; undefined where it does not show it so, or is not relied on.
   */
  openAt(list: string, key: KeyId, job: string, networkNow: number): number | undefined;
  /** Until then what the list shows open is not relied on. */
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
      // A page that took long on its way says less than one asked for later.
      if (last === undefined || at >= last.at) {
        const openJobs = new Map(
          items.flatMap((item) => (item.kind === "job" && isOpen(item) ? [[item.id, item.deadlineMs ?? Infinity] as const] : [])),
        );
        known.last = { key, ids, openJobs, at };
      }
      known.seen = [...new Set([...ids, ...known.seen])].slice(0, MAX_SEEN);
      return isShared(known.sharing) ? items.filter((item) => "id" in item && item.id !== undefined && !seen.has(item.id)) : [];
    },
  };
}

/** Somebody is still to be chosen. */
function isOpen({ status, assigneeId, assigneeHandle }: Job): boolean {
  return (status === "open" || status === "applied") && assigneeId === undefined && assigneeHandle === undefined;
}
