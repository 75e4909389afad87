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
    return first.term(false);
  };
  expect(first.term(false)).toBeUndefined();
  const term = await look([process(1, [1]), process(2, [2])]);
  expect(term).toBeDefined();
  await clock.advance(11_000);
  expect(await look([process(1, [1]), process(2, [2])])).toBe(term);
  await clock.advance(13_000);
  expect([first.term(false), first.term(true)]).toEqual([undefined, term]);
  expect(await look([process(1, [1]), process(2, [2])])).toBe((term ?? 0) + 1);
  expect(await look([process(1, []), process(2, [2])])).toBeUndefined();
  expect(await look([process(1, [1]), process(2, [2])])).toBe((term ?? 0) + 2);
});

test("without the server each process tells people in turn, as those before it may have ended with the server", async () => {
  const clock = virtualClock();
  const all = [process(1, [1]), process(2, [], true), process(3, [2]), process(4, [3])];
  const [first, second, third, stranger] = [1, 3, 4, 9].map((number) => ({ number, says: new FirstProcess(clock, 12_000) }));
  const tellers = [first, second, third, stranger].filter((one) => one !== undefined);
  for (const { says, number } of tellers) await says.hears(async () => says.saw(all, number));
  const telling = (cannotAsk: boolean) => tellers.filter(({ says }) => says.term(cannotAsk) !== undefined).map(({ number }) => number);
  expect([telling(false), telling(true)]).toEqual([[1], [1]]);
  await clock.advance(59_000);
  expect(telling(true)).toEqual([1]);
  await clock.advance(1_000);
  expect([telling(false), telling(true)]).toEqual([[], [1, 3]]);
  await clock.advance(60_000);
  expect(telling(true)).toEqual([1, 3, 4]);
  for (const { says, number } of tellers) await says.hears(async () => says.saw(all, number));
  expect([telling(false), telling(true)]).toEqual([[1], [1]]);
});

test("a question that fails is no answer", async () => {
  const clock = virtualClock();
  const first = new FirstProcess(clock, 12_000);
  await first.hears(async () => undefined);
  first.saw([process(1, [1])], 1);
  await clock.advance(13_000);
  await expect(first.hears(() => Promise.reject(new Error("no answer")))).rejects.toThrow("no answer");
  expect(first.term(false)).toBeUndefined();
});
