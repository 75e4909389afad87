/** A store whose past is still being read: what needs it waits, and everything else works. */
import type { Clock } from "../../core/clock.ts";
import { sleep } from "../../core/clock.ts";
import { Retryable } from "../../core/errors.ts";
import { SECOND } from "../../core/units.ts";
import type { PeopleReads } from "../people-reads.ts";
import type { Store } from "../store.ts";
import type { Past } from "./past.ts";

type AwaitedPast = Pick<Past, "of" | "lacks" | "missing" | "decided" | "complete">;

/** Longest wait of a person. */
const WAIT_MS = 4 * SECOND;

/**
 * The reads for people, and if one needs the past: one that is missing here does not compile. The process reads for a specialist that has
 * begun, whose past is here.
 */
const NEEDS_PAST: { readonly [name in keyof PeopleReads]: boolean } = {
  handles: false,
  findEvents: true,
  eventsAbout: true,
  eventsOf: true,
  failing: false,
  failedEvents: true,
  eventOf: true,
  intents: true,
  logTotal: true,
  searchEnd: true,
  keptDeliveries: false,
  keptDelivery: false,
  overview: false,
  waitingIntents: false,
  backlog: false,
  money: false,
  timeline: true,
  hours: false,
  jobBoard: true,
  openApprovals: false,
  parkedEvents: false,
  parkedEventCount: false,
  orders: false,
};

/** `onAwaited` is called when a person has waited that long, who then waits on. Without it the read is refused (`past_unread`). */
export function awaitPast(
  store: Store,
  past: AwaitedPast,
  { clock, onAwaited }: { readonly clock: Clock; readonly onAwaited?: () => void },
): Store {
  const forPeople = async (arrival: Promise<void> | undefined): Promise<void> => {
    if (arrival === undefined) return;
    const over = new AbortController();
    const tooLong = async (): Promise<void> => {
      await sleep(clock, WAIT_MS, over.signal);
      if (over.signal.aborted) return;
      if (onAwaited === undefined) throw unread(past);
      onAwaited();
      await arrival;
    };
    await Promise.race([arrival.finally(() => over.abort()), tooLong()]);
  };
  const waiting = (reads: PeopleReads): PeopleReads => {
    const needy = Object.keys(NEEDS_PAST).filter((name): name is keyof PeopleReads => NEEDS_PAST[name as keyof PeopleReads]);
    const made = needy.map((name) => {
      const read = reads[name] as (...given: readonly unknown[]) => Promise<unknown>;
      return [
        name,
        async (...given: readonly unknown[]) => {
          await forPeople(past.complete);
          return read(...given);
        },
      ];
    });
    return { ...reads, ...(Object.fromEntries(made) as { readonly [name in keyof PeopleReads]: never }) };
  };
  return {
    ...store,
    reads: waiting(store.reads),
    pastOf: (specialist) => past.of(specialist),
    awaitsPast: (specialist) => past.lacks(specialist),
    async putEvents(arrival, now) {
      if (past.decided !== undefined) for (const { specialist } of arrival.events) await past.of(specialist);
      return store.putEvents(arrival, now);
    },
    async putDelivery(arrival, now) {
      await past.of(arrival.delivery.specialist);
      return store.putDelivery(arrival, now);
    },
    async recordRun(event, run) {
      await past.of(event.specialist);
      return store.recordRun(event, run);
    },
    async unparkEvent(specialist, id, now) {
      await past.of(specialist);
      return store.unparkEvent(specialist, id, now);
    },
    async findIntent(id) {
      const found = await store.findIntent(id);
      if (found !== undefined || past.decided === undefined) return found;
      await forPeople(past.decided);
      return store.findIntent(id);
    },
    prune: async (now, retention) => (past.complete === undefined ? store.prune(now, retention) : 0),
    async backup(file) {
      await past.complete;
      await store.backup(file);
    },
  };
}

function unread(past: AwaitedPast): Retryable {
  const left =
    past.missing > 0 ? `${past.missing} shards are left, and their specialists begin as it comes` : "its specialists work meanwhile";
  return new Retryable("past_unread", `the past of this store is still being read from the server: ${left}`, {
    hint: "ask again in a moment; retinue status shows the present",
  });
}
