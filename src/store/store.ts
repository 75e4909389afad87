/** The whole store: every stage's port, and the operations that span stages, each one transaction. */
import type { NewEvent, WatchWrite } from "../contract/event.ts";
import type { OutcomeClass } from "../contract/call.ts";
import type { Handle, IntentId, KeyId } from "../core/ids.ts";
import type { JsonObject } from "../core/json.ts";
import type { Micros, Money } from "../core/units.ts";
import type { DeliveryStore, InboxStore } from "./inbox.ts";
import type { AdmissionRequest, AdmissionView, AttemptEnd, Stop, Verdict } from "../limits/admission.ts";
import type { Approval } from "../limits/approvals.ts";
import type { Cap, Scope } from "../limits/spending.ts";
import type { LaneFloors } from "../limits/lanes.ts";
import type { QuotaUse } from "../limits/quota.ts";
import type { Heard } from "../limits/ledger-clock.ts";
import type { Lane } from "../contract/operations.ts";
import type { TierLimits } from "../contract/tiers.ts";
import type { Attempt, Intent, IntentChange, OutboxStore } from "../outbox/intent.ts";
import type { ScheduleStore } from "./sources.ts";
import type { RunStore } from "./runs.ts";

/** What wants to leave, and what only its specialist's definition knows. */
export interface Admit {
  readonly request: AdmissionRequest;
  /** For writes: the intent's row. It must still be ready. */
  readonly intent?: { readonly seq: number; readonly id: IntentId; readonly conflictKey: string };
  readonly target?: string;
  readonly now: number;
  readonly deadlineAt: number;
  /** When a hold nobody settles counts as spent. */
  readonly holdExpiresAt: number;
  /** The rest of the view that is not in the store. */
  readonly known: Pick<AdmissionView, "may" | "review" | "keyUnusable" | "caps">;
}

export type Decide = (view: AdmissionView) => Verdict;

export type Admission =
  | { readonly kind: "admitted"; readonly attempt: Attempt }
  | Extract<Verdict, { readonly kind: "wait" | "refuse" }>
  /** The intent is not ready any more: somebody else has it, or it was cancelled. */
  | { readonly kind: "gone" };

/** What an action really cost, and the caps that may have been passed by it. */
export interface Paid {
  readonly money: Money;
  readonly caps: readonly Cap[];
}

/** How an attempt ended, and everything that follows from it in the same transaction. */
export interface Settlement {
  readonly attempt: Attempt;
  readonly end: AttemptEnd;
  readonly outcome: OutcomeClass;
  readonly status?: number;
  readonly note?: string;
  readonly now: number;
  /** What the answer's date told of the clock that rows are dated by: taken in before anything else. */
  readonly heard?: Heard;
  readonly intent?: {
    readonly seq: number;
    readonly id: IntentId;
    readonly change: IntentChange;
  };
  /** What the network says the action cost; without it, all that was held counts. */
  readonly paid?: Paid;
  /** Receipts and other events of the runtime's own. */
  readonly events: readonly NewEvent[];
  readonly watches: readonly WatchWrite[];
}

/** What is known of a specialist's account and whether it is parked. */
export interface SpecialistRow {
  readonly accountId: string | undefined;
  readonly parked: { readonly code: string; readonly message: string; readonly at: number; readonly until: number | undefined } | undefined;
}

export interface AdmissionStore {
  /** The one transaction that lets a request leave. `decide` is pure and synchronous. */
  admit(admit: Admit, decide: Decide): Promise<Admission>;
  /** What `admit` would say now. Changes nothing. */
  explain(admit: Admit, decide: Decide): Promise<Verdict>;
  settle(settlement: Settlement): Promise<void>;
}

/** A request on its way, and for which action: the runtime's own have none. */
export interface OpenAttempt extends Attempt {
  readonly intent: IntentId | undefined;
  readonly target: string | undefined;
}

/** An action that waits for the Guardian. */
export interface OpenApproval {
  readonly approval: Approval;
  readonly specialist: Handle;
}

export interface SpentRow {
  readonly currency: string;
  readonly heldMicros: Micros;
  readonly postedMicros: Micros;
  readonly dayMicros: Micros;
}

/** An account that something cost more than was set aside for it. */
export interface Frozen {
  readonly scope: Scope;
  readonly currency: string;
  readonly since: number;
  readonly reason: string;
}

export interface GuardianStore {
  /** Makes a specialist's key known with its limits; a key that replaces another one starts with that one's charges. */
  registerKey(handle: Handle, key: KeyId, quota: { readonly limits: TierLimits; readonly floors: LaneFloors }, now: number): Promise<void>;
  /** What a key has used, hour and day; undefined for a key never registered. */
  quotaUse(
    key: KeyId,
    now: number,
  ): Promise<{ readonly hour: QuotaUse; readonly day: QuotaUse; readonly parkedUntil: number; readonly parkReason: string } | undefined>;
  /** Requests a day that one lane of a key may plan with, as things stand. */
  laneBudget(key: KeyId, lane: Lane, now: number): Promise<number>;
  /** Held now and posted so far, by currency; `dayMicros` is both together in the Guardian's present day. */
  spent(handle: Handle, now: number): Promise<readonly SpentRow[]>;
  /** Switches a halt or pause on; resolves once it is on disk, so that nothing is admitted afterwards. */
  stop(kind: "halt" | "pause", scope: string, reason: string, now: number): Promise<void>;
  /** Answers false when there was none. */
  lift(kind: "halt" | "pause", scope: string): Promise<boolean>;
  stops(): Promise<{ readonly halts: readonly Stop[]; readonly pauses: readonly Stop[] }>;
  /** Accounts that spend nothing until a person has looked. */
  frozen(): Promise<readonly Frozen[]>;
  /** The Guardian's word that an account may spend again, on the books with who said it and why. Answers the currencies it was frozen in. */
  thaw(scope: Scope, word: { readonly by: string; readonly reason: string }, now: number): Promise<readonly string[]>;
  openApprovals(limit: number): Promise<readonly OpenApproval[]>;
  /** Answers false when nothing of that name waits. */
  decideApproval(intent: IntentId, verdict: "approved" | "rejected", reason: string | undefined, now: number): Promise<boolean>;
  /** Attempts sent and not answered yet, oldest first. */
  openAttempts(): Promise<readonly OpenAttempt[]>;
}

export interface RosterStore {
  loadSpecialist(handle: Handle): Promise<SpecialistRow>;
  /** The accounts known, by handle. */
  accounts(): Promise<ReadonlyMap<Handle, string>>;
  saveAccount(handle: Handle, accountId: string, now: number): Promise<void>;
  park(handle: Handle, why: { readonly code: string; readonly message: string; readonly until?: number }, now: number): Promise<void>;
  unpark(handle: Handle, now: number): Promise<void>;
  /** A runtime that starts tries every key anew. */
  unparkAll(now: number): Promise<void>;
  keyOf(handle: Handle): Promise<KeyId | undefined>;
}

/** An event as people see it. */
export interface EventRow {
  readonly specialist: Handle;
  readonly id: string;
  readonly kind: string;
  readonly state: string;
  /** Why it waits or is parked. */
  readonly note: string | undefined;
  /** Handlings that failed. */
  readonly attempts: number;
  readonly notBefore: number;
  readonly createdAt: number;
  readonly doneAt: number | undefined;
}

/** A webhook delivery that nobody handled or understood, as long as its body is kept. */
export interface KeptDelivery {
  readonly seq: number;
  readonly specialist: Handle;
  /** The id its signature covers, or one derived from the covered bytes. */
  readonly id: string;
  /** The network's word for what it tells of. */
  readonly kind: string | undefined;
  /** `unhandled`: nobody handles its kind; `parked`: it could not be understood. */
  readonly state: string;
  readonly scheme: string;
  /** Why it could not be understood. */
  readonly note: string | undefined;
  readonly receivedAt: number;
  /** The length of its body. */
  readonly bytes: number;
}

/** How long rows are kept once they are over. */
export interface Retention {
  /** Handled events. */
  readonly eventsMs: number;
  /** Intents that were confirmed, refused or cancelled. */
  readonly intentsMs: number;
  /** Requests that ended. */
  readonly requestsMs: number;
}

/** What people ask of a store that nothing depends on. */
export interface HistoryStore {
  /** Every specialist that has run here. */
  handles(): Promise<readonly Handle[]>;
  /** Events of one id, over all specialists, newest first. */
  findEvents(id: string, limit: number): Promise<readonly EventRow[]>;
  /** Newest first. */
  intents(filter: {
    readonly specialist?: Handle;
    /** An operation, or the noun of several: `posts` for all that begin so. */
    readonly operation?: string;
    readonly since?: number;
    readonly before?: number;
    readonly states?: readonly string[];
    readonly limit: number;
  }): Promise<readonly Intent[]>;
  counts(specialist: Handle): Promise<readonly { readonly operation: string; readonly state: string; readonly count: number }[]>;
  /** Newest first. */
  keptDeliveries(filter: {
    readonly specialist?: Handle;
    readonly kind?: string;
    readonly before?: number;
    readonly limit: number;
  }): Promise<readonly KeptDelivery[]>;
  /** One of them, with what came. */
  keptDelivery(seq: number): Promise<(KeptDelivery & { readonly body: Uint8Array }) | undefined>;
  jobCounts(specialist: Handle): Promise<readonly { readonly state: string; readonly count: number }[]>;
}

/** One thing learnt of a network, by kind and name. */
export interface StandingRow {
  readonly kind: string;
  readonly name: string;
  readonly data: JsonObject;
}

/** Rows to write over those of the same kind and name, and rows to delete first. */
export interface StandingChange {
  readonly put: readonly StandingRow[];
  readonly drop: readonly Pick<StandingRow, "kind" | "name">[];
}

export interface StandingStore {
  /** All rows: a bounded number, as what writes them bounds what it keeps. */
  standing(): Promise<readonly StandingRow[]>;
  /** Resolves once it is on disk. */
  keepStanding(change: StandingChange, now: number): Promise<void>;
}

/** What a store keeps for its runtime beside the flow. */
export interface UpkeepStore {
  /** The salt of key fingerprints: made once, by `make`, and kept with the rows that hold them. */
  salt(make: () => string): Promise<string>;
  /** The network it belongs to, mostly by its address; undefined where it was not used on one yet. */
  network(): Promise<string | undefined>;
  belongTo(network: string): Promise<void>;
  /** Writes a consistent copy while work goes on. Throws `Misconfigured` (`backup_exists`, `backup_failed`). */
  backup(file: string): Promise<void>;
}

export interface Recovered {
  /** Events whose handling never came back. */
  readonly events: number;
  /** Intents whose answer was lost with the process. */
  readonly doubts: number;
  readonly attempts: number;
  /** Set where the store was put back from a copy of this time: whatever may have been done since is in doubt first. */
  readonly restoredFrom?: number;
}

export interface Store
  extends
    InboxStore,
    DeliveryStore,
    RunStore,
    OutboxStore,
    ScheduleStore,
    GuardianStore,
    AdmissionStore,
    RosterStore,
    HistoryStore,
    StandingStore,
    UpkeepStore {
  /** At start, before anything is admitted: what a crash left half-done becomes in doubt, counted, or ready again. */
  recover(now: number, firstCheckMs: number): Promise<Recovered>;
  /** Deletes what is older than its retention, a bounded number of rows; money and approvals have retentions of their own. */
  prune(now: number, retention: Retention): Promise<number>;
  close(): Promise<void>;
}
