/** The price of a call: never below the real one beforehand, and to the millionth afterwards. */
import fc from "fast-check";
import { expect, test } from "vitest";
import { costOf, tokensOf, worstCost } from "../../src/model/call-cost.ts";

const prices = { inputMicros: 0.15, outputMicros: 0.6 };

test("cost is rounded up to whole millionths, and no further", () => {
  expect(costOf({ input: 1_000, output: 100 }, { prices })).toBe(210);
  expect(costOf({ input: 1, output: 0 }, { prices })).toBe(1);
  expect(costOf({ input: 10, output: 0 }, { prices: { inputMicros: 1.1, outputMicros: 0 } })).toBe(11);
  expect(costOf({ input: 5, output: 5 }, { prices: { inputMicros: 0, outputMicros: 0 } })).toBe(0);
});

test("no use within bytes and the cap of output costs more than the hold", () => {
  const token = fc.integer({ min: 0, max: 100_000 });
  const price = fc.double({ min: 0, max: 100, noNaN: true });
  fc.assert(
    fc.property(token, token, price, price, (bytes, output, inputMicros, outputMicros) => {
      const settings = { prices: { inputMicros, outputMicros }, outputTokens: output };
      expect(worstCost(bytes, settings).micros).toBeGreaterThanOrEqual(costOf({ input: bytes, output }, settings));
    }),
  );
});

test.each([
  [
    { input: 10, output: 5, total: 15 },
    { input: 10, output: 5 },
  ],
  [
    { input: 10, output: 5, total: 45 },
    { input: 10, output: 35 },
  ],
  [
    { input: 10, output: 5, total: undefined },
    { input: 10, output: 5 },
  ],
  [{ input: undefined, output: 5, total: 15 }, undefined],
  [{ input: 10, output: undefined, total: 15 }, undefined],
  [{ input: -1, output: 5, total: 4 }, undefined],
  [{ input: 1.5, output: 5, total: 4 }, undefined],
])("use %j counts as %j", (use, tokens) => {
  expect(tokensOf(use)).toEqual(tokens);
});
