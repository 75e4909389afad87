/** A public list, as it was read, and as the specialists of a runtime were told of it. */
import type { NetworkRecord } from "../contract/records.ts";
import type { Member } from "../gateway/member.ts";

/** A page of a public list, for all who watch it. */
export interface PageOfAll {
  /** Its name in {@link SharedLists}. */
  readonly list: string;
  /** Ids of its items, newest first. */
  readonly ids: readonly string[];
  /** Its items that are new to everyone here, if the list is known to be the same for all. */
  readonly news: readonly NetworkRecord[];
  /** The reading of this process; undefined if the list is not known to be the same for all. */
  readonly reading: ListReading | undefined;
}

/** A poll of a public list. */
export interface ListReading {
  /** Items of all pages that were read, as they are listed. */
  readonly items: readonly NetworkRecord[];
  /** Number of those of the first page. */
  readonly firstPage: number;
  /** Time of the request. */
  readonly at: number;
  /** The list has no further items. */
  readonly isEnd: boolean;
  /** Further pages were wanted and could not be read now. */
  readonly isCutShort: boolean;
  /** The one that has read it, which has stored its own part. */
  readonly reader: ToldMember;
}

/** A list, as the specialists of one runtime were told of it. */
export interface ToldList {
  /** Ids of which all of `members` were told, newest first. */
  seen: readonly string[];
  /** Time of the newest page of which any were told: an older page may lack what came since. */
  at: number;
  readonly members: WeakMap<Member, ToldMember>;
}

/** A specialist that was told of all that came since its own last poll. */
export interface ToldMember {
  /** Start of its watch. */
  readonly startedAt: number;
  /** False if items may be missing before those of which it was told: its own poll reads back to its own cursor. */
  readonly isWhole: boolean;
}
