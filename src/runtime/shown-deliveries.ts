/** Webhook deliveries that nobody handled or understood, as people read them. */
import { Refused } from "../core/errors.ts";
import { asHandle } from "../core/ids.ts";
import type { KeptDelivery, Store } from "../store/store.ts";

export interface DeliveryPage {
  /** Newest first. */
  readonly entries: readonly KeptDelivery[];
  /** Give it as `before` to read on; absent on the last page. */
  readonly next?: number;
}

export interface DeliveryShown extends KeptDelivery {
  /** What came, as the sender wrote it: nobody's words. Bytes that are no UTF-8 are replaced. */
  readonly body: string;
}

export interface DeliveryQuery {
  readonly handle?: string;
  readonly kind?: string;
  readonly before?: number;
  readonly limit: number;
}

const MAX_LISTED = 1_000;

export async function readDeliveries(store: Store, { handle, kind, before, limit }: DeliveryQuery): Promise<DeliveryPage> {
  const bounded = Math.min(Math.max(1, limit), MAX_LISTED);
  const entries = await store.keptDeliveries({
    ...(handle === undefined ? {} : { specialist: asHandle(handle) }),
    ...(kind === undefined ? {} : { kind }),
    ...(before === undefined ? {} : { before }),
    limit: bounded,
  });
  const last = entries.at(-1);
  return { entries, ...(last === undefined || entries.length < bounded ? {} : { next: last.seq }) };
}

export async function readDelivery(store: Store, seq: number): Promise<DeliveryShown> {
  const found = await store.keptDelivery(seq);
  if (found === undefined) throw new Refused("nothing_found", `no delivery ${seq} is kept`, { hint: "retinue deliveries lists what is" });
  return { ...found, body: Buffer.from(found.body).toString("utf8") };
}
