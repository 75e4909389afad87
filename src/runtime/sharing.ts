/** Looks at public lists shared between specialists: what one key sees, all learn of, once two keys were seen to get the same list. */
import type { NetworkRecord } from "../contract/records.ts";
import type { KeyId } from "../core/ids.ts";
import { COMPARABLE_MS, compared, isShared, UNPROVEN, type Sharing } from "../limits/sharing.ts";

/** Ids remembered per list; several pages. */
const MAX_SEEN = 400;
/** Lists kept in memory; a further one is simply not shared. */
const MAX_LISTS = 1_000;

interface SharedList {
  sharing: Sharing;
  last: { readonly key: KeyId; readonly ids: readonly string[]; readonly at: number } | undefined;
  seen: readonly string[];
}

export interface SharedLists {
  /**
   * Takes in a page of a list that one key has got. Answers what of it nobody had seen before, where the list is known to
   * be the same for all; nothing where it is not, or not yet.
   */
  looked(list: string, key: KeyId, items: readonly NetworkRecord[], now: number): readonly NetworkRecord[];
  isShared(list: string): boolean;
}

export function createSharedLists(): SharedLists {
  const lists = new Map<string, SharedList>();
  return {
    isShared(list) {
      const known = lists.get(list);
      return known !== undefined && isShared(known.sharing);
    },
    looked(list, key, items, now) {
      const known = lists.get(list) ?? { sharing: UNPROVEN, last: undefined, seen: [] };
      if (!lists.has(list) && lists.size >= MAX_LISTS) return [];
      lists.set(list, known);
      const ids = items.flatMap((item) => ("id" in item && item.id !== undefined ? [item.id] : []));
      const { last } = known;
      if (last !== undefined && last.key !== key && now - last.at <= COMPARABLE_MS) known.sharing = compared(known.sharing, ids, last.ids);
      const seen = new Set(known.seen);
      known.last = { key, ids, at: now };
      known.seen = [...new Set([...ids, ...known.seen])].slice(0, MAX_SEEN);
      return isShared(known.sharing) ? items.filter((item) => "id" in item && item.id !== undefined && !seen.has(item.id)) : [];
    },
  };
}
