/** Checks the bearer token of a request. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { Secret } from "./secret.ts";

/** True if the `Authorization` header holds this token. */
export function bearsToken(authorization: string | undefined, token: Secret): boolean {
  return isSame(bearerIn(authorization) ?? "", token.reveal());
}

/** The token of an `Authorization` header. */
export function bearerIn(authorization: string | undefined): string | undefined {
  return /^Bearer (\S{1,512})$/i.exec(authorization ?? "")?.[1];
}

/** Compares two secret texts. Digests have equal length, so comparing them reveals nothing of the length of either. */
export function isSame(given: string, expected: string): boolean {
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(expected));
}
