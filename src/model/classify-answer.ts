/** The meaning of a model's HTTP answer for the next call, for the event and for the money. Pure. */
import type { WireAnswer } from "../client/transport.ts";
import { waitMs } from "../client/rate-limit-headers.ts";
import type { ErrorCode } from "../core/error-codes.ts";
import type { ModelSettings } from "../config/model-settings.ts";

export type ModelFailure =
  /** No call of this model makes sense before a time: the events wait for it. */
  | { readonly kind: "rest"; readonly code: ErrorCode; readonly message: string; readonly retryAfterMs?: number | undefined }
  /** This request is refused, whoever sends it again. */
  | { readonly kind: "refused"; readonly message: string }
  /** An answer that is none. */
  | { readonly kind: "unusable"; readonly message: string };

export interface ClassifiedFailure {
  readonly failure: ModelFailure;
  /** `nothing` if the provider did no work; else all of the hold counts. */
  readonly spent: "nothing" | "unknown";
}

const MAX_SAID = 200;
/** Refusals of a request as it is: too long, malformed. */
const OF_REQUEST: readonly number[] = [400, 413, 422];
/** Overload, said before any work. */
const OVERLOADED: readonly number[] = [503, 529];

/** The reason for which no usable answer came. `said` is the message of the provider's code, without secrets. */
export function classifyFailure(answer: WireAnswer | undefined, said: string, settings: ModelSettings, now: number): ClassifiedFailure {
  const { name, address, key, model } = settings;
  const rest = (code: ErrorCode, message: string, retryAfterMs?: number): ModelFailure => ({ kind: "rest", code, message, retryAfterMs });
  if (answer === undefined) return { failure: { kind: "refused", message: excerptOf(said) }, spent: "nothing" };
  if (answer.kind === "never-left")
    return {
      failure: rest("model_unavailable", `the model "${name}" cannot be reached at ${address}: ${answer.reason}`),
      spent: "nothing",
    };
  if (answer.kind === "unknown") {
    if (answer.reason.startsWith("the answer is larger"))
      return { failure: { kind: "unusable", message: `the model "${name}": ${answer.reason}` }, spent: "unknown" };
    return { failure: rest("model_unavailable", `the model "${name}" gave no complete answer: ${answer.reason}`), spent: "unknown" };
  }
  const { status, headers } = answer;
  const retryAfter = headers["retry-after"];
  const wait = waitMs(Array.isArray(retryAfter) ? retryAfter[0] : retryAfter, now);
  const words = `${status}: ${excerptOf(said)}`;
  if (status < 300)
    return {
      failure: { kind: "unusable", message: `the model "${name}" answered what cannot be read: ${excerptOf(said)}` },
      spent: "unknown",
    };
  if (status >= 500 || status === 408 || status === 429) {
    const isOverload = OVERLOADED.includes(status) || status < 500;
    const what = status === 429 ? "asks for a wait" : isOverload ? "is overloaded" : "failed";
    return {
      failure: rest("model_unavailable", `the model "${name}" ${what} (${words})`, wait),
      spent: isOverload ? "nothing" : "unknown",
    };
  }
  if (status === 401 || status === 403) {
    const source = key === undefined ? `it wants a key: name its variable in models.${name}.key` : `the key in ${key} is refused`;
    return { failure: rest("model_key_refused", `the model "${name}": ${source} (${words})`, wait), spent: "nothing" };
  }
  if (OF_REQUEST.includes(status))
    return { failure: { kind: "refused", message: `the model "${name}" refused the request (${words})` }, spent: "nothing" };
  return {
    failure: rest("model_unavailable", `nothing answers for the model "${model}" at ${address} (${words}): check models.${name}`, wait),
    spent: "nothing",
  };
}

/** The first line: a page of HTML helps nobody. */
function excerptOf(said: string): string {
  const line = said.split("\n")[0]?.trim() ?? "";
  return line.length > MAX_SAID ? `${line.slice(0, MAX_SAID)}…` : line;
}
