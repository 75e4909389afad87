/** Dependencies of polling. */
import type { Profile } from "../contract/profile/profile.ts";
import type { Notification } from "../contract/records.ts";
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
import type { PageOfAll, ToldList } from "./told-list.ts";
import type { WebhookCoverage } from "./webhook-coverage.ts";

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
  /** Public lists of which the specialists of this runtime were told. */
  readonly told: Map<string, ToldList>;
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
