/** Which handler listens to a kind of event, and the events that tell an author what became of an intent. */
import type { NewEvent } from "../contract/event.ts";
import type { Receipt } from "../contract/event-kinds.ts";
import { eventId } from "../contract/event-id.ts";
import { asJson } from "../core/json.ts";
import type { Specialist } from "../specialist/specialist.ts";
import type { DraftIntent, IntentRefusal } from "../specialist/intent-draft.ts";
import { handlerOf } from "../specialist/handlers.ts";

export const RECEIPT_KINDS = ["intent.confirmed", "intent.refused", "intent.pending", "intent.parked"] as const;

/** The event that tells an author what became of an intent; undefined where nobody listens. */
export function receiptEvent(specialist: Specialist, kind: string, receipt: Receipt, hops: number): NewEvent | undefined {
  if (handlerOf(specialist, kind) === undefined) return undefined;
  return {
    specialist: specialist.handle,
    id: eventId(kind, receipt.intent),
    kind,
    payload: asJson(receipt),
    via: "runtime",
    hops: hops + 1,
  };
}

export function draftReceipt(draft: DraftIntent, refusal: IntentRefusal): Receipt {
  return {
    intent: draft.id,
    operation: draft.operation,
    ...(draft.label === undefined ? {} : { key: draft.label }),
    ...(draft.data === undefined ? {} : { data: draft.data }),
    ...(draft.target === undefined ? {} : { target: draft.target }),
    ...refusal,
  };
}
