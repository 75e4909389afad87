/** Guesses of a token are slowed, and whoever holds it is never locked out. */
import { expect, test } from "vitest";
import { createGuessLimit, FREE_GUESSES, GUESS_PAUSE_MS, MAX_WAITING_GUESSES } from "../../src/core/guess-limit.ts";
import { MINUTE } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";

const wrong = (): boolean => false;
const right = (): boolean => true;

async function guessed(times: number) {
  const clock = virtualClock();
  const limit = createGuessLimit(clock);
  for (let i = 0; i < times; i++) await clock.run(limit.check("source", wrong));
  return { clock, limit };
}

test("a few wrong tokens are answered at once, and the attempts after them one after the other", async () => {
  const { clock, limit } = await guessed(FREE_GUESSES);
  const began = clock.monotonic();
  expect(await clock.run(Promise.all([limit.check("source", wrong), limit.check("source", wrong), limit.check("source", right)]))).toEqual([
    "wrong",
    "wrong",
    "right",
  ]);
  expect(clock.monotonic() - began).toBeGreaterThanOrEqual(3 * GUESS_PAUSE_MS);
});

test("after many wrong tokens the right one is let in, and other sources do not wait", async () => {
  const { clock, limit } = await guessed(200);
  const began = clock.monotonic();
  expect(await clock.run(limit.check("another", right))).toBe("right");
  expect(clock.monotonic()).toBe(began);
  expect(await clock.run(limit.check("source", right))).toBe("right");
  expect(clock.monotonic() - began).toBeLessThanOrEqual(GUESS_PAUSE_MS);
});

test("attempts of one source wait in a line of bounded length", async () => {
  const { clock, limit } = await guessed(FREE_GUESSES);
  const line = Array.from({ length: MAX_WAITING_GUESSES + 1 }, () => limit.check("source", right));
  const ends = await clock.run(Promise.all(line));
  expect(ends.filter((end) => end === "busy")).toHaveLength(1);
  expect(ends.at(-1)).toBe("busy");
});

test("wrong tokens are forgotten", async () => {
  const { clock, limit } = await guessed(FREE_GUESSES);
  await clock.advance(16 * MINUTE);
  const began = clock.monotonic();
  expect(await clock.run(limit.check("source", right))).toBe("right");
  expect(clock.monotonic()).toBe(began);
});
