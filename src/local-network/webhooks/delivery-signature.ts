/** Signs webhook deliveries in each supported scheme. */
import { createHmac } from "node:crypto";
import type { JsonObject } from "../../core/json.ts";
import type { WebhookScheme } from "../assumptions.ts";

export interface Signed {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

export interface Unsigned {
  readonly scheme: WebhookScheme;
  readonly secret: string;
  /** The delivery's id; the same for every attempt. */
  readonly id: string;
  readonly kind: string;
  readonly payload: JsonObject;
  /** The time of sending, which some schemes sign. */
  readonly atMs: number;
}

/** Builds the signed request of a delivery. */
export function sign({ scheme, secret, id, kind, payload, atMs }: Unsigned): Signed {
  const body = JSON.stringify(payload);
  const seconds = `${Math.floor(atMs / 1_000)}`;
  const common = { "content-type": "application/json", "x-event-type": kind, "x-delivery-id": id, "x-timestamp": seconds };
  switch (scheme) {
    case "none":
      return { body, headers: common };
    case "sha256-header":
      return { body, headers: { ...common, "x-signature-256": `sha256=${hex(secret, body)}` } };
    case "github":
      return {
        body,
        headers: {
          "content-type": "application/json",
          "x-github-event": kind,
          "x-github-delivery": id,
          "x-hub-signature-256": `sha256=${hex(secret, body)}`,
        },
      };
    case "stripe":
      return {
        body,
        headers: { "content-type": "application/json", "stripe-signature": `t=${seconds},v1=${hex(secret, `${seconds}.${body}`)}` },
      };
    case "standard": {
      const key = secret.startsWith("whsec_") ? Buffer.from(secret.slice(6), "base64") : Buffer.from(secret);
      const signature = createHmac("sha256", key).update(`${id}.${seconds}.${body}`).digest("base64");
      return {
        body,
        headers: {
          "content-type": "application/json",
          "webhook-id": id,
          "webhook-timestamp": seconds,
          "webhook-signature": `v1,${signature}`,
        },
      };
    }
    case "in-body":
      return {
        body: JSON.stringify({ ...payload, signature: `sha256=${hex(secret, body)}` }),
        headers: { "content-type": "application/json" },
      };
  }
}

function hex(secret: string, text: string): string {
  return createHmac("sha256", secret).update(text).digest("hex");
}
