/** A page of a list: within its bound, with the position of the next only where there may be one. */
import { expect, test } from "vitest";
import { MAX_LISTED, pageByTime, positionAt } from "../../src/guardian/page.ts";

interface Entry {
  readonly at: number;
}

const timeOf = ({ at }: Entry): number => at;

/** Entries of these times, newest first, as a store lists them. */
const list =
  (times: readonly number[]) =>
  async ({ until = Infinity, limit }: { readonly until?: number; readonly limit: number }) => ({
    rows: times
      .filter((at) => at <= until)
      .map((at) => ({ at }))
      .slice(0, limit),
  });
const down = (count: number) => Array.from({ length: count }, (_, i) => 5_000 - i);

test.each<[number, number, number, number | undefined]>([
  [2, 5, 2, positionAt(4_999) + 1],
  [5, 5, 5, positionAt(4_996) + 1],
  [6, 5, 5, undefined],
  [5, 0, 0, undefined],
  [0, 5, 1, positionAt(5_000) + 1],
  [-3, 5, 1, positionAt(5_000) + 1],
  [1e9, 5_000, MAX_LISTED, positionAt(5_001 - MAX_LISTED) + 1],
])("a limit of %d over %d entries gives %d", async (limit, count, entries, next) => {
  const page = await pageByTime({ limit }, timeOf, list(down(count)));
  expect([page.entries.length, page.next]).toEqual([entries, next]);
});

test.each([1, 2, 3, 7])("pages of %d are everything once, also where many are of one time", async (limit) => {
  const times = [9, 8, 8, 8, 8, 5, 5, 1];
  const paged: number[] = [];
  let before: number | undefined;
  for (let page = 0; page < 20; page++) {
    const { entries, next } = await pageByTime(before === undefined ? { limit } : { limit, before }, timeOf, list(times));
    paged.push(...entries.map(timeOf));
    before = next;
    if (next === undefined) break;
  }
  expect(paged).toEqual(times);
});
