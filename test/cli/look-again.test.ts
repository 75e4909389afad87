/** Looks that are repeated: each is told at once, and the next follows soon, however long one waits for its answer. */
import { expect, onTestFinished, test } from "vitest";
import type { Context } from "../../src/cli/command.ts";
import { lookAgain } from "../../src/cli/look-again.ts";
import { sleep } from "../../src/core/clock.ts";
import { SECOND } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";

/** Looks that take so long each, one after another, and then no time. Times are seconds since the start. */
function looking(...tookS: readonly number[]) {
  const clock = virtualClock();
  const seconds = (): number => clock.monotonic() / SECOND;
  const [began, taken]: [number[], number[]] = [[], []];
  const over = lookAgain({ clock, out: {} } as unknown as Context, {
    everyMs: 2 * SECOND,
    async look() {
      began.push(seconds());
      const ms = (tookS[began.length - 1] ?? 0) * SECOND;
      if (ms > 0) await sleep(clock, ms);
      return began.length;
    },
    take: () => void taken.push(seconds()),
    failed: () => undefined,
  });
  const end = async (): Promise<number> => {
    process.emit("SIGHUP", "SIGHUP");
    return clock.run(over);
  };
  onTestFinished(async () => void (await end()));
  return { clock, began, taken, end };
}

test("a slow look is told at once, and the next follows within seconds", async () => {
  const { clock, began, taken } = looking(0, 10, 10);
  await clock.advance(33 * SECOND);
  expect(taken).toEqual([0, 12, 27, 32]);
  expect(began).toEqual([0, 2, 17, 32]);
});

test("the first look counts as any other, and looks take at most a tenth of the time", async () => {
  const { clock, began } = looking(10, 0.3);
  await clock.advance(19 * SECOND);
  expect(began).toEqual([0, 15, 18.3]);
});

test("it ends while it waits, with what was seen last", async () => {
  const { clock, began, end } = looking(0, 10);
  await clock.advance(13 * SECOND);
  expect(began).toEqual([0, 2]);
  expect(await end()).toBe(2);
});
