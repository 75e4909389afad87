/** Time: delays of any length on the machine's clock, and sleep that ends with its signal. */
import { getEventListeners } from "node:events";
import { expect, test } from "vitest";
import { MAX_TIMER_MS, sleep, systemClock, type Clock } from "../../src/core/clock.ts";
import { HOUR } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";

/** The names of the timers that ran up to a timer of 20 ms. */
async function ranWithin20ms(clock: Clock, delays: { readonly [name: string]: number }): Promise<readonly string[]> {
  const ran: string[] = [];
  const timers = Object.entries(delays).map(([name, delayMs]) => clock.after(delayMs, () => void ran.push(name)));
  await new Promise<void>((resolve) => void clock.after(20, resolve));
  for (const timer of timers) timer.cancel();
  return ran;
}

test("a delay longer than Node's timers take does not run at once", async () => {
  expect(await ranWithin20ms(systemClock(), { long: MAX_TIMER_MS + 1, longer: 3 * MAX_TIMER_MS, endless: Infinity })).toEqual([]);
});

test("a negative delay counts as none, however negative it is", async () => {
  expect(await ranWithin20ms(systemClock(), { past: -5, never: -Infinity })).toEqual(["past", "never"]);
});

test("a cancelled timer does not run, and cancelling it twice does nothing", async () => {
  const clock = systemClock();
  const ran: string[] = [];
  const timer = clock.after(1, () => void ran.push("cancelled"));
  timer.cancel();
  timer.cancel();
  expect(await ranWithin20ms(clock, { other: 2 })).toEqual(["other"]);
  expect(ran).toEqual([]);
});

test("sleep ends with its time or its signal, and leaves neither a timer nor a listener", async () => {
  const clock = virtualClock(0);
  const ending = new AbortController();
  const slept = sleep(clock, HOUR, ending.signal).then(() => clock.now());
  expect([clock.pending(), getEventListeners(ending.signal, "abort").length]).toEqual([1, 1]);
  await clock.advance(10);
  ending.abort();
  expect(await slept).toBe(10);
  expect([clock.pending(), getEventListeners(ending.signal, "abort").length]).toEqual([0, 0]);
  const whole = sleep(clock, HOUR, new AbortController().signal).then(() => clock.now());
  expect(await clock.run(whole)).toBe(HOUR + 10);
});

test("sleep after the signal sets no timer", async () => {
  const clock = virtualClock(0);
  await sleep(clock, HOUR, AbortSignal.abort());
  expect(clock.pending()).toBe(0);
});
