/** Builds the responses of a misbehaving network: 429 in every dialect, malformed bodies, stopped accounts. */
import { isObject, parseJson } from "../../core/json.ts";
import type { Json } from "../../core/json.ts";
import type { NetworkReply } from "../server/exchange.ts";
import type { LimitDialect, SpoiltBody } from "./network-faults.ts";

const HUGE_BYTES = 20_000_000;
const DEEP_LEVELS = 100_000;
const JSON_TYPE = { "content-type": "application/json" };

/** Builds a 429 that asks for a wait of `seconds` in the given dialect. */
export function limitedReply(dialect: LimitDialect, seconds: number, now: number): NetworkReply {
  const body: Json = {
    error: { code: "rate_limited", message: "too many requests", ...(dialect === "body" ? { retry_after: seconds } : {}) },
  };
  return { status: 429, headers: { ...JSON_TYPE, ...limitHeadersOf(dialect, seconds, now) }, body: JSON.stringify(body) };
}

function limitHeadersOf(dialect: LimitDialect, seconds: number, now: number): Record<string, string> {
  switch (dialect) {
    case "seconds":
      return { "retry-after": `${seconds}` };
    case "date":
      return { "retry-after": new Date(now + seconds * 1_000).toUTCString() };
    case "past-date":
      return { "retry-after": new Date(now - 3_600_000).toUTCString() };
    case "zero":
      return { "retry-after": "0" };
    case "negative":
      return { "retry-after": "-5" };
    case "huge":
      return { "retry-after": "99999999999" };
    case "garbage":
      return { "retry-after": "soon, please" };
    case "missing":
    case "body":
      return {};
    case "x-ratelimit":
      return {
        "x-ratelimit-limit": "60",
        "x-ratelimit-remaining": "0",
        "x-ratelimit-reset": `${Math.ceil(now / 1_000) + seconds}`,
      };
    case "ratelimit-fields":
      return { "ratelimit-limit": "60", "ratelimit-remaining": "0", "ratelimit-reset": `${seconds}` };
    case "ratelimit-draft":
      return { "ratelimit-policy": '"hour";q=60;w=3600,"day";q=500;w=86400', ratelimit: `"hour";r=0;t=${seconds}` };
  }
}

/** Returns the same answer with a malformed body. */
export function spoil(reply: NetworkReply, how: SpoiltBody): NetworkReply {
  switch (how) {
    case "html":
      return {
        ...reply,
        headers: { ...reply.headers, "content-type": "text/html" },
        body: "<html><body><h1>502 Bad Gateway</h1></body></html>",
      };
    case "truncated":
      return {
        ...reply,
        headers: { ...reply.headers, "content-length": `${Buffer.byteLength(reply.body)}` },
        body: reply.body.slice(0, Math.floor(reply.body.length / 2)),
      };
    case "huge":
      return { ...reply, body: JSON.stringify({ padding: "x".repeat(HUGE_BYTES) }) };
    case "deep":
      return { ...reply, body: "[".repeat(DEEP_LEVELS) + "]".repeat(DEEP_LEVELS) };
    case "wrong-types":
      return { ...reply, body: JSON.stringify(otherTypes(parseJson(reply.body) ?? null)) };
    case "empty":
      return { ...reply, body: "" };
    case "garbage":
      return { ...reply, body: '{"id": "post_1", "content": tru' };
  }
}

/** Changes the type of every value: texts to numbers, numbers to lists, lists to objects. */
function otherTypes(value: Json): Json {
  if (typeof value === "string") return value.length;
  if (typeof value === "number" || typeof value === "boolean") return [`${value}`];
  if (value === null) return "null";
  if (!isObject(value)) return { items: value.length };
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, otherTypes(item ?? null)]));
}

export function failedReply(status: number): NetworkReply {
  return { status, headers: JSON_TYPE, body: JSON.stringify({ error: { code: "internal", message: "something went wrong" } }) };
}

export function redirectReply(to: string): NetworkReply {
  return { status: 307, headers: { location: to }, body: "" };
}

export function stoppedReply(answer: "suspended" | "challenge" | "payment"): NetworkReply {
  if (answer === "challenge")
    return {
      status: 403,
      headers: { "content-type": "text/html" },
      body: "<html><title>Just a moment...</title><body>Verify you are human</body></html>",
    };
  const [status, code] = answer === "suspended" ? [403, "account_suspended"] : [402, "payment_required"];
  return { status, headers: JSON_TYPE, body: JSON.stringify({ error: { code, message: answer } }) };
}
