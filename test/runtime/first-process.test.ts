/** One process tells people: the oldest that has shards, and not one that was stopped meanwhile. */
import { expect, test } from "vitest";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { firstOf, FirstProcess } from "../../src/runtime/first-process.ts";

const process = (number: number, shards: readonly number[], draining = false) => ({ number, shards, draining });

test("it is the oldest that has shards and does not drain; before any has some, the oldest", () => {
  expect(firstOf([process(1, [1], true), process(2, []), process(3, [2]), process(4, [3])])).toBe(3);
  expect(firstOf([process(1, [], true), process(2, []), process(3, [])])).toBe(2);
  expect(firstOf([])).toBeUndefined();
});

test("one that was stopped for long is silent until it has asked, and then begins a new term", async () => {
  const clock = virtualClock();
  const first = new FirstProcess(clock, 12_000);
  const look = async (processes: readonly ReturnType<typeof process>[]): Promise<number | undefined> => {
    await first.hears(async () => undefined);
    first.saw(processes, 1);
    return first.term(undefined);
  };
  expect(first.term(undefined)).toBeUndefined();
  const term = await look([process(1, [1]), process(2, [2])]);
  expect(term).toBeDefined();
  await clock.advance(11_000);
  expect(await look([process(1, [1]), process(2, [2])])).toBe(term);
  await clock.advance(13_000);
  expect([first.term(undefined), first.term(0)]).toEqual([undefined, term]);
  expect(await look([process(1, [1]), process(2, [2])])).toBe((term ?? 0) + 1);
  expect(await look([process(1, []), process(2, [2])])).toBeUndefined();
  expect(await look([process(1, [1]), process(2, [2])])).toBe((term ?? 0) + 2);
});

test("while the server cannot be used each process tells people in turn, as those before it may have ended with the server", async () => {
  const clock = virtualClock();
  const all = [process(1, []), process(2, [], true), process(3, []), process(4, [3]), process(5, [4])];
  const tellers = [1, 3, 4, 5, 9].map((number) => ({ number, says: new FirstProcess(clock, 12_000) }));
  const look = () => Promise.all(tellers.map(({ says, number }) => says.hears(async () => says.saw(all, number))));
  const telling = (troubleMs: number | undefined) =>
    tellers.filter(({ says }) => says.term(troubleMs) !== undefined).map(({ number }) => number);
  await look();
  expect(telling(undefined)).toEqual([4]);
  expect([0, 59_000, 60_000, 120_000, 180_000].map(telling)).toEqual([[4], [4], [1, 4], [1, 3, 4], [1, 3, 4, 5]]);
  await clock.advance(3_600_000); // they slept
  expect([telling(undefined), telling(0)]).toEqual([[], [4]]);
  await look();
  expect(telling(undefined)).toEqual([4]);
});

test("a question that fails is no answer", async () => {
  const clock = virtualClock();
  const first = new FirstProcess(clock, 12_000);
  await first.hears(async () => undefined);
  first.saw([process(1, [1])], 1);
  await clock.advance(13_000);
  await expect(first.hears(() => Promise.reject(new Error("no answer")))).rejects.toThrow("no answer");
  expect(first.term(undefined)).toBeUndefined();
});
