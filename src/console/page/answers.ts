/** The answers of the console's routes, by the types of the server that gives them. */
import type { OrderName } from "../../guardian/record-orders.ts";
import type { Need, Needs } from "../../guardian/needs-you.ts";
import type { SpecialistShown } from "../../guardian/status.ts";

export type { Explanation, Reason } from "../../guardian/explanation.ts";
export type { HaltResult } from "../../guardian/halt-and-pause.ts";
export type { InboxEntry } from "../../guardian/inbox-entries.ts";
export type { LogEntry } from "../../guardian/log-entries.ts";
export type { Page } from "../../guardian/page.ts";
export type { OrderResult } from "../../guardian/wake-waiting.ts";
export type { OrderRow } from "../../store/orders.ts";
export type { Need, Needs, OrderName, SpecialistShown };

export type NeedOrder = Need["orders"][number];

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

