/** Dependencies of the outbox. */
import type { Profile } from "../contract/profile/profile.ts";
import type { NetworkRecord } from "../contract/records.ts";
import type { Clock } from "../core/clock.ts";
import type { Announcer } from "../core/events.ts";
import type { Logger } from "../core/log.ts";
import type { Gateway } from "../gateway/gateway.ts";
import type { Member } from "../gateway/member.ts";
import type { OutboxMemory } from "./outbox-memory.ts";
import type { WorkKind } from "../store/sources.ts";
import type { Store } from "../store/store.ts";

export interface OutboxDependencies {
  readonly clock: Clock;
  /** The machine's own clock, which may jump: for comparison with the network's times. */
  readonly wall: Clock;
  readonly log: Logger;
  readonly announcer: Announcer;
  readonly store: Store;
  readonly profile: Profile;
  readonly gateway: Gateway;
  /** The outbox's state in memory. */
  readonly outbox: OutboxMemory;
  /** Records data of the specialist's own account from a confirmed answer. */
  readonly learn: (member: Member, record: NetworkRecord | undefined) => void;
  /** Records the delivery of a job, and the answer's data. */
  readonly delivered: (member: Member, job: string, record: NetworkRecord | undefined) => void;
  /**
   * Until this time, on the monotonic clock, another process may have sent what it had begun; infinite while that process is stopped.
   * The quiet period begins then.
   */
  readonly sentElsewhereUntil?: (() => number) | undefined;
  /** Aborted when the runtime begins to stop: no new work begins. */
  readonly stopping: AbortSignal;
  /** Aborted when the time to drain is over: running work is interrupted. */
  readonly ending: AbortSignal;
  /** Reports that a kind of work of a specialist has something to do. */
  readonly wake: (member: Member, part: WorkKind) => void;
}
