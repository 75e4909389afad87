/** Reads for people in SQLite: over rows alone, so a thread with its own connection can do them too. */
import type { DatabaseSync } from "node:sqlite";
import type { Present } from "../../live/present.ts";
import type { EventRow } from "../history.ts";
import type { SpecialistOverview } from "../overview.ts";
import type { PeopleReads, ReadTable } from "../people-reads.ts";
import { NO_ROW } from "../specialists.ts";
import { createApprovalList } from "./controls.ts";
import { createEventHistory, stateOf } from "./event-history.ts";
import { createHistory } from "./history.ts";
import { createJobBoard } from "./job-board.ts";
import { createOrderList } from "./orders.ts";
import { createOverview } from "./overview.ts";
import { createTimeline } from "./timeline.ts";
import { createUsageHours } from "./usage-hours.ts";

export type ReadName = keyof PeopleReads;

/** Every read: one that is missing here does not compile. */
const NAMES: { readonly [name in ReadName]: true } = {
  handles: true,
  findEvents: true,
  eventsAbout: true,
  eventsOf: true,
  failing: true,
  failedEvents: true,
  eventOf: true,
  intents: true,
  logTotal: true,
  searchEnd: true,
  keptDeliveries: true,
  keptDelivery: true,
  overview: true,
  waitingIntents: true,
  backlog: true,
  money: true,
  timeline: true,
  hours: true,
  jobBoard: true,
  openApprovals: true,
  parkedEvents: true,
  parkedEventCount: true,
  orders: true,
};

export function createReadTable(db: DatabaseSync): ReadTable {
  return {
    ...createHistory(db),
    ...createEventHistory(db),
    ...createOverview(db),
    ...createTimeline(db),
    ...createUsageHours(db),
    ...createJobBoard(db),
    ...createApprovalList(db),
    ...createOrderList(db),
  };
}

/** Does one read, by its name. */
export type Read = (name: ReadName, given: readonly unknown[]) => Promise<unknown>;

/** Does one read of a table; both ends know its name, so its arguments have the shape it defines. */
export function readIn(table: ReadTable, name: ReadName, given: readonly unknown[]): unknown {
  const read = table[name] as (...given: readonly unknown[]) => unknown;
  return read(...given);
}

/** Reads rows, and corrects them by what only the process knows: the events that handlers have, and specialists without rows. */
export function createPeopleReads(read: Read, present: Present): PeopleReads {
  const names = Object.keys(NAMES) as ReadName[];
  const reads: PeopleReads = Object.fromEntries(names.map((name) => [name, (...given: readonly unknown[]) => read(name, given)])) as {
    readonly [name in ReadName]: never;
  };
  const known = (event: EventRow): EventRow => {
    const live = present.events.get(event.seq);
    return live === undefined ? event : { ...event, ...stateOf(live) };
  };
  return {
    ...reads,
    findEvents: async (id, limit) => (await reads.findEvents(id, limit)).map(known),
    eventsAbout: async (objects, kinds, limit) => (await reads.eventsAbout(objects, kinds, limit)).map(known),
    eventsOf: async (specialist, limit) => (await reads.eventsOf(specialist, limit)).map(known),
    failedEvents: async (filter) => (await reads.failedEvents(filter)).map(known),
    async eventOf(intent) {
      const event = await reads.eventOf(intent);
      return event === undefined ? undefined : known(event);
    },
    async failing(specialist, limit) {
      const { groups, ...totals } = await reads.failing(specialist, limit);
      return { groups: groups.map((group) => ({ ...group, latest: known(group.latest) })), ...totals };
    },
    async timeline(filter) {
      const { rows, total } = await reads.timeline(filter);
      return { rows: rows.map((row) => ({ ...row, event: known(row.event) })), total };
    },
    async overview(now, specialist) {
      const rows = await reads.overview(now, specialist);
      const added = specialist === undefined ? [...present.specialists()].filter((handle) => !rows.has(handle)) : [];
      if (added.length === 0) return rows;
      return new Map([...rows, ...added.map((handle) => [handle, NOTHING] as const)].toSorted(([a], [b]) => (a < b ? -1 : 1)));
    },
  };
}

/** The overview of a specialist without rows. */
const NOTHING: SpecialistOverview = { row: NO_ROW, counts: [], jobs: {}, sources: [], awaiting: undefined, held: [] };
