/** Deliveries over facts: a delivery whose bytes contain its events is identified by them and has no row of its own. */
import type { DatabaseSync } from "node:sqlite";
import type { NewEvent } from "../../contract/event.ts";
import type { Handle } from "../../core/ids.ts";
import type { DeliveryArrival } from "../deliveries.ts";
import type { Commits } from "./commits.ts";
import type { Deliveries } from "./delivery-rows.ts";
import type { Inbox } from "./inbox.ts";
import type { Dues } from "./due-work.ts";

export interface DeliveryParts {
  readonly commits: Commits;
  readonly inbox: Pick<Inbox, "insertEvent" | "hasRoomForEvents">;
  /** Deliveries with rows. */
  readonly stored: Deliveries;
  readonly dues: Dues;
  /** Called when watched objects may have changed. */
  readonly onNudged: () => void;
}

export function createPlainDeliveries(db: DatabaseSync, { commits, inbox, stored, dues, onNudged }: DeliveryParts): Deliveries {
  const vouched = db.prepare("SELECT 1 FROM main.event WHERE specialist = ? AND id = ? AND delivery = ?");
  const hasRow = db.prepare("SELECT 1 FROM delivery WHERE specialist = ? AND id = ?");
  const anyRow = db.prepare("SELECT 1 FROM delivery LIMIT 1");
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
    const fresh = plain.events.filter((event) => inbox.insertEvent(event, now, id));
    if (fresh.length > 0) return fresh;
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
  };
}
