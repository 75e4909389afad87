/** Store interface of admission: the transaction that lets a request leave, and the one that records its end. */
import type { AdmissionRequest, AdmissionView, Stop, Verdict, AttemptEnd } from "../limits/verdict.ts";
import type { IntentId } from "../core/ids.ts";
import type { Attempt, IntentChange, TargetOf } from "../outbox/intent.ts";
import type { Money } from "../core/units.ts";
import type { Cap } from "../limits/spending.ts";
import type { OutcomeClass } from "../contract/call.ts";
import type { ObservedTime } from "../limits/ledger-clock.ts";
import type { NewEvent, WatchWrite } from "../contract/event.ts";

/** The request to admit, with the facts of its specialist's definition. */
export interface Admit {
  readonly request: AdmissionRequest;
  /** For writes: the intent's row, which must still be ready. */
  readonly intent?: { readonly seq: number; readonly id: IntentId; readonly conflictKey: string } | undefined;
  readonly target?: string | undefined;
  readonly now: number;
  readonly deadlineAt: number;
  /** Time at which an open hold counts as spent. */
  readonly holdExpiresAt: number;
  /** The part of the view that is not in the store. */
  readonly known: Pick<AdmissionView, "may" | "review" | "caps"> & {
    /** A halt that the store does not have. */
    readonly halt?: Stop | undefined;
  };
}

export type Decide = (view: AdmissionView) => Verdict;

export type Admission =
  | { readonly kind: "admitted"; readonly attempt: Attempt }
  | Extract<Verdict, { readonly kind: "wait" | "refuse" }>
  /** The intent is no longer ready: another attempt took it, or it was cancelled. */
  | { readonly kind: "gone" };

/** The actual cost of an action, and the caps it may have exceeded. */
export interface Paid {
  readonly money: Money;
  readonly caps: readonly Cap[];
}

/** The end of an attempt, with everything that follows in the same transaction. */
export interface Completion {
  readonly attempt: Attempt;
  readonly end: AttemptEnd;
  readonly outcome: OutcomeClass;
  readonly status?: number | undefined;
  readonly note?: string | undefined;
  readonly now: number;
  /** Result of the answer's `Date` for the clock that dates rows: applied before anything else. */
  readonly heard?: ObservedTime | undefined;
  readonly intent?:
    | {
        readonly seq: number;
        readonly id: IntentId;
        readonly change: IntentChange<TargetOf<"answer">>;
      }
    | undefined;
  /** The cost stated by the network; without it, the whole hold counts. */
  readonly paid?: Paid | undefined;
  /** Receipts and other events of the runtime. */
  readonly events: readonly NewEvent[];
  readonly watches: readonly WatchWrite[];
}

export interface AdmissionStore {
  /** The one transaction that lets a request leave: resolves once its row is on disk. `decide` is pure and synchronous. */
  admit(admit: Admit, decide: Decide): Promise<Admission>;
  /** The present verdict of `admit`. Changes nothing. */
  explain(admit: Admit, decide: Decide): Promise<Verdict>;
  complete(settlement: Completion): void;
}
