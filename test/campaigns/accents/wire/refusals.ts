/** How an accent says no, and what it says of limits. */
import type { JsonObject } from "../../../../src/core/json.ts";
import { DAY } from "../../../../src/core/units.ts";
import type { Limits } from "../../../../src/local-network/wire/wire.ts";
import { cased, type Voice } from "./voice.ts";

export function refusalIn(voice: Voice, status: number, code: string, message: string): JsonObject {
  const name = (words: string): string => cased(voice.letters, words);
  switch (voice.error) {
    case "nested":
      return { error: { code, message } };
    case "problem":
      return { type: `https://errors.example/${code}`, title: message, status, detail: `${message}, so nothing was done` };
    case "errors":
      return { errors: [{ code, detail: message }] };
    case "fault":
      return { fault: { kind: code, text: message } };
    case "plain":
      return { [name("status code")]: status, message, [name("error code")]: code };
    case "oauth":
      return { error: code, error_description: message };
    case "flagged":
      return { ok: false, reason: { slug: code, explanation: message } };
    case "status":
      return { status: "error", [name("error message")]: message, code };
  }
}

export function errorType({ error }: Voice): string {
  return error === "problem" ? "application/problem+json" : "application/json";
}

/** Headers on every answer that tell what is left of the key's limits. */
export function limitHeadersIn(voice: Voice, limits: Limits | undefined, now: number): Readonly<Record<string, string>> {
  if (limits === undefined) return {};
  const { hour, day } = limits;
  const left = (state: { readonly limit: number; readonly used: number }): number => Math.max(0, state.limit - state.used);
  const least = Math.min(left(hour), left(day));
  const seconds = Math.ceil(hour.resetMs / 1_000);
  switch (voice.limits) {
    case "none":
      return {};
    case "x-ratelimit":
      return {
        "x-ratelimit-limit": `${hour.limit}`,
        "x-ratelimit-remaining": `${least}`,
        "x-ratelimit-reset": `${Math.ceil(now / 1_000) + seconds}`,
      };
    case "x-rate-limit":
      return { "x-rate-limit-limit": `${hour.limit}`, "x-rate-limit-remaining": `${least}`, "x-rate-limit-reset": `${seconds}` };
    case "draft":
      return {
        "ratelimit-policy": `"hour";q=${hour.limit};w=3600, "day";q=${day.limit};w=86400`,
        ratelimit: `"hour";r=${left(hour)};t=${seconds}, "day";r=${left(day)};t=${Math.ceil(Math.min(day.resetMs, DAY) / 1_000)}`,
      };
    case "draft-old":
      return { "ratelimit-limit": `${hour.limit}`, "ratelimit-remaining": `${least}`, "ratelimit-reset": `${seconds}` };
    case "windows":
      return { "x-ratelimit-remaining-hour": `${left(hour)}`, "x-ratelimit-remaining-day": `${left(day)}` };
    case "own":
      return { "x-quota-left": `${least}`, "x-quota-refill": `${seconds}` };
  }
}

/** A 429's word on waiting, as this accent puts it. `seconds` is what the set itself said. */
export function waitIn(
  voice: Voice,
  seconds: number,
  now: number,
): { readonly headers: Readonly<Record<string, string>>; readonly body: JsonObject } {
  switch (voice.retryAfter) {
    case "seconds":
      return { headers: { "retry-after": `${seconds}` }, body: {} };
    case "date":
      return { headers: { "retry-after": new Date(Math.ceil(now / 1_000 + seconds) * 1_000).toUTCString() }, body: {} };
    case "none":
      return { headers: {}, body: {} };
    case "body":
      return { headers: {}, body: { retry_after: seconds } };
    case "own":
      return { headers: { "x-quota-wait": `${seconds}` }, body: {} };
  }
}
