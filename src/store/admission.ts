/** The transaction that lets a request leave, and the one that records how it ended. */
import type { AdmissionRequest, AdmissionView, Verdict, AttemptEnd } from "../limits/admission.ts";
import type { IntentId } from "../core/ids.ts";
import type { Attempt, IntentChange } from "../outbox/intent.ts";
import type { Money } from "../core/units.ts";
import type { Cap } from "../limits/spending.ts";
import type { OutcomeClass } from "../contract/call.ts";
import type { ObservedTime } from "../limits/ledger-clock.ts";
import type { NewEvent, WatchWrite } from "../contract/event.ts";

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
  readonly known: Pick<AdmissionView, "may" | "review" | "caps">;
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
export interface Completion {
  readonly attempt: Attempt;
  readonly end: AttemptEnd;
  readonly outcome: OutcomeClass;
  readonly status?: number;
  readonly note?: string;
  readonly now: number;
  /** What the answer's date told of the clock that rows are dated by: taken in before anything else. */
  readonly heard?: ObservedTime;
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

export interface AdmissionStore {
  /** The one transaction that lets a request leave. `decide` is pure and synchronous. */
  admit(admit: Admit, decide: Decide): Promise<Admission>;
  /** What `admit` would say now. Changes nothing. */
  explain(admit: Admit, decide: Decide): Promise<Verdict>;
  complete(settlement: Completion): Promise<void>;
}
