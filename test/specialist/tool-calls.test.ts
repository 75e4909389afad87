/** Calls of tools within a run: stored, made once, and refused with a reason. */
import { describe, expect, test } from "vitest";
import type { Json } from "../../src/core/json.ts";
import type { Act } from "../../src/specialist/act.ts";
import type { RunRequest, ToolCall } from "../../src/specialist/run-request.ts";
import { runHandler, type RunResult } from "../../src/specialist/run.ts";
import { handlingOf } from "../harness/run-request.ts";

const run = async (handler: (act: Act) => unknown, over: Partial<RunRequest> = {}): Promise<RunResult> =>
  runHandler((_payload: never, act: Act) => handler(act), handlingOf(over).request);

describe("a tool", () => {
  const answering = () => {
    const calls: ToolCall[] = [];
    const steps = new Map<string, Json>();
    const over: Partial<RunRequest> = {
      steps,
      callTool: async (call) => {
        calls.push(call);
        return { ok: true, text: `answer ${calls.length}` };
      },
      saveStep: async (name, value) => void steps.set(name, value),
    };
    return { calls, over };
  };
  const twice = async (act: Act): Promise<void> => {
    const first = await act.tool("weather/forecast", { city: "Bern" });
    const again = await act.tool("weather/forecast", { city: "Bern" }, { deadline: "5s" });
    act.post(`${first.text}, ${again.text}`);
  };

  test("is called once per event however often the handler runs, and the nth equal call is a call of its own", async () => {
    const { calls, over } = answering();
    const wanted = { kind: "finished", intents: [{ input: { content: "answer 1, answer 2" } }] };
    expect(await run(twice, over)).toMatchObject(wanted);
    expect(await run(twice, over)).toMatchObject(wanted);
    expect(calls).toEqual([
      { tool: "weather/forecast", input: { city: "Bern" }, deadlineMs: 30_000 },
      { tool: "weather/forecast", input: { city: "Bern" }, deadlineMs: 5_000 },
    ]);
  });

  test("is refused where no server is reached, and with an input that is no object of JSON", async () => {
    expect(await run((act) => act.tool("weather/forecast"))).toMatchObject({ kind: "failed", error: { code: "no_tool" } });
    const { calls, over } = answering();
    const wrong = (input: unknown) => run((act) => act.tool("weather/forecast", input as never), over);
    expect(await wrong(["Bern"])).toMatchObject({ kind: "failed", error: { code: "input_invalid" } });
    expect(await wrong({ city: 1n })).toMatchObject({ kind: "failed", error: { code: "value_invalid" } });
    expect(calls).toEqual([]);
  });
});
