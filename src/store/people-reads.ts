/** Store interface of everything that people read. No decision depends on it, so it may run beside the work of the process. */
import type { ApprovalStore } from "./controls.ts";
import type { HistoryStore } from "./history.ts";
import type { InboxStore } from "./inbox.ts";
import type { JobBoardStore } from "./job-board.ts";
import type { OrderStore } from "./orders.ts";
import type { OverviewStore } from "./overview.ts";
import type { TimelineStore } from "./timeline.ts";
import type { UsageHourStore } from "./usage-hours.ts";

/**
 * Each read sees every write that was answered before it was asked. The reads of a store in a file run in a thread of their own; they
 * throw `Retryable` (`read_failed`) if it ends.
 */
export interface PeopleReads
  extends
    HistoryStore,
    OverviewStore,
    TimelineStore,
    UsageHourStore,
    JobBoardStore,
    Pick<ApprovalStore, "openApprovals">,
    Pick<InboxStore, "parkedEvents" | "parkedEventCount">,
    Pick<OrderStore, "orders"> {}

/** The same reads over rows alone, each done at once. */
export type ReadTable = {
  readonly [name in keyof PeopleReads]: (...given: Parameters<PeopleReads[name]>) => Awaited<ReturnType<PeopleReads[name]>>;
};
