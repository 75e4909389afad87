/** Repetition: the first few of a kind within a minute pass, the others are counted, never lost, and cost nothing. */
import { expect, test } from "vitest";
import { createRepeats } from "../../src/core/repetition-limit.ts";
import { MINUTE } from "../../src/core/units.ts";

const repeats = () => createRepeats<string>((first, { more }, now) => `${first}: ${more} more by ${now}`);

test("a kind passes as often as it may, and the rest is summed up once its minute is over", () => {
  const { take } = repeats();
  const at = (now: number): readonly string[] => take({ key: "slow", passing: 2 }, now, () => `slow@${now}`);
  expect([at(0), at(1), at(2), at(MINUTE - 1)]).toEqual([["slow@0"], ["slow@1"], [], []]);
  expect(at(MINUTE)).toEqual([`slow@0: 2 more by ${MINUTE}`, `slow@${MINUTE}`]);
});

test("another kind brings the sums that are due, and a kind that stayed within its number has none", () => {
  const { take } = repeats();
  for (const now of [0, 1, 2]) take({ key: "much", passing: 1 }, now, () => "much");
  take({ key: "little", passing: 1 }, 3, () => "little");
  expect(take({ key: "new", passing: 1 }, 2 * MINUTE, () => "new")).toEqual([`much: 2 more by ${2 * MINUTE}`, "new"]);
});

test("a clock that was set back begins a new minute", () => {
  const { take } = repeats();
  for (const now of [MINUTE, MINUTE, MINUTE]) take({ key: "slow", passing: 1 }, now, () => "slow");
  expect(take({ key: "slow", passing: 1 }, 0, () => "again")).toEqual(["slow: 2 more by 0", "again"]);
});

test("the kinds in memory are bounded: the oldest is summed up when it is forgotten", () => {
  const { take, rest } = repeats();
  for (let i = 0; i < 3; i++) take({ key: "oldest", passing: 1 }, 0, () => "oldest");
  const taken = Array.from({ length: 2_000 }, (_, i) => take({ key: `kind ${i}`, passing: 1 }, 1, () => `kind ${i}`)).flat();
  expect(taken.filter((line) => !line.startsWith("kind "))).toEqual(["oldest: 2 more by 1"]);
  expect(rest(2)).toEqual([]);
});

test("the end sums up all kinds once", () => {
  const { take, rest } = repeats();
  for (const key of ["a", "b", "a", "b", "b"]) take({ key, passing: 1 }, 0, () => key);
  expect([rest(5), rest(6)]).toEqual([["a: 1 more by 5", "b: 2 more by 5"], []]);
});

test("a line that does not pass is not made", () => {
  const { take } = repeats();
  let made = 0;
  for (let i = 0; i < 1_000; i++)
    take({ key: "dear", passing: 10 }, 0, () => {
      made++;
      return "dear";
    });
  expect(made).toBe(10);
});
