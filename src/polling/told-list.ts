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
  /** The same by the process's own clock. */
  readonly beganAt: number;
  /** The list has no further items. */
  readonly isEnd: boolean;
  /** Pages that some lack were not read, and may be read by the next poll. */
  readonly isCutShort: boolean;
  /** Network's time of the oldest poll of others of its runtime to which it read back, if it could; Infinity: to nobody's. */
  readonly oldestPollAt: number;
  /** The one that has read it, which has stored its own part. */
  readonly reader: ToldMember;
}

/** A list, as the specialists of one runtime were told of it. */
export interface ToldList {
  /** Ids of items of which `members` were told, or that are older than those: newest first. */
  seen: readonly string[];
  /** Time of the newest page of which any were told, by the process's own clock. */
  at: number;
  /** The time from which it is known, by the process's own clock. */
  readonly since: number;
  /** Time of the newest page that was not given to a specialist, because its past was still being read. */
  readonly passedOver: WeakMap<Member, number>;
  /** A whole page is being given to those who lack some. */
  isTelling: boolean;
  /** Number of successive readings of this runtime that were cut short. */
  cutShort: number;
  /** Number of items of which any were told since stored cursors last moved. */
  unkept: number;
  readonly members: WeakMap<Member, ToldMember>;
}

/** A specialist that is told of the news of a list. */
export interface ToldMember {
  /** Start of its watch. */
  readonly startedAt: number;
  /** Nothing is missing between its own last poll and the newest item of which it was told. Otherwise its next poll reads back. */
  readonly isWhole: boolean;
  /** Others read back for it before that. */
  readonly isOwed: boolean;
}
