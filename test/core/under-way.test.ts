/** A moment without anything slow: only an end brings it, and it is not missed. */
import { expect, test } from "vitest";
import { nothingSlow, UnderWay } from "../../src/core/under-way.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";

const begin = (underWay: UnderWay): ((error?: Error) => void) => {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  underWay.follow(promise).catch(() => undefined);
  return (error) => (error === undefined ? resolve() : reject(error));
};

test("the age is that of the oldest, whether it succeeds or fails", async () => {
  const clock = virtualClock();
  const underWay = new UnderWay(clock);
  expect(underWay.oldestMs).toBe(0);
  const first = begin(underWay);
  await clock.advance(700);
  const second = begin(underWay);
  await clock.advance(100);
  expect(underWay.oldestMs).toBe(800);
  first(new Error("it failed"));
  await clock.advance(0);
  expect(underWay.oldestMs).toBe(100);
  second();
  await clock.advance(0);
  expect(underWay.oldestMs).toBe(0);
});

test("a moment comes as the last slow one of all ends, however many young ones are under way, or by the signal", async () => {
  const clock = virtualClock();
  const [one, two] = [new UnderWay(clock), new UnderWay(clock)];
  const ends = [begin(one), begin(two)];
  await clock.advance(2_000);
  for (let n = 0; n < 100; n++) begin(one);
  let came = 0;
  const wait = (signal: AbortSignal): void =>
    void nothingSlow(
      [one, two].map((underWay) => ({ underWay, youngMs: 1_000 })),
      signal,
    ).then(() => came++);
  const over = new AbortController();
  wait(new AbortController().signal);
  wait(over.signal);
  ends[0]?.();
  await clock.advance(0);
  expect(came).toBe(0);
  over.abort();
  await clock.advance(0);
  expect(came).toBe(1);
  ends[1]?.();
  await clock.advance(0);
  expect(came).toBe(2);
});
