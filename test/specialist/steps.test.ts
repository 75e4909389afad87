/** Steps: tries, waits, time limits and keys. */
import { expect, test } from "vitest";
import { Misconfigured, Retryable } from "../../src/core/errors.ts";
import { SECOND } from "../../src/core/units.ts";
import type { Act, StepOptions } from "../../src/specialist/act.ts";
import type { RunRequest } from "../../src/specialist/run-request.ts";
import { runHandler } from "../../src/specialist/run.ts";
import { handlingOf } from "../harness/run-request.ts";

/** Runs one step, and tells when each try began, in seconds. */
async function stepping(
  work: (attempt: number, signal: AbortSignal, key: string) => unknown,
  options: StepOptions = {},
  over: Partial<RunRequest> = {},
) {
  const saved: unknown[] = [];
  const { clock, request } = handlingOf({
    deadlineMs: 60 * SECOND,
    saveStep: async (_name, value) => void saved.push(value),
    ...over,
  });
  const tries: number[] = [];
  const start = clock.now();
  const handler = async (_payload: never, act: Act): Promise<void> => {
    await act.step<string>(
      "think",
      async (signal, { key }) => {
        tries.push((clock.now() - start) / SECOND);
        return (await work(tries.length, signal, key)) as string;
      },
      options,
    );
  };
  const result = await clock.run(Promise.resolve(runHandler(handler, request)));
  await clock.settle();
  return { result, tries, saved, timers: clock.pending() };
}

const failing =
  (times: number, error: () => Error = () => new Error("busy")) =>
  (attempt: number): string => {
    if (attempt <= times) throw error();
    return "thought";
  };

test("a step fails at its first error, and with retries is tried again after waits that double", async () => {
  expect(await stepping(failing(1))).toMatchObject({ result: { kind: "failed" }, tries: [0], timers: 0 });
  const { result, tries, saved } = await stepping(failing(3), { retries: 3, backoff: "2s" });
  expect(result).toMatchObject({ kind: "finished" });
  expect(tries).toEqual([0, 2, 6, 14]);
  expect(saved).toEqual(["thought"]);
  expect(await stepping(failing(3), { retries: 2 })).toMatchObject({ result: { error: { message: "busy" } }, tries: [0, 1, 3] });
});

test("a wait is no shorter than its error asks for, and an error that no retry helps ends the step", async () => {
  const { clock } = handlingOf();
  const busy = () => new Retryable("x:model_busy", "busy", { retryAt: clock.now() + 10 * SECOND });
  expect((await stepping(failing(1, busy), { retries: 1 })).tries).toEqual([0, 10]);
  expect(
    (
      await stepping(
        failing(9, () => new Misconfigured("x:no_model", "no model")),
        { retries: 9 },
      )
    ).tries,
  ).toEqual([0]);
});

test("a try ends at its deadline, whose signal is aborted, and the next may succeed", async () => {
  const aborted: boolean[] = [];
  const slow = async (attempt: number, signal: AbortSignal): Promise<string> => {
    if (attempt > 1) return "thought";
    await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
    aborted.push(signal.aborted);
    return "too late";
  };
  const { result, tries, saved, timers } = await stepping(slow, { deadline: "5s", retries: 1 });
  expect([result.kind, tries, saved, aborted, timers]).toEqual(["finished", [0, 6], ["thought"], [true], 0]);
  expect(await stepping(() => new Promise(() => undefined), { deadline: "5s" })).toMatchObject({
    result: { error: { code: "step_deadline", message: 'step "think" did not end within 5000 ms' } },
  });
});

test("its key is the same for every try and every run of the event, and another for another step or event", async () => {
  const keys: string[] = [];
  const note = (_attempt: number, _signal: AbortSignal, key: string): string => {
    keys.push(key);
    if (keys.length < 3) throw new Error("busy");
    return "thought";
  };
  await stepping(note, { retries: 1 });
  await stepping(note);
  const { event } = handlingOf().request;
  await stepping(note, {}, { event: { ...event, id: "post.created:p2" } });
  expect(keys).toHaveLength(4);
  expect(new Set(keys.slice(0, 3)).size).toBe(1);
  expect(keys[3]).not.toBe(keys[0]);
  expect(keys[0]).toMatch(/^[0-9a-f]{40}$/);
});

test.each<[string, unknown, string]>([
  ["nothing", undefined, "got undefined"],
  ["an answer that was not read", new Response("text"), "got a Response"],
  ["a map within a list", [new Map()], "got a Map in 0"],
  ["a number that is none", { share: Number.NaN }, "got NaN in share"],
  ["a function", { run: () => 1 }, "got a function in run"],
  ["a big number", { n: 1n }, "to be JSON"],
])("%s is no result of a step", async (_what, value, words) => {
  const { result } = await stepping(() => value);
  expect(result).toMatchObject({ error: { code: "step_not_json", message: expect.stringContaining(words) as string } });
});

test("a date becomes its text, and a member without a value is left out", async () => {
  const { saved } = await stepping(() => ({ at: new Date(0), none: undefined }));
  expect(saved).toEqual([{ at: "1970-01-01T00:00:00.000Z" }]);
});

test("options out of their bounds are refused before any try", async () => {
  expect(await stepping(failing(0), { retries: 21 })).toMatchObject({ result: { error: { code: "step_options_invalid" } }, tries: [] });
});
