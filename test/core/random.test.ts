/** Chance: a seed replays its values, a fork shifts nothing, and every draw keeps its bounds. */
import { expect, test } from "vitest";
import { seededRandom, systemRandom, type Random } from "../../src/core/random.ts";

const values = (random: Random, count = 5): readonly number[] => Array.from({ length: count }, () => random.next());

test("a seed gives the same values each time, and another seed others", () => {
  expect(values(seededRandom(7))).toEqual(values(seededRandom(7)));
  expect(values(seededRandom("scout"))).toEqual(values(seededRandom("scout")));
  expect(values(seededRandom(7))).not.toEqual(values(seededRandom(8)));
  expect(values(seededRandom("scout"))).not.toEqual(values(seededRandom("scouT")));
});

test("the values of a seed are the same in every version: stored seeds replay", () => {
  const random = seededRandom("a stored seed");
  expect([random.int(1_000), random.word(6), random.int(1_000)]).toMatchInlineSnapshot(`
    [
      233,
      "jcpc6q",
      104,
    ]
  `);
});

test("a fork is known by its name, and shifts neither its source nor its siblings", () => {
  const [one, other] = [seededRandom(7), seededRandom(7)];
  const forked = values(one.fork("network"));
  values(one.fork("faults"));
  expect(values(one)).toEqual(values(other));
  expect(values(seededRandom(7).fork("network"))).toEqual(forked);
  expect(values(seededRandom(7).fork("faults"))).not.toEqual(forked);
});

test.each<[string, Random]>([
  ["seeded", seededRandom(3)],
  ["of the system", systemRandom()],
])("draws %s stay in their bounds and reach them", (_name, random) => {
  const drawn = Array.from({ length: 3_000 }, () => random.int(4));
  expect(new Set(drawn)).toEqual(new Set([0, 1, 2, 3]));
  expect(values(random, 3_000).every((value) => value >= 0 && value < 1)).toBe(true);
  expect(random.word(12)).toMatch(/^[0-9a-z]{12}$/);
  expect(random.word(0)).toBe("");
  expect(new Set(Array.from({ length: 200 }, () => random.pick(["a", "b"])))).toEqual(new Set(["a", "b"]));
});

test("nothing is picked from an empty list", () => {
  expect(() => seededRandom(1).pick([])).toThrow("expected at least one item");
});
