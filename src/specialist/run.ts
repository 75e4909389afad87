/** One handling of one event: calls the handler, collects what it decided, and sends nothing. */
import { sleep } from "../core/clock.ts";
import { Refused, RetinueError } from "../core/errors.ts";
import { isObject, type JsonObject } from "../core/json.ts";
import { seededRandom } from "../core/random.ts";
import type { Act } from "./act.ts";
import { createContext } from "./context.ts";
import type { DraftIntent } from "./port.ts";
import { storable, type RunRequest } from "./request.ts";

export type RunResult =
  | { readonly kind: "finished"; readonly intents: readonly DraftIntent[]; readonly state?: JsonObject }
  | { readonly kind: "suspended"; readonly until: number; readonly reason: string }
  | { readonly kind: "failed"; readonly error: unknown };

export type EventHandler = (payload: never, act: Act) => unknown;

/** Runs `handler` once. Never throws: what goes wrong in a handler is a result. */
export async function runHandler(handler: EventHandler, request: RunRequest): Promise<RunResult> {
  const abort = new AbortController();
  const stop = (): void => abort.abort(request.signal.reason);
  if (request.signal.aborted) stop();
  request.signal.addEventListener("abort", stop, { once: true });

  const suspended = Promise.withResolvers<RunResult>();
  const context = createContext(request, {
    signal: abort.signal,
    random: () => seededRandom(`${request.me.handle}/${request.event.id}`),
    suspend: (until, reason) => suspended.resolve({ kind: "suspended", until, reason }),
  });
  const before = JSON.stringify(request.state);

  const handled = async (): Promise<RunResult> => {
    await handler(request.event.payload as never, context.act);
    const state = readState(context.act.state);
    return { kind: "finished", intents: context.intents(), ...(JSON.stringify(state) === before ? {} : { state }) };
  };
  let over = false;
  const late = async (): Promise<RunResult> => {
    await sleep(request.clock, request.deadlineMs, abort.signal);
    if (over) return OVER; // the handler came first
    const stopped = abort.signal.aborted;
    const message = stopped ? "the runtime stopped" : `expected the handler to end within ${request.deadlineMs} ms`;
    return { kind: "failed", error: new RunInterrupted(stopped ? "run_stopped" : "run_deadline", message) };
  };
  try {
    return await Promise.race([handled().catch(failed), suspended.promise, late()]);
  } finally {
    over = true;
    context.close();
    request.signal.removeEventListener("abort", stop);
    abort.abort(RUN_OVER);
  }
}

/** A handling that was cut short; its event is handled again. */
export class RunInterrupted extends RetinueError {}

/** Made once: it ends every run, and a stack per run would cost more than most handlers. */
const RUN_OVER = new RunInterrupted("run_over", "the handling is over");
const OVER: RunResult = { kind: "failed", error: RUN_OVER };

function failed(error: unknown): RunResult {
  return { kind: "failed", error };
}

function readState(state: unknown): JsonObject {
  const json = storable("act.state", state);
  if (!isObject(json)) throw new Refused("state_invalid", "expected act.state to be a JSON object");
  return json;
}
