/** Pacing: spacing and concurrency per key, in order, live and virtual alike, and nothing left when idle. */
import { describe, expect, test } from "vitest";
import { systemClock, type Clock } from "../../src/core/clock.ts";
import { asKeyId } from "../../src/core/ids.ts";
import { livePacer, MAX_WAITING, virtualPacer } from "../../src/limits/pacing.ts";

const A = asKeyId("a");
const B = asKeyId("b");

/** Time that the test moves: timers run in order of time as it passes. */
function handClock() {
  let now = 0;
  let timers: { at: number; run: () => void }[] = [];
  const clock: Clock = {
    now: () => now,
    monotonic: () => now,
    soon: (run) => void timers.push({ at: now, run }),
    after(delayMs, run) {
      const timer = { at: now + delayMs, run };
      timers.push(timer);
      return { cancel: () => void (timers = timers.filter((other) => other !== timer)) };
    },
  };
  const settleAll = async (): Promise<void> => {
    for (let i = 0; i < 20; i++) await Promise.resolve();
  };
  return {
    clock,
    timers: () => timers.length,
    pass: async (ms: number): Promise<void> => {
      const end = now + ms;
      await settleAll();
      for (;;) {
        const next = timers.filter(({ at }) => at <= end).toSorted((x, y) => x.at - y.at)[0];
        if (next === undefined) break;
        timers = timers.filter((timer) => timer !== next);
        now = Math.max(now, next.at);
        next.run();
        await settleAll();
      }
      now = end;
    },
  };
}

describe("the virtual twin", () => {
  test("starts one key's tasks 50 ms apart, in order, and does not hold up another key", async () => {
    const { clock, pass } = handClock();
    const pacer = virtualPacer(clock);
    const started: string[] = [];
    const task = (name: string) => async () => void started.push(`${name}@${clock.now()}`);
    const all = [pacer.run(A, task("a1")), pacer.run(A, task("a2")), pacer.run(A, task("a3")), pacer.run(B, task("b1"))];
    await pass(200);
    await Promise.all(all);
    expect(started).toEqual(["a1@0", "b1@0", "a2@50", "a3@100"]);
    expect(pacer.busy()).toBe(0);
  });

  test("runs two at a time, and the third when one ends", async () => {
    const { clock, pass, timers } = handClock();
    const pacer = virtualPacer(clock, { spacingMs: 10 });
    let running = 0;
    let most = 0;
    const slow = () =>
      pacer.run(A, async () => {
        most = Math.max(most, ++running);
        await new Promise<void>((done) => void clock.after(1_000, done));
        running--;
      });
    const all = Array.from({ length: 5 }, slow);
    await pass(4_000);
    await Promise.all(all);
    expect(most).toBe(2);
    expect([pacer.busy(), timers()]).toEqual([0, 0]);
  });

  test("a task that fails frees its place, and its error comes through", async () => {
    const { clock, pass } = handClock();
    const pacer = virtualPacer(clock, { concurrency: 1 });
    const both = Promise.allSettled([
      pacer.run(A, () => Promise.reject(new Error("no network"))),
      pacer.run(A, () => Promise.resolve("next")),
    ]);
    await pass(200);
    expect(await both).toMatchObject([{ reason: { message: "no network" } }, { value: "next" }]);
  });

  test("a pile is refused", async () => {
    const { clock } = handClock();
    const pacer = virtualPacer(clock);
    const never = () => new Promise<never>(() => undefined);
    for (let i = 0; i <= MAX_WAITING; i++) void pacer.run(A, never);
    await expect(pacer.run(A, never)).rejects.toThrow(expect.objectContaining({ code: "pacing_full" }));
  });
});

describe("live", () => {
  test("spaces the starts of one key and runs at most two at a time", async () => {
    const clock = systemClock();
    const pacer = livePacer(clock, { spacingMs: 20 });
    const starts: number[] = [];
    let running = 0;
    let most = 0;
    await Promise.all(
      Array.from({ length: 6 }, () =>
        pacer.run(A, async () => {
          starts.push(clock.monotonic());
          most = Math.max(most, ++running);
          await new Promise<void>((done) => void clock.after(50, done));
          running--;
        }),
      ),
    );
    // Over all of them: a start that a busy machine delays does not delay the ones after it.
    expect((starts.at(-1) ?? 0) - (starts[0] ?? 0)).toBeGreaterThan(5 * 20 - 15);
    expect(most).toBe(2);
  });

  test("a request that comes while another is alone under way keeps its distance and counts it", async () => {
    const clock = systemClock();
    const pacer = livePacer(clock, { spacingMs: 20, concurrency: 1 });
    const told: string[] = [];
    let endFirst = (): void => undefined;
    const first = pacer.run(A, async () => {
      told.push("first began");
      await new Promise<void>((done) => (endFirst = done));
      told.push("first ended");
    });
    expect(told).toEqual(["first began"]); // at once: nothing else of its key is under way
    const began = clock.monotonic();
    const second = pacer.run(A, async () => {
      told.push("second began");
      return clock.monotonic() - began;
    });
    for (let i = 0; i < 4; i++) await pacer.run(B, () => Promise.resolve()); // longer than the distance
    expect(told).toEqual(["first began"]);
    endFirst();
    expect(await second).toBeGreaterThan(15);
    await first;
    expect(told).toEqual(["first began", "first ended", "second began"]);
  });

  test("one after the other keeps the distance too, and one that fails holds up nobody", async () => {
    const clock = systemClock();
    const pacer = livePacer(clock, { spacingMs: 20 });
    const starts: number[] = [];
    const failed = pacer.run(A, async () => {
      starts.push(clock.monotonic());
      throw new Error("no network");
    });
    await expect(failed).rejects.toThrow("no network");
    for (let i = 0; i < 3; i++) await pacer.run(A, async () => void starts.push(clock.monotonic()));
    expect((starts.at(-1) ?? 0) - (starts[0] ?? 0)).toBeGreaterThan(3 * 20 - 15);
  });

  test("a key's limiter is dropped once it is idle, with one timer for all keys", async () => {
    const hand = handClock();
    const pacer = livePacer(hand.clock, { spacingMs: 20 });
    await Promise.all(Array.from({ length: 30 }, (_, i) => pacer.run(asKeyId(`key-${i}`), () => Promise.resolve(i))));
    expect([pacer.busy(), hand.timers()]).toEqual([30, 1]);
    await hand.pass(20);
    expect([pacer.busy(), hand.timers()]).toEqual([0, 0]);
  });

  test("with a spacing of 0 nothing is paced", async () => {
    const hand = handClock();
    const pacer = livePacer(hand.clock, { spacingMs: 0 });
    let running = 0;
    let most = 0;
    await Promise.all(
      Array.from({ length: 2_000 }, () =>
        pacer.run(A, async () => {
          most = Math.max(most, ++running);
          await Promise.resolve();
          running--;
        }),
      ),
    );
    expect(most).toBe(2_000);
    expect([pacer.busy(), hand.timers()]).toEqual([0, 0]);
  });

  test.each([{ concurrency: 0 }, { concurrency: 1.5 }, { spacingMs: -1 }, { spacingMs: Number.NaN }, { spacingMs: 1e9 }])(
    "%o is refused",
    (options) => {
      expect(() => livePacer(systemClock(), options)).toThrow(expect.objectContaining({ code: "pacing_invalid" }));
    },
  );
});
