/** Wakes: in order, once, bounded, with one timer, and right when the clock jumps. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Clock } from "../../src/core/clock.ts";
import { HOUR, MINUTE, SECOND } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { createWakes } from "../../src/runtime/wakes.ts";

function start(clock = virtualClock(0), max = 1_000_000) {
  const woken: string[] = [];
  const wakes = createWakes({ clock, run: (key) => void woken.push(`${key}@${clock.now()}`), max });
  return { clock, woken, wakes };
}

describe("wakes", () => {
  test("come in the order of their times, each once", async () => {
    const { clock, woken, wakes } = start();
    wakes.set("late", 3 * SECOND);
    wakes.set("early", 1 * SECOND);
    wakes.set("middle", 2 * SECOND);
    await clock.advance(10 * SECOND);
    expect(woken).toEqual(["early@1000", "middle@2000", "late@3000"]);
    expect(clock.pending()).toBe(0);
  });

  test("a later set takes the place of the earlier one, a cleared one never comes", async () => {
    const { clock, woken, wakes } = start();
    wakes.set("a", 1 * SECOND);
    wakes.set("a", 5 * SECOND);
    wakes.set("b", 2 * SECOND);
    wakes.clear("b");
    await clock.advance(HOUR);
    expect(woken).toEqual(["a@5000"]);
  });

  test("one in the past comes at once", async () => {
    const { clock, woken, wakes } = start();
    wakes.set("a", -5);
    await clock.advance(0);
    expect(woken).toEqual(["a@0"]);
  });

  test("a clock put forward is noticed within a minute, one put back wakes nobody early", async () => {
    const { clock, woken, wakes } = start();
    wakes.set("a", 5 * HOUR);
    await clock.advance(SECOND);
    clock.jump(5 * HOUR);
    await clock.advance(MINUTE);
    expect(woken).toHaveLength(1);
    const at = clock.now();
    wakes.set("b", at + 10 * SECOND);
    clock.jump(-HOUR);
    await clock.advance(30 * MINUTE);
    expect(woken).toHaveLength(1);
    await clock.advance(HOUR);
    expect(woken).toHaveLength(2);
  });

  test("one that throws does not silence the others", () => {
    const pending: (() => void)[] = [];
    const clock: Clock = {
      now: () => 10,
      monotonic: () => 10,
      soon: (run) => void pending.push(run),
      after: (_delay, run) => (pending.push(run), { cancel: () => void pending.splice(pending.indexOf(run), 1) }),
    };
    const woken: string[] = [];
    const run = (key: string): void => {
      woken.push(key);
      if (key === "bad") throw new Error("boo");
    };
    const wakes = createWakes({ clock, run });
    wakes.set("bad", 1);
    wakes.set("good", 2);
    expect(() => pending.shift()?.()).toThrow("boo");
    pending.shift()?.();
    expect(woken).toEqual(["bad", "good"]);
  });

  test("there are at most as many as allowed", () => {
    const { wakes } = start(virtualClock(0), 2);
    wakes.set("a", 1);
    wakes.set("b", 1);
    wakes.set("a", 2);
    expect(() => wakes.set("c", 1)).toThrow(/at most 2/);
  });

  test("a stop leaves no timer", async () => {
    const { clock, wakes } = start();
    wakes.set("a", HOUR);
    wakes.stop();
    wakes.set("b", HOUR);
    expect(clock.pending()).toBe(0);
  });

  test("ten thousand wait behind one timer and come in order", async () => {
    const { clock, woken, wakes } = start();
    for (let i = 0; i < 10_000; i++) wakes.set(`k${i}`, ((i * 7_919) % 10_000) * 10);
    expect(clock.pending()).toBe(1);
    await clock.advance(200 * SECOND);
    expect(woken).toHaveLength(10_000);
    const times = woken.map((one) => Number(one.split("@")[1]));
    expect(times).toEqual(times.toSorted((a, b) => a - b));
  });

  test("any mix of set and clear wakes exactly what a plain list would", async () => {
    const step = fc.record({ key: fc.integer({ min: 0, max: 8 }), at: fc.integer({ min: 0, max: 50 }), clear: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 40 }), async (steps) => {
        const { clock, woken, wakes } = start();
        const list = new Map<string, number>();
        for (const { key, at, clear } of steps) {
          const name = `${key}`;
          if (clear) {
            wakes.clear(name);
            list.delete(name);
          } else {
            wakes.set(name, at);
            list.set(name, at);
          }
        }
        expect(wakes.size).toBe(list.size);
        await clock.advance(100);
        expect(woken.toSorted()).toEqual([...list].map(([key, at]) => `${key}@${at}`).toSorted());
      }),
      { numRuns: 100 },
    );
  });
});
