/** The events of one specialist for display: each with its state and its payload. */
import { defined } from "../core/defined.ts";
import { asHandle } from "../core/ids.ts";
import type { Json } from "../core/json.ts";
import type { Store } from "../store/store.ts";
import { MAX_LISTED } from "./page.ts";

export interface InboxQuery {
  readonly handle: string;
  readonly limit: number;
}

export interface InboxEntry {
  readonly id: string;
  readonly kind: string;
  readonly at: number;
  /** `ready`, `running`, `parked` or `done`. */
  readonly state: string;
  readonly doneAt?: number;
  /** Text of others. */
  readonly payload: Json;
}

/** Payloads beyond this many characters together are left to the next look. */
const MAX_TOGETHER = 200_000;

export async function readInbox(store: Store, { handle, limit }: InboxQuery): Promise<readonly InboxEntry[]> {
  const rows = await store.reads.eventsOf(asHandle(handle), Math.min(Math.max(1, limit), MAX_LISTED));
  let length = 0;
  return rows
    .map(({ id, kind, createdAt: at, state, doneAt, payload }) => defined({ id, kind, at, state, doneAt, payload }))
    .filter(({ payload }) => (length += JSON.stringify(payload).length) <= MAX_TOGETHER);
}
