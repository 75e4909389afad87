/** Steps of a handling: work that runs once per event, with retries and a time limit, and whose result is stored. */
import { backoffMs } from "../core/backoff.ts";
import { sleep } from "../core/clock.ts";
import { within } from "../core/deadline.ts";
import { isTerminal, Refused, Retryable, retryTime } from "../core/errors.ts";
import { sha256 } from "../core/json.ts";
import { durationMs, HOUR, SECOND } from "../core/units.ts";
import type { Act, StepOptions } from "./act.ts";
import { storable, type RunRequest } from "./run-request.ts";

const MAX_RETRIES = 20;
const DEFAULT_BACKOFF_MS = SECOND;
/** Characters of an idempotency key: services accept 64 at least. */
const KEY_LENGTH = 40;

/** The parts of a run that steps need. */
export interface StepTools {
  signal(): AbortSignal;
}

type Work<Value> = (signal: AbortSignal, about: { readonly key: string }) => Value | Promise<Value>;

export function createSteps(request: RunRequest, tools: StepTools, another: () => void): Act["step"] {
  const used = new Set<string>();
  return async <Value>(name: string, work: Work<Value>, options: StepOptions = {}): Promise<Value> => {
    another();
    if (used.has(name))
      throw new Refused("step_repeated", `expected each step of a run to have its own name, got ${JSON.stringify(name)} twice`);
    used.add(name);
    const stored = request.steps.get(`step:${name}`);
    if (stored !== undefined) return stored as Value;
    const key = sha256(["step", request.me.handle, request.event.id, name]).slice(0, KEY_LENGTH);
    const startedAt = request.clock.now();
    const result = await tried(request, name, options, tools.signal(), (signal) => work(signal, { key }));
    const value = storable(`the result of step ${JSON.stringify(name)}`, result, "step_not_json");
    await request.saveStep(`step:${name}`, value, startedAt);
    return value as Value;
  };
}

/** Tries until it succeeds, or as often as the options say. An error of ours that no retry helps ends it at once. */
async function tried<Value>(
  { clock }: RunRequest,
  name: string,
  { retries = 0, backoff, deadline }: StepOptions,
  signal: AbortSignal,
  work: (signal: AbortSignal) => Value | Promise<Value>,
): Promise<Value> {
  if (!Number.isInteger(retries) || retries < 0 || retries > MAX_RETRIES)
    throw new Refused("step_options_invalid", `expected retries of step ${JSON.stringify(name)} to be 0 to ${MAX_RETRIES}, got ${retries}`);
  const firstMs = backoff === undefined ? DEFAULT_BACKOFF_MS : durationMs(backoff);
  const deadlineMs = deadline === undefined ? undefined : durationMs(deadline);
  const late = (): Retryable =>
    new Retryable("step_deadline", `step ${JSON.stringify(name)} did not end within ${deadlineMs} ms`, {
      hint: "pass its signal on, allow more with deadline, or let it try again with retries",
    });
  for (let failures = 1; ; failures++) {
    try {
      return await (deadlineMs === undefined ? work(signal) : within(clock, { lengthMs: deadlineMs, signal, late }, work));
    } catch (error) {
      if (failures > retries || signal.aborted || isTerminal(error)) throw error;
      const asked = (retryTime(error) ?? clock.now()) - clock.now();
      await sleep(clock, Math.max(asked, backoffMs({ firstMs, longestMs: HOUR }, failures)), signal);
      signal.throwIfAborted();
    }
  }
}
