/** Retention of the limits' rows once they no longer affect a decision. */
import { DAY } from "../core/units.ts";

/**
 * Completed holds and ledger entries: thirteen months, so that a year can be audited. Older entries are carried into one sum; those of holders
 * of a server that have ended are removed.
 */
export const MONEY_KEPT_MS = 396 * DAY;
/** Approvals after their decision or expiry. */
export const APPROVALS_KEPT_MS = 396 * DAY;
/** Rows deleted per table in one prune, so that no transaction is long. */
export const PRUNE_BATCH = 1_000;
