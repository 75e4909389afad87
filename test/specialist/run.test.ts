/** A run that is cut short: at its deadline, when the runtime ends, and what its signal says of it whenever it is asked for. */
import { getEventListeners } from "node:events";
import { describe, expect, test } from "vitest";
import { SECOND } from "../../src/core/units.ts";
import type { Act } from "../../src/specialist/act.ts";
import { runHandler, RunInterrupted } from "../../src/specialist/run.ts";
import { handlingOf } from "../harness/run-request.ts";

const never = (): Promise<never> => new Promise(() => undefined);

/** A handler that never ends and keeps what it was given; `asks` says whether it wants its signal before that. */
function hanging(asks: boolean) {
  const kept: { act?: Act; aborted: boolean } = { aborted: false };
  const handler = (_payload: never, act: Act): Promise<never> => {
    kept.act = act;
    if (asks) act.signal.addEventListener("abort", () => void (kept.aborted = true));
    return never();
  };
  return { kept, handler };
}

describe.each([{ asks: true }, { asks: false }])("a handler that asks for its signal while it runs: $asks", ({ asks }) => {
  test("is cut short at its deadline", async () => {
    const { clock, request } = handlingOf();
    const { kept, handler } = hanging(asks);
    const running = runHandler(handler, request);
    await clock.advance(5 * SECOND - 1);
    expect(kept.aborted).toBe(false);
    await clock.advance(1);
    expect(await running).toMatchObject({ kind: "failed", error: { code: "run_deadline" } });
    expect(kept.aborted).toBe(asks);
    expect(kept.act?.signal.aborted).toBe(true);
    expect(kept.act?.signal.reason).toBeInstanceOf(RunInterrupted);
  });

  test("is cut short when the runtime ends, for the runtime's reason", async () => {
    const { ending, request } = handlingOf();
    const { kept, handler } = hanging(asks);
    const running = runHandler(handler, request);
    ending.abort("enough");
    expect(await running).toMatchObject({ kind: "failed", error: { code: "run_stopped" } });
    expect(kept.act?.signal.reason).toBe("enough");
  });

  test("leaves no timer behind when it ends by itself, and its signal is over", async () => {
    const { clock, request } = handlingOf();
    let signal: AbortSignal | undefined;
    const act: { kept?: Act } = {};
    const result = await runHandler((_payload: never, given: Act) => {
      act.kept = given;
      if (asks) ({ signal } = given);
    }, request);
    expect(result.kind).toBe("finished");
    signal ??= act.kept?.signal;
    expect(signal?.aborted).toBe(true);
    expect(clock.pending()).toBe(0);
  });
});

describe("a handler that returns no promise", () => {
  test("has no deadline and no listener, and its result is there at once", () => {
    const { clock, ending, request } = handlingOf();
    let timers = -1;
    const result = runHandler(() => void (timers = clock.pending()), request);
    expect(result).toEqual({ kind: "finished", intents: [] });
    expect({ timers, after: clock.pending(), listeners: getEventListeners(ending.signal, "abort") }).toEqual({
      timers: 0,
      after: 0,
      listeners: [],
    });
  });

  test("and throws is a failed run, and what it kept of act is closed", () => {
    const { request } = handlingOf();
    const kept: { act?: Act } = {};
    const result = runHandler((_payload: never, act: Act) => {
      kept.act = act;
      throw new Error("broken");
    }, request);
    expect(result).toMatchObject({ kind: "failed", error: { message: "broken" } });
    expect(() => kept.act?.post("too late")).toThrow("act was used after the handler returned");
    expect(kept.act?.signal.reason).toBeInstanceOf(RunInterrupted);
  });
});

test("handlers that wait at one time share one listener for the end of the runtime", async () => {
  const { ending, request } = handlingOf();
  const running = [1, 2, 3].map(async () => runHandler(never, request));
  expect(getEventListeners(ending.signal, "abort")).toHaveLength(1);
  ending.abort("enough");
  for (const result of await Promise.all(running)) expect(result).toMatchObject({ kind: "failed", error: { code: "run_stopped" } });
});

test("a run that begins when the runtime has ended already is cut short", async () => {
  const { ending, request } = handlingOf();
  ending.abort("enough");
  expect(await runHandler(never, request)).toMatchObject({ kind: "failed", error: { code: "run_stopped" } });
});
