/** A page of a list: within its bound, with the position of the next only where there may be one. */
import { expect, test } from "vitest";
import { MAX_LISTED, pageOf } from "../../src/guardian/page.ts";

const list = (count: number) => async (limit: number) => Array.from({ length: Math.min(count, limit) }, (_, i) => ({ seq: 5_000 - i }));

test.each<[number, number, number, number | undefined]>([
  [2, 5, 2, 4_999],
  [5, 5, 5, 4_996],
  [6, 5, 5, undefined],
  [5, 0, 0, undefined],
  [0, 5, 1, 5_000],
  [-3, 5, 1, 5_000],
  [1e9, 5_000, MAX_LISTED, 5_001 - MAX_LISTED],
])("a limit of %d over %d entries gives %d", async (limit, count, entries, next) => {
  const page = await pageOf(limit, list(count));
  expect([page.entries.length, page.next]).toEqual([entries, next]);
});
