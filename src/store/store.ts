/** The whole store: every interface of this room as one, with recovery, pruning and closing. */
import type { Handle } from "../core/ids.ts";
import type { InboxStore } from "./inbox.ts";
import type { SourceStore } from "./sources.ts";
import type { RunStore } from "./runs.ts";
import type { Ledger } from "./ledger.ts";
import type { SpecialistStore } from "./specialists.ts";
import type { ApprovalStore } from "./controls.ts";
import type { OrderStore } from "./orders.ts";
import type { Retention } from "./history.ts";
import type { PeopleReads } from "./people-reads.ts";
import type { NetworkStateStore } from "./network-state.ts";
import type { DeliveryStore } from "./deliveries.ts";
import type { OutboxStore } from "./outbox.ts";

export interface Recovered {
  /** Events whose handling never ended. */
  readonly events: number;
  /** Intents whose answer was lost with the process. */
  readonly doubts: number;
  readonly attempts: number;
  /** Set if the store was restored from a copy of this time: everything that may have been done since is in doubt first. */
  readonly restoredFrom?: number;
}

/**
 * Everything that is kept, of all specialists or of some. An implementation appends facts in groups, and answers from memory; a group is a
 * constant number of statements. Every fact names its specialist, so that several processes can share a server: a store there has the
 * specialists of its shards, and writes nothing more for those that it lost (`store/postgres/ownership.ts`).
 */
export interface Store
  extends
    Ledger,
    InboxStore,
    DeliveryStore,
    RunStore,
    OutboxStore,
    SourceStore,
    ApprovalStore,
    SpecialistStore,
    OrderStore,
    PeopleReads,
    NetworkStateStore {
  /** The reads for people, beside the process's work where that is possible; the store's own block it. */
  readonly reads: PeopleReads;
  /** From now on the process does them itself: at its end nobody waits for a thread to begin. */
  readHere(): void;
  /**
   * At the start, before any admission: work that a crash interrupted becomes in doubt, counted, or ready again. In a restored store the
   * shared account is frozen for each of these currencies, because what was spent since the copy is unknown.
   */
  recover(now: number, firstCheckMs: number, capped?: readonly string[]): Promise<Recovered>;
  /** Adds the oldest facts that no sum by hour has, a bounded number, and all together or none. False if only few were left. */
  rollUp(): Promise<boolean>;
  /** Deletes rows past their retention, a bounded number; money and approvals have their own retention. */
  prune(now: number, retention: Retention): Promise<number>;
  /**
   * Resolves once everything is here that decisions for a specialist depend on, and brings that forward; undefined if it is here. Nothing of
   * the specialist may begin before. Rejects with `Retryable` (`past_unread`) if the store is closed before.
   */
  pastOf(specialist: Handle): Promise<void> | undefined;
  /** True while `pastOf` has something to wait for. Brings nothing forward. */
  awaitsPast(specialist: Handle): boolean;
  /** Throws `Fatal` (`store_lost`) if another process may have the store by now. Call it right before the first byte of a request. */
  requireCurrent(): void;
  close(): Promise<void>;
}
