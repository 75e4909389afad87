/** `act.fetch`: requests to models and other services, counted, limited in time, and told to the log without what may be secret. */
import { Refused, Retryable } from "../core/errors.ts";
import { durationMs, SECOND } from "../core/units.ts";
import type { Act } from "./act.ts";
import type { RunRequest } from "./run-request.ts";

/** Requests of one handling: more is a loop. */
export const MAX_FETCHES_PER_RUN = 200;
const DEFAULT_TIMEOUT_MS = 30 * SECOND;
/** Characters of an address in the log. */
const MAX_ADDRESS = 200;

/** `runSignal` ends requests that bring no signal of their own. */
export function createFetch(request: RunRequest, runSignal: () => AbortSignal): Act["fetch"] {
  let count = 0;
  return async (input, init = {}) => {
    if (++count > MAX_FETCHES_PER_RUN)
      throw new Refused("too_many_fetches", `expected at most ${MAX_FETCHES_PER_RUN} calls of act.fetch for one event, got more`);
    const { clock, log } = request;
    const { timeout, ...rest } = init;
    const timeoutMs = timeout === undefined ? DEFAULT_TIMEOUT_MS : durationMs(timeout);
    const limit = new AbortController();
    const about = { method: methodOf(input, rest), address: addressOf(input), number: count };
    const began = clock.monotonic();
    const tookMs = (): number => Math.round(clock.monotonic() - began);
    const timer = clock.after(timeoutMs, () =>
      limit.abort(
        new Retryable("fetch_deadline", `${about.method} ${about.address} sent no answer within ${timeoutMs} ms`, {
          hint: 'allow more: act.fetch(url, { timeout: "2m" }), within the deadline of the definition',
        }),
      ),
    );
    try {
      const signal = AbortSignal.any([rest.signal ?? runSignal(), limit.signal]);
      const answer = await request.fetch(input, { ...rest, signal });
      log.info("fetch", { ...about, status: answer.status, tookMs: tookMs() });
      return answer;
    } catch (error) {
      const reason: unknown = limit.signal.aborted ? limit.signal.reason : error;
      log.warn("fetch failed", { ...about, tookMs: tookMs(), reason: reason instanceof Error ? reason.name : "unknown" });
      throw reason;
    } finally {
      timer.cancel();
    }
  };
}

function methodOf(input: string | URL | Request, { method }: RequestInit): string {
  return (method ?? (input instanceof Request ? input.method : "GET")).toUpperCase();
}

/** Without query and user, which may hold a key. */
function addressOf(input: string | URL | Request): string {
  const text = input instanceof Request ? input.url : String(input);
  const url = URL.parse(text);
  return url === null ? "an address that is none" : `${url.origin}${url.pathname}`.slice(0, MAX_ADDRESS);
}
