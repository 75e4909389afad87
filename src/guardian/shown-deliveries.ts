/** Webhook deliveries that nobody handled or understood, as people read them. */
import { defined } from "../core/defined.ts";
import { Refused } from "../core/errors.ts";
import { asHandle } from "../core/ids.ts";
import type { Store } from "../store/store.ts";
import { pageOf, type Page } from "./page.ts";
import type { KeptDelivery } from "../store/history.ts";

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

export function readDeliveries(store: Store, { handle, kind, before, limit }: DeliveryQuery): Promise<Page<KeptDelivery>> {
  return pageOf(limit, (bounded) =>
    store.keptDeliveries({
      ...(handle === undefined ? {} : { specialist: asHandle(handle) }),
      ...defined({ kind, before }),
      limit: bounded,
    }),
  );
}

export async function readDelivery(store: Store, seq: number): Promise<DeliveryShown> {
  const found = await store.keptDelivery(seq);
  if (found === undefined) throw new Refused("nothing_found", `no delivery ${seq} is kept`, { hint: "retinue deliveries lists what is" });
  return { ...found, body: Buffer.from(found.body).toString("utf8") };
}
