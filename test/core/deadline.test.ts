/** Work with a deadline: it ends in time, its signal says so, and nothing is left behind. */
import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { within } from "../../src/core/deadline.ts";
import { SECOND } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";

const late = (): Error => new Error("too late");
const never = (): Promise<never> => new Promise(() => undefined);

test("work that ends in time gives its result, and leaves no timer", async () => {
  const clock = virtualClock();
  const { signal } = new AbortController();
  expect(await within(clock, { lengthMs: SECOND, signal, late }, () => "done")).toBe("done");
  expect(clock.pending()).toBe(0);
});

test("work that does not end is left at its deadline, and its signal is aborted with the error", async () => {
  const clock = virtualClock();
  const { signal } = new AbortController();
  let own: AbortSignal | undefined;
  const work = within(clock, { lengthMs: SECOND, signal, late }, (given) => {
    own = given;
    return never();
  });
  await expect(clock.run(work)).rejects.toThrow("too late");
  expect(own?.reason).toEqual(new Error("too late"));
});

test("the error at the deadline comes before one that the abortion leads to", async () => {
  const clock = virtualClock();
  const { signal } = new AbortController();
  const work = within(
    clock,
    { lengthMs: SECOND, signal, late },
    (given) => new Promise<never>((_, reject) => given.addEventListener("abort", () => reject(new Error("aborted")))),
  );
  await expect(clock.run(work)).rejects.toThrow("too late");
});

test("the given signal aborts the work, also one that is aborted already", async () => {
  const clock = virtualClock();
  const ending = new AbortController();
  const reasons: unknown[] = [];
  const work = (given: AbortSignal): Promise<void> =>
    new Promise((resolve) => {
      const end = (): void => {
        reasons.push(given.reason);
        resolve();
      };
      if (given.aborted) end();
      else given.addEventListener("abort", end);
    });
  const first = within(clock, { lengthMs: SECOND, signal: ending.signal, late }, work);
  ending.abort("stop");
  await first;
  await within(clock, { lengthMs: SECOND, signal: ending.signal, late }, work);
  expect([reasons, clock.pending(), getEventListeners(ending.signal, "abort").length]).toEqual([["stop", "stop"], 0, 0]);
});
