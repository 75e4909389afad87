/** Signs requests by the key, on networks that want a signature of the request instead of the key itself. */
import { createHmac } from "node:crypto";
import type { Profile } from "../contract/profile/profile.ts";
import type { Secret } from "../core/secret.ts";
import { SECOND } from "../core/units.ts";

/** The parts of a request that its signature may cover. */
export interface Signable {
  readonly method: string;
  /** With its query, as it is sent. */
  readonly path: string;
  readonly body: string | undefined;
}

const PART = /\{(timestamp|method|path|body)\}/g;

/** The headers that carry the signature and its time. */
export function signatureHeaders(
  { header, over, encoding, prefix, timestampHeader }: NonNullable<Profile["auth"]["sign"]>,
  { method, path, body = "" }: Signable,
  key: Secret,
  nowMs: number,
): Readonly<Record<string, string>> {
  const timestamp = String(Math.floor(nowMs / SECOND));
  const parts: Readonly<Record<string, string>> = { timestamp, method, path, body };
  const text = over.replaceAll(PART, (_, name: string) => parts[name] ?? "");
  const signature = createHmac("sha256", key.reveal()).update(text).digest(encoding);
  return { [header]: prefix + signature, ...(timestampHeader === null ? {} : { [timestampHeader]: timestamp }) };
}
