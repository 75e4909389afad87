/** How long the rows of the limits are kept once they no longer decide anything. */
import { DAY } from "../core/units.ts";

/** Settled holds and ledger entries: thirteen months, so that a year can be audited. Older entries are carried into one sum. */
export const MONEY_KEPT_MS = 396 * DAY;
/** Approvals after they were decided, or ran out unanswered. */
export const APPROVALS_KEPT_MS = 396 * DAY;
/** Rows deleted per table in one prune, so that no transaction is long. */
export const PRUNE_BATCH = 1_000;
