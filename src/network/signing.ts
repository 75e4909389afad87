/** Signs webhook deliveries, in each scheme the network can be told to use. */
import { createHmac } from "node:crypto";
import type { JsonObject } from "../core/json.ts";
import type { WebhookScheme } from "./assumptions.ts";

export interface Signed {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The delivery as it goes over the wire. `atMs` is the moment of sending, which some schemes sign. */
export function sign(scheme: WebhookScheme, secret: string, id: string, payload: JsonObject, atMs: number): Signed {
  const body = JSON.stringify(payload);
  const seconds = `${Math.floor(atMs / 1_000)}`;
  const kind = { "content-type": "application/json", "x-event-type": `${payload["type"]}`, "x-delivery-id": id, "x-timestamp": seconds };
  switch (scheme) {
    case "none":
      return { body, headers: kind };
    case "sha256-header":
      return { body, headers: { ...kind, "x-signature-256": `sha256=${hex(secret, body)}` } };
    case "github":
      return {
        body,
        headers: {
          "content-type": "application/json",
          "x-github-event": `${payload["type"]}`,
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
