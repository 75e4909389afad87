/**
 * Moves the stored cursors of specialists that were told of a list's news, so that a start, or whoever takes a specialist over, reads back
 * and tells again some items only, not those of half an hour.
 */
import { nextTurn } from "../core/clock.ts";
import type { Member } from "../gateway/member.ts";
import { withSeen } from "./list-cursor.ts";
import { readListState, storeListState } from "./list-state.ts";
import type { PollingDependencies } from "./polling-dependencies.ts";
import type { ToldList } from "./told-list.ts";
import { sourceOfList } from "./watched-lists.ts";

/** Items of which specialists are told before their cursors move: each move writes a row for each of them. */
export const MOVED_AFTER = 20;
/** Pages of ids that a moved cursor has: every poll of the specialist itself writes more. */
const PAGES_KEPT = 3;
/** Cursors that are moved in one turn of the event loop. */
const MOVED_AT_ONCE = 50;

/** Moves the cursors of those who lack nothing, once they were told of enough. `firstPage` is the number of items on the list's first page. */
export async function keepTold(
  parts: PollingDependencies,
  list: string,
  told: ToldList,
  { members, firstPage }: { readonly members: readonly Member[]; readonly firstPage: number },
): Promise<void> {
  const page = Math.max(MOVED_AFTER, firstPage);
  if (told.unkept < page) return;
  told.unkept = 0;
  const { clock } = parts;
  const kept = PAGES_KEPT * page;
  const seen = told.seen.slice(0, kept);
  const lookedAt = parts.networkNow() - (clock.monotonic() - told.at);
  const whole = members.filter((member) => told.members.get(member)?.isWhole === true);
  const bySource = Map.groupBy(whole, (member) => sourceOfList(parts, member, list)?.name);
  for (const [name, those] of bySource)
    for (let done = 0; name !== undefined && done < those.length; done += MOVED_AT_ONCE) {
      await nextTurn(clock);
      // Meanwhile a page may have passed somebody over.
      const some = those.slice(done, done + MOVED_AT_ONCE).filter((member) => told.members.get(member)?.isWhole === true);
      await parts.store.changeCursors(
        name,
        some.map(({ specialist }) => specialist.handle),
        (stored) => {
          const state = readListState(stored, lookedAt);
          const { cursor } = state;
          if (cursor.seen === undefined || state.dormant || (cursor.lookedAt ?? 0) >= lookedAt) return undefined;
          return storeListState({ ...state, cursor: { ...cursor, seen: withSeen(cursor.seen, seen).slice(0, kept), lookedAt } });
        },
        clock.now(),
      );
    }
}
