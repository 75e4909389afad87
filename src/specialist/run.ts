/** One handling of one event: calls the handler, collects its decisions, and sends nothing. */
import { onAbort } from "../core/abort.ts";
import { RetinueError } from "../core/errors.ts";
import type { JsonObject } from "../core/json.ts";
import { seededRandom, type Random } from "../core/random.ts";
import type { Act } from "./act.ts";
import { createContext, type RunContext, type RunTools } from "./context.ts";
import { collectPrints, type Prints } from "./prints.ts";
import type { RunRequest } from "./run-request.ts";
import type { DraftIntent } from "./intent-draft.ts";

export type RunResult =
  | { readonly kind: "finished"; readonly intents: readonly DraftIntent[]; readonly state?: JsonObject }
  | { readonly kind: "suspended"; readonly until: number; readonly reason: string }
  | { readonly kind: "failed"; readonly error: unknown };

export type EventHandler = (payload: never, act: Act) => unknown;

/**
 * Runs `handler` once. Never throws: a handler's error is a result. The result of a handler that returns no promise is returned at once:
 * nothing can interrupt it, so it has no deadline.
 */
export function runHandler(handler: EventHandler, request: RunRequest): RunResult | Promise<RunResult> {
  if (request.signal.aborted) return failed(stopped());
  const run = new Run(request);
  let isPending = false;
  try {
    const returned = run.prints.during(() => handler(request.event.payload as never, run.context.act));
    if (!isThenable(returned)) return run.finished();
    isPending = true;
    return run.settled(returned);
  } catch (error) {
    return failed(error);
  } finally {
    if (!isPending) run.close(RUN_OVER);
  }
}

/** A handling under way. Its signal and random numbers are created on first use: few handlers need them. */
class Run implements RunTools {
  readonly context: RunContext;
  readonly prints: Prints;
  readonly #request: RunRequest;
  /** Set while a handler's promise is awaited. */
  #interrupt: ((result: RunResult) => void) | undefined;
  #signal: AbortController | undefined;
  #over: { readonly reason: unknown } | undefined;

  constructor(request: RunRequest) {
    this.#request = request;
    this.context = createContext(request, this);
    this.prints = collectPrints(() => request.log);
  }

  signal(): AbortSignal {
    if (this.#signal === undefined) {
      this.#signal = new AbortController();
      if (this.#over !== undefined) this.#signal.abort(this.#over.reason);
    }
    return this.#signal.signal;
  }

  random(): Random {
    const { me, event } = this.#request;
    return seededRandom(`${me.handle}/${event.id}`);
  }

  suspend(until: number, reason: string): void {
    this.#interrupt?.({ kind: "suspended", until, reason });
  }

  finished(): RunResult {
    const state = this.context.changedState();
    return { kind: "finished", intents: this.context.intents(), ...(state === undefined ? {} : { state }) };
  }

  /** Awaits a handler's promise until its deadline, or until the runtime stops. */
  settled(returned: PromiseLike<unknown>): Promise<RunResult> {
    const { clock, deadlineMs, signal } = this.#request;
    const { promise, resolve } = Promise.withResolvers<RunResult>();
    const end = (result: RunResult): void => {
      deadline.cancel();
      forget();
      this.close(RUN_OVER);
      resolve(result);
    };
    const deadline = clock.after(deadlineMs, () =>
      end(failed(new RunInterrupted("run_deadline", `expected the handler to end within ${deadlineMs} ms`))),
    );
    const stop = (): void => {
      this.#abort(signal.reason);
      end(failed(stopped()));
    };
    const forget = onAbort(signal, stop);
    this.#interrupt = end;
    if (signal.aborted) stop(); // the handler itself ended the runtime
    void Promise.resolve(returned)
      .then(() => this.finished())
      .catch(failed)
      .then(end);
    return promise;
  }

  /** Ends the use of `act`: its actions throw from now on, and its signal is aborted. */
  close(reason: unknown): void {
    this.context.close();
    this.prints.flush();
    this.#abort(reason);
  }

  #abort(reason: unknown): void {
    this.#over ??= { reason };
    this.#signal?.abort(reason);
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    (typeof value === "object" || typeof value === "function") && value !== null && "then" in value && typeof value.then === "function"
  );
}

/** A handling that was interrupted; its event is handled again. */
export class RunInterrupted extends RetinueError {}

/** Shared: it ends every run, and a stack trace per run would cost more than most handlers. */
const RUN_OVER = new RunInterrupted("run_over", "the handling is over");

function stopped(): RunInterrupted {
  return new RunInterrupted("run_stopped", "the runtime stopped");
}

function failed(error: unknown): RunResult {
  return { kind: "failed", error };
}
