/** Virtual time: order, promises, and ends. */
import { setImmediate } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { sleep } from "../../src/core/clock.ts";
import { DAY, HOUR } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";

describe("a virtual clock", () => {
  it("stands still while work is done that takes real time, one work after the other", async () => {
    const clock = virtualClock(0);
    const seen: string[] = [];
    const works = ["first", "second"].map((name, at) =>
      clock.outside(async () => {
        seen.push(`${name} begins`);
        for (let turn = 0; turn < 20 - 10 * at; turn++) await setImmediate();
        seen.push(`${name} ends`);
      }),
    );
    clock.after(1, () => void seen.push("a timer"));
    await clock.advance(5);
    expect(seen).toEqual(["first begins", "first ends", "second begins", "second ends", "a timer"]);
    await Promise.all(works);
    const failing = clock.outside(() => Promise.reject(new Error("no answer")));
    await Promise.all([expect(failing).rejects.toThrow("no answer"), clock.advance(1)]);
  });

  it("runs timers by their time, equal ones in the order they were set, and settles promises between", async () => {
    const clock = virtualClock(0);
    const seen: string[] = [];
    const later = async (name: string, ms: number): Promise<void> => {
      await sleep(clock, ms);
      seen.push(`${name}@${clock.now()}`);
      await Promise.resolve();
      seen.push(`${name} after`);
    };
    void later("c", 20);
    void later("a", 10);
    void later("b", 10);
    await clock.advance(15);
    expect(seen).toEqual(["a@10", "a after", "b@10", "b after"]);
    expect([clock.now(), clock.monotonic(), clock.pending()]).toEqual([15, 15, 1]);
    await clock.advance(5);
    expect(seen).toHaveLength(6);
  });

  it("timers set by timers run in the same advance when due", async () => {
    const clock = virtualClock(0);
    const seen: number[] = [];
    const tick = (): void => {
      seen.push(clock.now());
      if (seen.length < 5) clock.after(HOUR, tick);
    };
    clock.after(HOUR, tick);
    await clock.advance(DAY);
    expect(seen).toEqual([1, 2, 3, 4, 5].map((hour) => hour * HOUR));
  });

  it("cancelled timers do not run, however late they are cancelled", async () => {
    const clock = virtualClock(0);
    let runs = 0;
    const second = clock.after(10, () => void runs++);
    clock.after(5, () => second.cancel());
    const done = clock.after(1, () => void runs++);
    await clock.advance(20);
    done.cancel();
    expect([runs, clock.pending()]).toEqual([1, 0]);
  });

  it("soon runs before any time passes", async () => {
    const clock = virtualClock(0);
    const seen: string[] = [];
    clock.after(1, () => void seen.push("timer"));
    clock.soon(() => void seen.push(`soon@${clock.now()}`));
    await clock.advance(1);
    expect(seen).toEqual(["soon@0", "timer"]);
  });

  it("run gives a promise's value once enough time has passed, or its error", async () => {
    const clock = virtualClock(0);
    const value = sleep(clock, DAY).then(() => "awake");
    expect(await clock.run(value)).toBe("awake");
    expect(clock.now()).toBe(DAY);
    await expect(clock.run(sleep(clock, 5).then(() => Promise.reject(new Error("no"))))).rejects.toThrow("no");
    await expect(clock.run(sleep(clock, DAY), HOUR)).rejects.toThrow(/still waiting/);
  });

  it("says so when nothing is left that could happen", async () => {
    const clock = virtualClock(0);
    await expect(clock.run(new Promise(() => undefined))).rejects.toThrow(/nothing left/);
    expect(await clock.runUntil(() => false, HOUR)).toBe(false);
    expect(clock.now()).toBe(HOUR);
  });

  it("jumping moves the wall, not the timers", async () => {
    const clock = virtualClock(0);
    let at = -1;
    clock.after(100, () => (at = clock.now()));
    clock.jump(-50);
    await clock.advance(100);
    expect([at, clock.monotonic()]).toEqual([50, 100]);
  });

  it("passes a week of minute timers in little real time", async () => {
    const clock = virtualClock(0);
    let ticks = 0;
    const tick = (): void => {
      ticks++;
      clock.after(60_000, tick);
    };
    tick();
    await clock.advance(7 * DAY);
    expect(ticks).toBe(7 * 1_440 + 1);
  });
});
