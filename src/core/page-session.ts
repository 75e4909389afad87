/**
 * Sessions of the pages that people open: a signed cookie, and no table of those that are open.
 *
 * A session is signed with a key made from its holder's token. It outlives a restart, and ends when the token changes.
 */
import { createHmac, randomBytes } from "node:crypto";
import { isSame } from "./bearer.ts";
import { parseJson } from "./json.ts";
import type { Secret } from "./secret.ts";
import { DAY } from "./units.ts";

/** The person of a session, and the token that it depends on. */
export interface SessionHolder {
  readonly who: string;
  readonly token: Secret;
}

export interface PageSession {
  readonly who: string;
  /** Sent back with each order, so that no other site can give one. */
  readonly csrf: string;
  /** Names the session, and proves nothing: a session that its holder has ended is known by it. */
  readonly id: string;
  /** The time of its end. */
  readonly until: number;
}

/** A session ends after this time, used or not. */
export const SESSION_MS = 30 * DAY;
const MAX_COOKIE_CHARS = 1_024;

/** A session for a person who has shown the token, and its cookie's value. */
export function issueSession({ who, token }: SessionHolder, now: number): { readonly value: string; readonly session: PageSession } {
  const id = randomBytes(12).toString("base64url");
  const body = Buffer.from(JSON.stringify([who, now, id])).toString("base64url");
  return { value: `${body}.${sign(token, body)}`, session: sessionOf({ who, token }, { body, id, since: now }) };
}

function sessionOf(
  { who, token }: SessionHolder,
  { body, id, since }: { readonly body: string; readonly id: string; readonly since: number },
): PageSession {
  return { who, csrf: sign(token, `csrf ${body}`), id, until: since + SESSION_MS };
}

/** The session of a cookie's value; undefined if it is over, forged, or of a person or token that no longer exists. */
export function readSession(
  value: string | undefined,
  holderOf: (who: string) => SessionHolder | undefined,
  now: number,
): PageSession | undefined {
  if (value === undefined || value.length > MAX_COOKIE_CHARS) return undefined;
  const [body = "", signature = ""] = value.split(".", 2);
  const stated = parseJson(Buffer.from(body, "base64url").toString());
  if (!Array.isArray(stated)) return undefined;
  const [who, since, id]: readonly unknown[] = stated;
  if (typeof who !== "string" || typeof since !== "number" || typeof id !== "string") return undefined;
  const holder = holderOf(who);
  if (holder === undefined || !isSame(signature, sign(holder.token, body))) return undefined;
  return now - since > SESSION_MS ? undefined : sessionOf(holder, { body, id, since });
}

function sign(token: Secret, text: string): string {
  const key = createHmac("sha256", token.reveal()).update("session of a page").digest();
  return createHmac("sha256", key).update(text).digest("base64url");
}

/** The value of a request's cookie. */
export function cookieIn(header: string | undefined, name: string): string | undefined {
  const start = `${name}=`;
  const found = (header ?? "").split(";").map((part) => part.trim());
  return found.find((part) => part.startsWith(start))?.slice(start.length);
}

export interface CookieOptions {
  readonly name: string;
  /** Empty ends the cookie. */
  readonly value: string;
  readonly path: string;
  /** True if the page is reached over https. */
  readonly secure: boolean;
}

/** A `set-cookie` header that no script reads and no other site sends. */
export function cookieHeader({ name, value, path, secure }: CookieOptions): string {
  const age = value === "" ? 0 : SESSION_MS / 1_000;
  return `${name}=${value}; HttpOnly; SameSite=Strict; Path=${path}; Max-Age=${age}${secure ? "; Secure" : ""}`;
}
