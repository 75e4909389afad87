/** The only way to a model: one request after its money is held, over the same sockets, bounds and scrubber as the network's. */
import { createTransport, type SocketTransport, type Transport, type WireAnswer } from "../client/transport.ts";
import type { Clock } from "../core/clock.ts";
import type { Scrubber } from "../core/scrubber.ts";
import { MINUTE } from "../core/units.ts";

/** One try to ask a model. The provider's code gets `fetch`; the facts are read here afterwards, whatever that code made of them. */
export interface ModelAttempt {
  readonly fetch: typeof globalThis.fetch;
  /** The answer on the wire; undefined if nothing was sent. */
  readonly answer: () => WireAnswer | undefined;
}

export interface ModelAttemptOptions {
  readonly send: Transport;
  readonly scrubber: Pick<Scrubber, "cleanJson">;
  readonly timeoutMs: number;
  readonly signal: AbortSignal;
  /** Holds the money for a request of so many bytes. False: it may not leave. */
  readonly admit: (requestBytes: number) => Promise<boolean>;
}

/** A model is silent while it thinks; the deadline of its call ends that. */
const MAX_SILENCE_MS = 10 * MINUTE;
/** Far more than the longest text that leaves. */
const MAX_ANSWER_BYTES = 4 * 1_024 * 1_024;

/** Sockets of their own: a model's address has nothing to do with the network's. */
export function modelSockets(clock: Clock): SocketTransport {
  return createTransport({ clock, idleTimeoutMs: MAX_SILENCE_MS, maxBodyBytes: MAX_ANSWER_BYTES });
}

/** Ends the provider's code where no answer is to be read. */
class NoAnswer extends Error {}

/** A provider sends one request: a second one in the same attempt is refused, since no money is held for it. */
export function modelAttempt({ send, scrubber, timeoutMs, signal, admit }: ModelAttemptOptions): ModelAttempt {
  let answer: WireAnswer | undefined;
  let asked = false;
  return {
    answer: () => answer,
    async fetch(input, init) {
      if (asked) throw new NoAnswer("one call of a model is one request");
      asked = true;
      const request = new Request(input, init);
      const body = await request.text();
      const url = new URL(request.url);
      if (request.method !== "POST") throw new NoAnswer(`a model is asked by POST, not by ${request.method}`);
      if (!(await admit(Buffer.byteLength(body)))) throw new NoAnswer("the request was not admitted");
      answer = await send({
        method: "POST",
        origin: url.origin,
        path: url.pathname + url.search,
        headers: Object.fromEntries(request.headers),
        body,
        deadlineMs: timeoutMs,
        signal,
      });
      if (answer.kind !== "answer") throw new NoAnswer(answer.reason);
      // Cleaned whole, before anything reads or cuts it.
      return new Response(answer.text === "" ? null : scrubber.cleanJson(answer.text), {
        status: answer.status,
        headers: { "content-type": String(answer.headers["content-type"] ?? "application/json") },
      });
    },
  };
}
