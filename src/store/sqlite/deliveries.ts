/** Deliveries over facts: a delivery whose bytes contain its events is identified by them and has no row of its own. */
import type { DatabaseSync } from "node:sqlite";
import type { NewEvent } from "../../contract/event.ts";
import type { Handle } from "../../core/ids.ts";
import type { DeliveryArrival } from "../deliveries.ts";
import type { Commits } from "./commits.ts";
import type { Deliveries } from "./delivery-rows.ts";
import type { Inbox } from "./inbox.ts";
import { rowInserter } from "./insert-rows.ts";
import type { Loaded } from "./load.ts";
import type { Dues } from "./due-work.ts";

export interface DeliveryParts {
  readonly commits: Commits;
  readonly inbox: Pick<Inbox, "insertEvent" | "hasRoomForEvents">;
  /** Deliveries with rows. */
  readonly stored: Deliveries;
  readonly dues: Dues;
  /** Called when watched objects may have changed. */
  readonly onNudged: () => void;
  /** Deliveries before this start that no count contains yet. */
  readonly told: Loaded["told"];
}

export interface PlainDeliveries extends Deliveries {
  /** Writes the counts of deliveries without rows. */
  readonly flushCounts: () => void;
  /** Counts not written yet, by specialist and the network's word. */
  readonly pendingCounts: () => readonly { readonly specialist: Handle; readonly kind: string; readonly n: number }[];
}

export function createPlainDeliveries(db: DatabaseSync, { commits, inbox, stored, dues, onNudged, told }: DeliveryParts): PlainDeliveries {
  const vouched = db.prepare("SELECT 1 FROM main.event WHERE specialist = ? AND id = ? AND delivery = ?");
  const hasRow = db.prepare("SELECT 1 FROM delivery WHERE specialist = ? AND id = ?");
  const anyRow = db.prepare("SELECT 1 FROM delivery LIMIT 1");
  const { counted, flushCounts, pendingCounts } = createCounts(db, told);
  /** False while no delivery has a row, as in most stores. */
  let mayHaveRows = anyRow.get() !== undefined;

  const changed = (specialist: Handle): void => {
    dues.forget(specialist);
    onNudged();
  };
  const isVouched = ({ specialist, id }: DeliveryArrival["delivery"], events: readonly NewEvent[]): boolean =>
    events.some((event) => vouched.get(specialist, event.id, id) !== undefined);
  /** Returns undefined if the delivery needs a row. */
  const putPlain = ({ delivery, plain }: DeliveryArrival, now: number): readonly NewEvent[] | "known" | undefined => {
    if (plain === undefined || plain.state !== "done" || plain.events.length === 0 || plain.nudges.length > 0) return undefined;
    const { specialist, id } = delivery;
    if (!inbox.hasRoomForEvents(specialist) || (mayHaveRows && hasRow.get(specialist, id) !== undefined)) return undefined;
    const fresh: NewEvent[] = [];
    for (const event of plain.events) {
      const word = fresh.length === 0 ? (plain.kind ?? "") : undefined;
      if (inbox.insertEvent(event, now, id, word)) fresh.push(event);
    }
    if (fresh.length > 0) {
      counted(specialist, plain.kind ?? "");
      return fresh;
    }
    return isVouched(delivery, plain.events) ? "known" : undefined;
  };

  return {
    ...stored,
    putDelivery(arrival, now) {
      const plain = putPlain(arrival, now);
      if (plain === undefined) {
        mayHaveRows = true;
        changed(arrival.delivery.specialist);
        return stored.putDelivery(arrival, now);
      }
      if (plain !== "known") arrival.onStored(plain, false);
      return commits.synced(plain === "known" ? plain : "stored"); // a known one may not be on disk yet
    },
    endDelivery(ended, now) {
      changed(ended.specialist);
      return stored.endDelivery(ended, now);
    },
    delayDelivery(seq, change) {
      dues.forgetAll();
      return stored.delayDelivery(seq, change);
    },
    nudge(specialist, nudges, now) {
      changed(specialist);
      return stored.nudge(specialist, nudges, now);
    },
    deliveryCounts(specialist) {
      commits.add(flushCounts);
      return stored.deliveryCounts(specialist);
    },
    flushCounts,
    pendingCounts,
  };
}

interface Count {
  readonly specialist: Handle;
  readonly kind: string;
  n: number;
}

/** Counts deliveries without rows until the next fold. */
function createCounts(db: DatabaseSync, told: Loaded["told"]) {
  const write = rowInserter<Count>(
    db,
    {
      head: "INSERT INTO delivery_count (specialist, kind, n, state)",
      columns: 4,
      tail: "ON CONFLICT (specialist, kind, state) DO UPDATE SET n = n + excluded.n",
    },
    (values, from, { specialist, kind, n }) => {
      values[from] = specialist;
      values[from + 1] = kind;
      values[from + 2] = n;
      values[from + 3] = "done";
    },
  );
  /** By specialist: each has few words, which are compared. */
  let counts = new Map<Handle, Count[]>();
  const counted = (specialist: Handle, kind: string): void => {
    const words = counts.get(specialist);
    if (words === undefined) return void counts.set(specialist, [{ specialist, kind, n: 1 }]);
    for (const word of words) if (word.kind === kind) return void word.n++;
    words.push({ specialist, kind, n: 1 });
  };
  for (const { specialist, word } of told) counted(specialist, word);
  const flushCounts = (): void => {
    write([...counts.values()].flat());
    counts = new Map();
  };
  return { counted, flushCounts, pendingCounts: () => [...counts.values()].flat() };
}
