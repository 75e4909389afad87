/** Deadlines under one timer: each ends at its own time, and nothing is left once all requests are over. */
import { expect, test } from "vitest";
import { Deadlines } from "../../src/client/deadlines.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";

function timing() {
  const clock = virtualClock();
  const began = clock.monotonic();
  const ended: (readonly [string, number])[] = [];
  const timed = (name: string) => ({ expire: () => void ended.push([name, clock.monotonic() - began]) });
  return { clock, ended, timed, deadlines: new Deadlines(clock) };
}

test("each request ends at its own deadline, whatever others began before it", async () => {
  const { clock, ended, timed, deadlines } = timing();
  deadlines.add(timed("a"), 100);
  await clock.advance(30);
  deadlines.add(timed("b"), 100);
  deadlines.add(timed("short"), 20);
  await clock.advance(500);
  expect(ended).toEqual([
    ["short", 50],
    ["a", 100],
    ["b", 130],
  ]);
});

test("a request that is over has no deadline, and the last one takes the timer with it", async () => {
  const { clock, ended, timed, deadlines } = timing();
  const [a, b] = [timed("a"), timed("b")];
  deadlines.add(a, 100);
  await clock.advance(50);
  deadlines.add(b, 100);
  deadlines.remove(a, 100);
  await clock.advance(60);
  expect(ended).toEqual([]);
  deadlines.remove(b, 100);
  deadlines.remove(b, 100);
  expect(clock.pending()).toBe(0);
  await clock.advance(500);
  expect(ended).toEqual([]);
});

test("a request that begins while another expires has its whole time", async () => {
  const { clock, ended, timed, deadlines } = timing();
  const second = timed("second");
  deadlines.add({ expire: () => deadlines.add(second, 100) }, 100);
  await clock.advance(150);
  expect(ended).toEqual([]);
  await clock.advance(100);
  expect(ended).toEqual([["second", 200]]);
  expect(clock.pending()).toBe(0);
});
