/** Webhook deliveries that nothing handled or understood, for display. */
import { defined } from "../core/defined.ts";
import { Refused } from "../core/errors.ts";
import { asHandle } from "../core/ids.ts";
import type { Store } from "../store/store.ts";
import { pageByTime, type Page } from "./page.ts";
import type { KeptDelivery } from "../store/history.ts";

export interface DeliveryShown extends KeptDelivery {
  /** The body as the sender wrote it: untrusted. Bytes that are not UTF-8 are replaced. */
  readonly body: string;
}

export interface DeliveryQuery {
  readonly handle?: string;
  readonly kind?: string;
  readonly before?: number;
  readonly limit: number;
}

export function readDeliveries(store: Store, { handle, kind, ...page }: DeliveryQuery): Promise<Page<KeptDelivery>> {
  const specialist = handle === undefined ? undefined : asHandle(handle);
  return pageByTime(
    page,
    ({ receivedAt }) => receivedAt,
    async (place) => ({ rows: await store.reads.keptDeliveries({ ...defined({ specialist, kind }), ...place }) }),
  );
}

export async function readDelivery(store: Store, seq: number): Promise<DeliveryShown> {
  const found = await store.reads.keptDelivery(seq);
  if (found === undefined)
    throw new Refused("nothing_found", `no delivery ${seq} is stored`, { hint: "retinue deliveries lists those that are" });
  return { ...found, body: Buffer.from(found.body).toString("utf8") };
}
