/** Carries webhook deliveries of a simulated run from the network to the machine's receiver, in virtual time. */
import type { Clock } from "../core/clock.ts";
import type { Random } from "../core/random.ts";
import { SECOND } from "../core/units.ts";
import type { RawDelivery } from "../webhooks/receiver/signatures.ts";
import { ConnectionLost } from "../local-network/server/exchange.ts";
import type { Deliver } from "../local-network/webhooks/deliver.ts";
import type { FaultRates } from "./faults.ts";

export interface WebhookTransportOptions {
  /** The clock of the simulated world. */
  readonly clock: Clock;
  readonly random: Random;
  readonly rates: () => FaultRates;
  /** Nothing gets through while this is true. */
  readonly down: () => boolean;
  /** Hands a delivery to the receiver and returns its status. Rejects if no process listens; stays pending if the process dies. */
  readonly take: (handle: string, delivery: RawDelivery) => Promise<number>;
  /** Called as the receiver's answer leaves. */
  readonly onAnswer: (handle: string, delivery: RawDelivery, status: number) => void;
}

/** Address to which the network delivers. No socket reaches it. */
export const RECEIVER_URL = "https://receiver.example.net";

const ONE_WAY_MS = { least: 3, most: 120 };
/** The network waits this long for an answer. */
const PATIENCE_MS = 10 * SECOND;

export function createWebhookTransport({ clock, random, rates, down, take, onAnswer }: WebhookTransportOptions): Deliver {
  const wayMs = (): number => ONE_WAY_MS.least + random.int(ONE_WAY_MS.most);
  return ({ url, headers, body }) =>
    new Promise((resolve, reject) => {
      const deadline = clock.after(PATIENCE_MS, () => reject(new ConnectionLost("no answer in time")));
      const handle = decodeURIComponent(url.slice(url.lastIndexOf("/") + 1));
      const delivery: RawDelivery = { headers, body: Buffer.from(body) };
      const loses = (share: number): boolean => random.next() < share;
      if (down() || loses(rates().lostRequests)) return;
      clock.after(wayMs(), () => {
        take(handle, delivery).then(
          (status) => {
            onAnswer(handle, delivery, status);
            if (loses(rates().lostReplies)) return;
            clock.after(wayMs(), () => {
              deadline.cancel();
              resolve(status);
            });
          },
          (error: unknown) => {
            deadline.cancel();
            reject(error as Error);
          },
        );
      });
    });
}
