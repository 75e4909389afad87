/** The answers of the console's routes, by the types of the server that gives them. */
import type { Standing } from "../../guardian/shown-standing.ts";
import type { SpecialistShown } from "../../guardian/status.ts";
import type { PlanRow } from "../../limits/planner.ts";
import type { Visitor } from "../access.ts";

export type { Explanation, Reason } from "../../guardian/explanation.ts";
export type { HaltResult } from "../../guardian/halt-and-pause.ts";
export type { InboxEntry } from "../../guardian/inbox-entries.ts";
export type { LogEntry } from "../../guardian/log-entries.ts";
export type { Need, NeedOrder, Needs } from "../../guardian/needs-you.ts";
export type { Page } from "../../guardian/page.ts";
export type { OrderName } from "../../guardian/record-orders.ts";
export type { JobBoard, JobShown } from "../../guardian/shown-jobs.ts";
export type { TimelineEvent, TimelineIntent } from "../../guardian/timeline-events.ts";
export type { OrderResult } from "../../guardian/wake-waiting.ts";
export type { OrderRow } from "../../store/orders.ts";
export type { UsageHour } from "../../store/usage-hours.ts";
export type { SpecialistsListed } from "../list-specialists.ts";
export type { PlanRow, SpecialistShown, Standing };

export type Session = Required<Visitor>;

/** Something changed on the server. */
export interface Change {
  readonly at: number;
  /** Number of matters that need a person. */
  readonly needs: number;
  /** The specialists it concerns; absent if it may concern all. */
  readonly handles?: readonly string[];
}

export interface SpecialistAnswer {
  readonly at: number;
  readonly specialist: SpecialistShown;
  /** Absent if it does not run. */
  readonly plan?: PlanRow;
  readonly standing?: Standing;
}

/** Names and values of a JSON object. */
export type Fields = Readonly<Record<string, unknown>>;
