/** Calls of tools within a run: each is stored like a step, and made once. */
import { Refused } from "../core/errors.ts";
import { isObject, sha256, type JsonObject } from "../core/json.ts";
import { durationMs, SECOND } from "../core/units.ts";
import type { Act, ToolAnswer, ToolOptions } from "./act.ts";
import { storable, type RunRequest } from "./run-request.ts";

const DEFAULT_TOOL_MS = 30 * SECOND;
const NOTHING: JsonObject = Object.freeze({});

/** Calls tools, each once per event and input. The nth equal call of a run is a call of its own. */
export function createTool(request: RunRequest, tools: { signal(): AbortSignal }, another: () => void): Act["tool"] {
  const counts = new Map<string, number>();
  return async (tool: string, input: JsonObject = NOTHING, { deadline }: ToolOptions = {}): Promise<ToolAnswer> => {
    another();
    const given = storable(`the input of ${tool}`, input);
    if (!isObject(given)) throw new Refused("input_invalid", `expected the input of ${tool} to be an object`);
    const base = `tool:${sha256([tool, given])}`;
    const nth = counts.get(base) ?? 0;
    counts.set(base, nth + 1);
    const name = `${base}:${nth}`;
    const stored = request.steps.get(name);
    if (stored !== undefined) return stored as never;
    if (request.callTool === undefined)
      throw new Refused("no_tool", `no server is reached here, so ${tool} has no answer`, { hint: "a test gives one: { tools: { … } }" });
    const deadlineMs = deadline === undefined ? DEFAULT_TOOL_MS : durationMs(deadline);
    const startedAt = request.clock.now();
    const answer = storable(`the answer of ${tool}`, await request.callTool({ tool, input: given, deadlineMs }, tools.signal()));
    await request.saveStep(name, answer, startedAt);
    return answer as never;
  };
}
