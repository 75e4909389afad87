/** Store interface of the Guardian's orders: who gave which, when, from where, why, and its result. */

import type { AnyCode } from "../core/error-codes.ts";

/** The person who gives an order, and the way by which it comes. */
export interface Caller {
  readonly who: string;
  /** `command`: a shell; `code`: the program that runs the specialists; `console`: its page, or a program that asks it. */
  readonly from: "command" | "code" | "console";
}

export interface NewOrder extends Caller {
  readonly at: number;
  /** The order's name, such as `approve`. */
  readonly what: string;
  /** The specialist, action or event that it names; undefined for everything. */
  readonly subject?: string;
  readonly why?: string;
}

export interface OrderEnd {
  readonly result: string;
  /** The code of the error, if the order was not carried out. */
  readonly code?: string;
}

export interface OrderRow extends NewOrder {
  readonly seq: number;
  /** Undefined if the process ended first. */
  readonly result?: string;
  /** The code of the error, if the order was not carried out. */
  readonly code?: string;
}

export interface OrderFilter {
  /** Its subject. */
  readonly subject?: string;
  /** The order's name. */
  readonly what?: string;
  readonly since?: number;
  /** Words that all occur in it. */
  readonly search?: readonly string[];
}

/** Codes by which a store says that it has nothing of an order's: another one may. */
export const NOT_HERE: readonly AnyCode[] = ["nothing_found", "nothing_parked", "specialist_unknown", "not_running", "nobody_at_work"];

/**
 * Rows of one order by what they say of it, the most telling first: one to all is not carried out if a store has failed, any other is if one
 * has carried it out.
 */
export function orderRank({ subject, code, result }: Pick<OrderRow, "subject" | "code" | "result">): number {
  if (subject === undefined && code !== undefined && !NOT_HERE.some((one) => one === code)) return 0;
  return code === undefined && result !== undefined ? 1 : 2;
}

/** Rows of one order, each noted by another store, are that close. */
export const ONE_ORDER_MS = 2_000;

export interface OrderStore {
  /** Adds an order before it is carried out; on disk with the first thing that it writes. Returns its number. */
  noteOrder(order: NewOrder): Promise<number>;
  endOrder(seq: number, end: OrderEnd): Promise<void>;
  /**
   * Newest first, given no later than `until`, with the number of all that match. An order that several stores noted is one, by
   * {@link orderRank}.
   */
  orders(
    filter: OrderFilter & { readonly until?: number; readonly limit: number },
  ): Promise<{ readonly rows: readonly OrderRow[]; readonly total: number }>;
}
