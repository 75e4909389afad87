/** One handling of one event: calls the handler, collects what it decided, and sends nothing. */
import { Refused, RetinueError } from "../core/errors.ts";
import { isObject, type JsonObject } from "../core/json.ts";
import { seededRandom } from "../core/random.ts";
import type { Act } from "./act.ts";
import { createContext } from "./context.ts";
import { storable, type RunRequest } from "./run-request.ts";
import type { DraftIntent } from "./intent-draft.ts";

export type RunResult =
  | { readonly kind: "finished"; readonly intents: readonly DraftIntent[]; readonly state?: JsonObject }
  | { readonly kind: "suspended"; readonly until: number; readonly reason: string }
  | { readonly kind: "failed"; readonly error: unknown };

export type EventHandler = (payload: never, act: Act) => unknown;

/**
 * Runs `handler` once. Never throws: what goes wrong in a handler is a result. One that returns no promise has ended when it
 * returns: no deadline, signal or race is made for it.
 */
export function runHandler(handler: EventHandler, request: RunRequest): RunResult | Promise<RunResult> {
  if (request.signal.aborted) return { kind: "failed", error: stoppedRun() };
  const ended = Promise.withResolvers<RunResult>();
  const signal = createRunSignal();
  const context = createContext(request, {
    signal: signal.get,
    random: () => seededRandom(`${request.me.handle}/${request.event.id}`),
    suspend: (until, reason) => ended.resolve({ kind: "suspended", until, reason }),
  });
  const before = JSON.stringify(request.state);
  const over = (): void => {
    context.close();
    signal.abort(RUN_OVER);
  };
  const finished = (): RunResult => {
    const state = readState(context.act.state);
    return { kind: "finished", intents: context.intents(), ...(JSON.stringify(state) === before ? {} : { state }) };
  };
  let isUnderWay = false;
  try {
    const returned = handler(request.event.payload as never, context.act);
    if (!isThenable(returned)) return finished();
    isUnderWay = true;
    return awaited(returned, request, { ended, finished, over, abort: signal.abort });
  } catch (error) {
    return failed(error);
  } finally {
    if (!isUnderWay) over();
  }
}

interface UnderWay {
  readonly ended: PromiseWithResolvers<RunResult>;
  readonly finished: () => RunResult;
  readonly over: () => void;
  readonly abort: (reason: unknown) => void;
}

/** Waits for what a handler has returned, until its deadline or the end of the runtime. */
async function awaited(
  returned: PromiseLike<unknown>,
  request: RunRequest,
  { ended, finished, over, abort }: UnderWay,
): Promise<RunResult> {
  const { clock, deadlineMs, signal } = request;
  const cut = (error: RunInterrupted): void => ended.resolve(failed(error));
  const stop = (): void => {
    abort(signal.reason);
    cut(stoppedRun());
  };
  const deadline = clock.after(deadlineMs, () =>
    cut(new RunInterrupted("run_deadline", `expected the handler to end within ${deadlineMs} ms`)),
  );
  signal.addEventListener("abort", stop, { once: true });
  try {
    return await Promise.race([Promise.resolve(returned).then(finished).catch(failed), ended.promise]);
  } finally {
    deadline.cancel();
    signal.removeEventListener("abort", stop);
    over();
  }
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}

/** What a run's signal is. Made when first asked for: few handlers listen, and making and ending one costs more than they do. */
function createRunSignal(): { readonly get: () => AbortSignal; readonly abort: (reason: unknown) => void } {
  let controller: AbortController | undefined;
  let over: { readonly reason: unknown } | undefined;
  return {
    get() {
      if (controller === undefined) {
        controller = new AbortController();
        if (over !== undefined) controller.abort(over.reason);
      }
      return controller.signal;
    },
    abort(reason) {
      over ??= { reason };
      controller?.abort(reason);
    },
  };
}

/** A handling that was cut short; its event is handled again. */
export class RunInterrupted extends RetinueError {}

function stoppedRun(): RunInterrupted {
  return new RunInterrupted("run_stopped", "the runtime stopped");
}

/** Made once: it ends every run, and a stack per run would cost more than most handlers. */
const RUN_OVER = new RunInterrupted("run_over", "the handling is over");

function failed(error: unknown): RunResult {
  return { kind: "failed", error };
}

function readState(state: unknown): JsonObject {
  const json = storable("act.state", state);
  if (!isObject(json)) throw new Refused("state_invalid", "expected act.state to be a JSON object");
  return json;
}
