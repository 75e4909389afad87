/** Stores that are lost as soon as they are opened. */
import { expect, test } from "vitest";
import { Fatal } from "../../src/core/errors.ts";
import { SECOND } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { QuickLosses } from "../../src/runtime/quick-losses.ts";

function lab() {
  const clock = virtualClock(0);
  const losses = new QuickLosses(clock);
  const lose = async (livedMs: number): Promise<void> => {
    const openedAt = clock.monotonic();
    await clock.advance(livedMs);
    losses.lost(openedAt, new Fatal("store_lost", `after ${livedMs}`));
  };
  /** Seconds until the next may be opened. */
  const pause = async (): Promise<number> => {
    const from = clock.monotonic();
    while (!losses.mayOpen) await clock.advance(SECOND / 4);
    return (clock.monotonic() - from) / SECOND;
  };
  return { clock, losses, lose, pause };
}

test("a store that is lost is opened again at once, unless the one before it did not live long either", async () => {
  const { lose, pause, losses } = lab();
  const pauses: number[] = [];
  for (let i = 0; i < 7; i++) {
    await lose(100);
    pauses.push(await pause());
  }
  expect(pauses).toEqual([0, 1, 2, 4, 8, 15, 15]);
  expect(losses.reason).toMatchObject({ message: "after 100" });
  await lose(11 * SECOND);
  expect([await pause(), losses.reason]).toEqual([0, undefined]);
});

test("stores that are lost together are one loss", async () => {
  const { clock, losses } = lab();
  const openedAt = clock.monotonic();
  await clock.advance(100);
  for (let i = 0; i < 4; i++) losses.lost(openedAt, new Fatal("store_lost", "the server ended"));
  expect([losses.mayOpen, losses.reason]).toEqual([true, undefined]);
});

test("the reason is shown until a store has lived for long enough", async () => {
  const { clock, losses, lose } = lab();
  await lose(100);
  await lose(100);
  await clock.advance(10 * SECOND);
  expect(losses.reason).toBeDefined();
  await clock.advance(SECOND);
  expect(losses.reason).toBeUndefined();
});

test("a loss is a first one until a store is lost that was opened soon after it, and again later", async () => {
  const { clock, losses, lose } = lab();
  const first: boolean[] = [];
  for (const [apartMs, livedMs] of [
    [0, 11 * SECOND],
    [0, 100],
    [0, 11 * SECOND],
    [11 * SECOND, 100],
  ] as const) {
    await clock.advance(apartMs);
    await lose(livedMs);
    first.push(losses.isFirst);
    losses.lost(clock.monotonic() - SECOND, new Fatal("store_lost", "together with it"));
    first.push(losses.isFirst);
  }
  expect(first).toEqual([true, true, false, false, false, false, true, true]);
});

test("a process without a store that could open none says why, until it opens one", async () => {
  const { losses } = lab();
  const full = new Error("the local folder cannot be written");
  await expect(losses.noting(Promise.reject(full))).rejects.toBe(full);
  expect(losses.reason).toMatchObject({ message: full.message });
  expect(await losses.noting(Promise.resolve(undefined))).toBeUndefined(); // others had taken them
  expect(losses.reason).toBeDefined();
  await losses.noting(Promise.resolve("a store"));
  expect(losses.reason).toBeUndefined();
  await losses.noting(Promise.reject(full)).catch(() => undefined);
  losses.suffices(); // it has another
  expect(losses.reason).toBeUndefined();
});
