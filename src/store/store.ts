/** The whole store: every interface of this room as one, and its start, upkeep and end. */
import type { InboxStore } from "./inbox.ts";
import type { SourceStore } from "./sources.ts";
import type { RunStore } from "./runs.ts";
import type { AdmissionStore } from "./admission.ts";
import type { SpecialistStore } from "./specialists.ts";
import type { ApprovalStore, ControlStore } from "./controls.ts";
import type { HistoryStore, Retention } from "./history.ts";
import type { NetworkStateStore } from "./network-state.ts";
import type { MetadataStore } from "./metadata.ts";
import type { DeliveryStore } from "./deliveries.ts";
import type { OutboxStore } from "./outbox.ts";

export interface Recovered {
  /** Events whose handling never came back. */
  readonly events: number;
  /** Intents whose answer was lost with the process. */
  readonly doubts: number;
  readonly attempts: number;
  /** Set where the store was put back from a copy of this time: whatever may have been done since is in doubt first. */
  readonly restoredFrom?: number;
}

/**
 * The part of a store that a dry run shares with the project: what its keys have used, what is spent, and what a person has
 * stopped. Everything else is what a run thinks, and a dry run keeps that to itself.
 */
export interface Ledger extends AdmissionStore, ControlStore, MetadataStore {
  /** At the start of a process that does not recover the rest of the store: its time goes on from here. */
  beginLedger(now: number): Promise<void>;
}

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
    HistoryStore,
    NetworkStateStore {
  /** At start, before anything is admitted: what a crash left half-done becomes in doubt, counted, or ready again. */
  recover(now: number, firstCheckMs: number): Promise<Recovered>;
  /** Deletes what is older than its retention, a bounded number of rows; money and approvals have retentions of their own. */
  prune(now: number, retention: Retention): Promise<number>;
  close(): Promise<void>;
}
