/** A sender of deliveries over connections that stay open, for suites in which a receiver may end before it answers. */
import { Agent, request } from "undici";
import { delivered, signatureOf } from "../subjects/webhook.ts";
import { handleOf, type DeliveryForm } from "./deliveries.ts";

export interface Sender {
  /** Sends an event's delivery once, always with the same id. Resolves with the status; 0 where there was no answer. */
  send(port: number, n: number): Promise<number>;
  close(): Promise<void>;
}

export interface SenderOptions extends DeliveryForm {
  /** Without an answer for so long, it gives up. Default: that of undici. */
  readonly timeoutMs?: number;
}

/** A sender tries again like this. */
export const AGAIN_MS = 200;

export const isTaken = (status: number): boolean => status >= 200 && status < 300;

export function openSender({ timeoutMs, ...form }: SenderOptions = {}): Sender {
  const dispatcher = new Agent({ connections: 64 });
  return {
    async send(port, n) {
      const event = delivered(n);
      const body = JSON.stringify({ ...event, type: form.type ?? event.type });
      const url = `http://127.0.0.1:${port}/webhooks/${handleOf(n, form)}`;
      const headers = {
        "content-type": "application/json",
        "x-github-event": "issues",
        "x-github-delivery": `delivery-${n}`,
        "x-hub-signature-256": signatureOf(body),
      };
      const limit = timeoutMs === undefined ? {} : { signal: AbortSignal.timeout(timeoutMs) };
      try {
        const { statusCode, body: answer } = await request(url, { method: "POST", dispatcher, body, headers, ...limit });
        await answer.dump();
        return statusCode;
      } catch {
        return 0; // the receiver ended or hangs: that is what these suites do to it
      }
    },
    close: () => dispatcher.destroy(),
  };
}
