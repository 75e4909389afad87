/** Store interface of usage by hour: requests, lateness and money, kept longer than the facts they are made of. */
import type { Handle } from "../core/ids.ts";
import { DAY, MINUTE, type Micros } from "../core/units.ts";

/** Age at which an hour is forgotten. */
export const HOURS_KEPT_MS = 90 * DAY;
/** An event is late if its handling ends this long after its schedule's time, or after it came. */
export const LATE_FROM_MS = MINUTE;

export interface UsageHour {
  /** Start of the hour, in ms since the epoch. */
  readonly at: number;
  /** Admitted requests, as the quota counts them. */
  readonly requests: number;
  /** Handled events that were late, and the longest delay of any. */
  readonly late: { readonly count: number; readonly maxMs: number };
  /** Spent, by currency. */
  readonly money: { readonly [currency: string]: Micros };
}

export interface UsageHourStore {
  /** Hours with any of it, oldest first, of one specialist or of all together; the present hour included. */
  hours(filter: { readonly specialist?: Handle; readonly since: number }): Promise<readonly UsageHour[]>;
}
