/**
 * HMAC-SHA-256 (RFC 2104) by two one-shot hashes over prepared pads: half the time of `createHmac`, and no native object for the collector,
 * which takes as long again. Longer texts are not worth the copy.
 */
import { createHmac, createSecretKey, hash } from "node:crypto";
import type { Secret } from "../../core/secret.ts";

const BLOCK_BYTES = 64;
const DIGEST_BYTES = 32;
/** Longest body that is copied behind the inner pad. */
const MOST_COPIED_BYTES = 16 * 1_024;
const INNER_PAD = 0x36;
const OUTER_PAD = 0x5c;

interface Pads {
  readonly inner: Buffer;
  readonly outer: Buffer;
}

/** By the secret, whose text is the key: pads reveal as much as the secret does, and live as long. */
const prepared = new WeakMap<Secret, Pads>();
/** Used for one digest at a time. */
const message = Buffer.alloc(BLOCK_BYTES + MOST_COPIED_BYTES);
const digest = Buffer.alloc(BLOCK_BYTES + DIGEST_BYTES);

/** The digest of a body in lower-case hex; the key is the secret's text. */
export function hmacOf(secret: Secret, body: Uint8Array): string {
  if (body.length > MOST_COPIED_BYTES) return longHmacOf(secret.reveal(), body);
  const { inner, outer } = padsOf(secret);
  message.set(inner);
  message.set(body, BLOCK_BYTES);
  digest.set(outer);
  digest.write(hash("sha256", message.subarray(0, BLOCK_BYTES + body.length), "binary"), BLOCK_BYTES, DIGEST_BYTES, "latin1");
  return hash("sha256", digest, "hex");
}

/** The digest of several parts, for any key. */
export function longHmacOf(key: string | Buffer, ...parts: readonly (string | Uint8Array)[]): string {
  // A buffer as the key takes 10 µs, a key object made of it 2.5.
  const hmac = createHmac("sha256", typeof key === "string" ? key : createSecretKey(key));
  for (const part of parts) hmac.update(part);
  return hmac.digest("hex");
}

function padsOf(secret: Secret): Pads {
  const known = prepared.get(secret);
  if (known !== undefined) return known;
  const text = Buffer.from(secret.reveal());
  const key = text.length > BLOCK_BYTES ? hash("sha256", text, "buffer") : text;
  const pad = (byte: number): Buffer => Buffer.from(Array.from({ length: BLOCK_BYTES }, (_, i) => (key[i] ?? 0) ^ byte));
  const pads = { inner: pad(INNER_PAD), outer: pad(OUTER_PAD) };
  prepared.set(secret, pads);
  return pads;
}
