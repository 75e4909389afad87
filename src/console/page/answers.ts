/** The answers of the console's routes, by the types of the server that gives them. */
import type { OrderName } from "../../guardian/record-orders.ts";
import type { PlanRow } from "../../limits/planner.ts";
import type { IntentState } from "../../outbox/intent.ts";
import type { SpecialistShown } from "../../guardian/status.ts";

export type { Explanation, Reason } from "../../guardian/explanation.ts";
export type { HaltResult } from "../../guardian/halt-and-pause.ts";
export type { InboxEntry } from "../../guardian/inbox-entries.ts";
export type { LogEntry } from "../../guardian/log-entries.ts";
export type { Need, NeedOrder, Needs } from "../../guardian/needs-you.ts";
export type { Page } from "../../guardian/page.ts";
export type { OrderResult } from "../../guardian/wake-waiting.ts";
export type { OrderRow } from "../../store/orders.ts";
export type { OrderName, PlanRow, SpecialistShown };

export interface Session {
  readonly who: string;
  readonly role: "view" | "act";
  readonly csrf: string;
}

/** Something changed on the server. */
export interface Change {
  readonly at: number;
  /** Number of matters that need a person. */
  readonly needs: number;
  /** The specialists it concerns; absent if it may concern all. */
  readonly handles?: readonly string[];
}

export interface SpecialistList {
  readonly at: number;
  readonly total: number;
  readonly rows: readonly SpecialistShown[];
}

/** Names and values of a JSON object. */
export type Fields = Readonly<Record<string, unknown>>;

export interface SpecialistAnswer {
  readonly at: number;
  readonly specialist: SpecialistShown;
  /** Absent if it does not run. */
  readonly plan?: PlanRow;
}

export interface HourOfUse {
  readonly at: number;
  readonly requests: number;
  readonly late: { readonly count: number; readonly maxMs: number };
  /** Micros by currency. */
  readonly money: { readonly [currency: string]: number };
}

export interface TimelineAttempt {
  readonly at: number;
  readonly endedAt?: number;
  readonly outcome?: string;
  readonly status?: number;
  readonly message?: string;
}

export interface TimelineIntent {
  readonly id: string;
  readonly operation: string;
  readonly target?: string;
  readonly state: IntentState;
  readonly code?: string;
  readonly message?: string;
  readonly words?: string;
  readonly created?: string;
  readonly reason?: string;
  readonly attempts: readonly TimelineAttempt[];
  readonly attemptCount: number;
}

export interface TimelineEvent {
  readonly seq: number;
  readonly id: string;
  readonly kind: string;
  readonly at: number;
  readonly state: string;
  readonly doneAt?: number;
  readonly nextAt?: number;
  readonly note?: string;
  readonly failure?: { readonly tries: number; readonly message: string };
  readonly title?: string;
  readonly text?: string;
  readonly author?: string;
  readonly steps: readonly { readonly name: string; readonly bytes: number }[];
  readonly stepCount: number;
  readonly actions: readonly TimelineIntent[];
}
