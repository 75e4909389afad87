/** Builds a signed delivery in any scheme, as a network sends it: for tests of receivers and for trying one. */
import { createHmac } from "node:crypto";
import { SECOND } from "../../core/units.ts";
import { standardKeys } from "./signatures.ts";

/** The schemes by which a network may sign a delivery. */
export const DELIVERY_SCHEMES = ["standard", "sha256-header", "github", "stripe", "slack", "in-body", "path", "none"] as const;
/** The name of a scheme by which a delivery is signed. */
export type DeliveryScheme = (typeof DELIVERY_SCHEMES)[number];

/** A delivery before it is signed: body, secret, id, and time in ms since the epoch. */
export interface DeliveryToSign {
  readonly scheme: DeliveryScheme;
  readonly secret: string;
  /** The JSON to send: an object, or its exact text or bytes. */
  readonly payload: object | string | Uint8Array;
  /** The delivery's id. Default `evt_1`. */
  readonly id?: string;
  /** The kind, for schemes that state it in a header. */
  readonly kind?: string;
  /** The time of sending, in ms since the epoch, which most schemes sign. */
  readonly at: number;
}

/** A delivery as a network sends it: headers and body. */
export interface SignedDelivery {
  readonly headers: { readonly [name: string]: string };
  readonly body: Buffer<ArrayBuffer>;
  /** With `path`, the end of the address: `/webhooks/<handle>/<token>`. */
  readonly token?: string;
}

/** The headers and body of one delivery. `in-body` needs an object, or text that ends in `}`. */
export function signDelivery({ scheme, secret, payload, id = "evt_1", kind, at }: DeliveryToSign): SignedDelivery {
  const body =
    payload instanceof Uint8Array ? Buffer.from(payload) : Buffer.from(typeof payload === "string" ? payload : JSON.stringify(payload));
  const seconds = `${Math.floor(at / SECOND)}`;
  const named = kind === undefined ? {} : { "x-event-type": kind };
  const json = { "content-type": "application/json" };
  switch (scheme) {
    case "none":
      return { headers: { ...json, ...named }, body };
    case "path":
      return { headers: { ...json, ...named }, body, token: secret };
    case "standard": {
      const [key = secret] = standardKeys(secret);
      const signature = hmac(key, `${id}.${seconds}.`, body, "base64");
      return {
        headers: { ...json, ...named, "webhook-id": id, "webhook-timestamp": seconds, "webhook-signature": `v1,${signature}` },
        body,
      };
    }
    case "sha256-header":
      return { headers: { ...json, ...named, "x-delivery-id": id, "x-signature-256": `sha256=${hmac(secret, "", body, "hex")}` }, body };
    case "github":
      return {
        headers: {
          ...json,
          ...(kind === undefined ? {} : { "x-github-event": kind }),
          "x-github-delivery": id,
          "x-hub-signature-256": `sha256=${hmac(secret, "", body, "hex")}`,
        },
        body,
      };
    case "stripe":
      return { headers: { ...json, ...named, "stripe-signature": `t=${seconds},v1=${hmac(secret, `${seconds}.`, body, "hex")}` }, body };
    case "slack":
      return {
        headers: { ...json, ...named, "x-timestamp": seconds, "x-signature": `v0=${hmac(secret, `v0:${seconds}:`, body, "hex")}` },
        body,
      };
    case "in-body": {
      const text = body.toString();
      const signature = `"signature":"sha256=${hmac(secret, "", body, "hex")}"`;
      const comma = /^\s*\{\s*\}\s*$/.test(text) ? "" : ",";
      return { headers: { ...json, ...named }, body: Buffer.from(text.replace(/\}\s*$/, () => `${comma}${signature}}`)) };
    }
  }
}

function hmac(key: string | Buffer, prefix: string, body: Buffer, encoding: "hex" | "base64"): string {
  return createHmac("sha256", key).update(prefix).update(body).digest(encoding);
}
