/** Dependencies of polling. */
import type { Profile } from "../contract/profile/profile.ts";
import type { NetworkRecord, Notification } from "../contract/records.ts";
import type { Clock } from "../core/clock.ts";
import type { Announcer } from "../core/events.ts";
import type { Logger } from "../core/log.ts";
import type { Random } from "../core/random.ts";
import type { Gateway } from "../gateway/gateway.ts";
import type { Member } from "../gateway/member.ts";
import type { WorkKind } from "../store/sources.ts";
import type { Store } from "../store/store.ts";
import type { Acts } from "./action-counts.ts";
import type { JobTimings } from "./job-timings.ts";
import type { SharedLists } from "./shared-lists.ts";
import type { WebhookCoverage } from "./webhook-coverage.ts";

/** A page of a public list, for all who watch it. */
export interface PageOfAll {
  /** Its name in {@link SharedLists}. */
  readonly list: string;
  /** Ids of its items, newest first. */
  readonly ids: readonly string[];
  /** Its items that are new to everyone here, if the list is known to be the same for all. */
  readonly news: readonly NetworkRecord[];
  /**
   * All items that were read with it, or were new lately, for those who lack earlier pages; undefined for a page of another process. `at` is the time of its request, `since`
   * that of the page before.
   */
  readonly whole?: { readonly items: readonly NetworkRecord[]; readonly since: number; readonly at: number } | undefined;
}

export interface PollingDependencies {
  readonly clock: Clock;
  /** The network's clock in ms, for the age of what it reports. */
  readonly networkNow: () => number;
  readonly profile: Profile;
  readonly random: Random;
  readonly log: Logger;
  readonly announcer: Announcer;
  readonly store: Store;
  readonly gateway: Gateway;
  readonly coverage: WebhookCoverage;
  readonly shared: SharedLists;
  /** By list, the time of the last page of which the specialists of this runtime were told; those of one that lacks any are behind. */
  readonly told: Map<string, number>;
  /** Tells all who watch a public list of a page of it, except the one that has read it. Default: those of this runtime. */
  readonly spread?: ((page: PageOfAll, by: Member) => Promise<void>) | undefined;
  /** Actions that news of lists led to. */
  readonly acts: Acts;
  /** Learnt delays of assignment, review and payment. */
  readonly timings: JobTimings;
  readonly members: () => readonly Member[];
  /** Number of working specialists that share a specialist's key, itself included. */
  readonly sharers: (member: Member) => number;
  /** Stores what a list of notifications reports, to be read as deliveries would be. False if some have to wait for room. */
  readonly report: (member: Member, notifications: readonly Notification[]) => Promise<boolean>;
  /** Aborted when the runtime begins to stop: no new work begins. */
  readonly stopping: AbortSignal;
  /** Aborted when the time to drain is over: running work is interrupted. */
  readonly ending: AbortSignal;
  /** Reports that a kind of work of a specialist has something to do. */
  readonly wake: (member: Member, part: WorkKind) => void;
}
