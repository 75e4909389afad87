/** One handling of one event: calls the handler, collects its decisions, and sends nothing. */
import type { AnyCode } from "../core/error-codes.ts";
import { Refused, RetinueError } from "../core/errors.ts";
import { isObject, type JsonObject } from "../core/json.ts";
import { seededRandom } from "../core/random.ts";
import type { Act } from "./act.ts";
import { createContext } from "./context.ts";
import { printingTo } from "./prints.ts";
import { storable, type RunRequest } from "./run-request.ts";
import type { DraftIntent } from "./intent-draft.ts";

export type RunResult =
  | { readonly kind: "finished"; readonly intents: readonly DraftIntent[]; readonly state?: JsonObject }
  | { readonly kind: "suspended"; readonly until: number; readonly reason: string }
  | { readonly kind: "failed"; readonly error: unknown };

export type EventHandler = (payload: never, act: Act) => unknown;

/** Runs `handler` once. Never throws: a handler's error is a result. */
export async function runHandler(handler: EventHandler, request: RunRequest): Promise<RunResult> {
  const ended = Promise.withResolvers<RunResult>();
  const signal = createRunSignal();
  const cut = (code: AnyCode, message: string): void => ended.resolve({ kind: "failed", error: new RunInterrupted(code, message) });
  const stop = (): void => {
    signal.abort(request.signal.reason);
    cut("run_stopped", "the runtime stopped");
  };
  const context = createContext(request, {
    signal: signal.get,
    random: () => seededRandom(`${request.me.handle}/${request.event.id}`),
    suspend: (until, reason) => ended.resolve({ kind: "suspended", until, reason }),
  });
  const before = JSON.stringify(request.state);

  const handled = async (): Promise<RunResult> => {
    await printingTo(request.log, async () => handler(request.event.payload as never, context.act));
    const state = readState(context.act.state);
    return { kind: "finished", intents: context.intents(), ...(JSON.stringify(state) === before ? {} : { state }) };
  };
  const deadline = request.clock.after(request.deadlineMs, () =>
    cut("run_deadline", `expected the handler to end within ${request.deadlineMs} ms`),
  );
  request.signal.addEventListener("abort", stop, { once: true });
  if (request.signal.aborted) stop();
  try {
    return await Promise.race([handled().catch(failed), ended.promise]);
  } finally {
    context.close();
    deadline.cancel();
    request.signal.removeEventListener("abort", stop);
    signal.abort(RUN_OVER);
  }
}

/** Creates a run's signal on first use: few handlers listen, and creating and aborting one costs more than they do. */
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

/** A handling that was interrupted; its event is handled again. */
export class RunInterrupted extends RetinueError {}

/** Shared: it ends every run, and a stack trace per run would cost more than most handlers. */
const RUN_OVER = new RunInterrupted("run_over", "the handling is over");

function failed(error: unknown): RunResult {
  return { kind: "failed", error };
}

function readState(state: unknown): JsonObject {
  const json = storable("act.state", state);
  if (!isObject(json)) throw new Refused("state_invalid", "expected act.state to be a JSON object");
  return json;
}
