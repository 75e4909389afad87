/** Store interface of the overview: every specialist, and everything that waits for a person, in a fixed number of queries. */
import type { Handle } from "../core/ids.ts";
import type { Intent, IntentState } from "../outbox/intent.ts";
import type { Awaiting, SpentRow } from "./controls.ts";
import type { SourceRow } from "./sources.ts";
import type { SpecialistRow } from "./specialists.ts";

export interface HeldIntents {
  readonly operation: string;
  readonly lane: string;
  readonly state: "ready" | "proposed";
  /** Undefined if it was not delayed itself: its lane may wait. */
  readonly code: string | undefined;
  readonly message: string | undefined;
  readonly count: number;
  readonly nextAt: number;
}

/** A specialist as its rows show it. */
export interface SpecialistOverview {
  readonly row: SpecialistRow;
  /** Kept intents. */
  readonly counts: readonly { readonly operation: string; readonly state: IntentState; readonly count: number }[];
  /** Watched jobs by status. */
  readonly jobs: { readonly [state: string]: number };
  readonly sources: readonly SourceRow[];
  /** Its actions that the Guardian can answer; undefined if there is none. */
  readonly awaiting: Awaiting | undefined;
  /** Intents that are ready or wait for approval, by operation, lane and delaying rule, with the first time of each; the largest first. */
  readonly held: readonly HeldIntents[];
}

/** The first rows of a list, newest first, and the number of all. */
export interface Listed<Row> {
  readonly rows: readonly Row[];
  readonly total: number;
}

/** Intents that wait for a person. */
export interface WaitingIntents {
  readonly parked: Listed<Intent>;
  readonly doubts: Listed<Intent>;
  /** Decisions that wait for the network's own Guardian. */
  readonly pending: Listed<Intent>;
  /** The last refused deliverable of each job that is ours and has no other one in progress. */
  readonly undelivered: Listed<Intent>;
}

/** Work that waits, with the time of the oldest. */
export interface Backlog {
  readonly events: number;
  readonly oldestEventAt: number | undefined;
  readonly actions: number;
  readonly oldestActionAt: number | undefined;
}

export interface OverviewStore {
  /** Every specialist that has run here, or one, in the order of handles. */
  overview(now: number, specialist?: Handle): Promise<ReadonlyMap<Handle, SpecialistOverview>>;
  waitingIntents(limit: number): Promise<WaitingIntents>;
  backlog(): Promise<Backlog>;
  /** Money of every specialist, or of one, without the account that all share. */
  money(now: number, specialist?: Handle): Promise<ReadonlyMap<Handle, readonly SpentRow[]>>;
}
