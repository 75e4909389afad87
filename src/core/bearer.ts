/** Checks the bearer token of a request. */
import { createHash, timingSafeEqual } from "node:crypto";
import type { Secret } from "./secret.ts";

/** True if the `Authorization` header holds this token. Digests have equal length, so comparing them reveals nothing of the token's length. */
export function bearsToken(authorization: string | undefined, token: Secret): boolean {
  const given = /^Bearer (\S{1,512})$/i.exec(authorization ?? "")?.[1] ?? "";
  const digest = (text: string) => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(given), digest(token.reveal()));
}
