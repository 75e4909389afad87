/** The shares of processes: all together are everything, no two differ by more than one, and nobody waits for who is draining. */
import { describe, expect, test } from "vitest";
import { chooseShards, chooseToGive, chooseToJoin, fairShare, neededBefore } from "../../src/runtime/fair-share.ts";

const sharers = (count: number, draining: readonly number[] = []) =>
  Array.from({ length: count }, (_, i) => ({ number: 10 + i, draining: draining.includes(10 + i) }));

describe("fair shares", () => {
  test.for([1, 2, 3, 5, 16, 100])("%d processes have everything together, and differ by one at most", (count) => {
    const shares = sharers(count).map(({ number }) => fairShare(sharers(count), number, 1_024));
    expect(shares.reduce((sum, share) => sum + share, 0)).toBe(1_024);
    expect(Math.max(...shares) - Math.min(...shares)).toBeLessThanOrEqual(1);
  });

  test("one that drains has nothing, and the others its share; nor has one that nobody sees", () => {
    const three = sharers(3, [11]);
    expect(three.map(({ number }) => fairShare(three, number, 1_024))).toEqual([512, 0, 512]);
    expect(fairShare(three, 99, 1_024)).toBe(0);
  });
});

const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, i) => i);

test.for([
  { owned: [0, 0, 0], what: "that begin together" },
  { owned: [256, 256, 256], what: "whose fourth has left" },
  { owned: [342, 0, 100], what: "one of which has enough" },
])("processes $what choose all that is free, and each other shards", ({ owned }) => {
  const processes = sharers(3).map((one, i) => ({ ...one, shards: numbers(owned[i] ?? 0) }));
  const free = numbers(1_024 - owned.reduce((sum, count) => sum + count, 0));
  const chosen = processes.flatMap(({ number, shards }) => {
    const count = fairShare(processes, number, 1_024) - shards.length;
    return count === 0 ? [] : chooseShards(free, count, neededBefore(processes, number, 1_024));
  });
  expect(chosen).toHaveLength(free.length);
  expect(new Set(chosen).size).toBe(free.length);
});

test("a process takes what those before it leave", () => {
  expect(chooseShards([], 4, 0)).toEqual([]);
  expect(chooseShards([7], 4, 8)).toEqual([7]);
});

test("the smallest holdings are given back, as many as cover what is too much", () => {
  const held = [300, 20, 50].map((size) => ({ shards: Array.from({ length: size }, (_, i) => i) }));
  const sizes = (excess: number): readonly number[] => chooseToGive(held, excess).map(({ shards }) => shards.length);
  expect(sizes(0)).toEqual([]);
  expect(sizes(20)).toEqual([20]);
  expect(sizes(21)).toEqual([20, 50]);
  expect(sizes(1_000)).toEqual([20, 50, 300]);
});

test("the two smallest of too many holdings are opened again as one", () => {
  const held = [300, 20, 50].map((size) => ({ shards: Array.from({ length: size }, (_, i) => i) }));
  expect(chooseToJoin(held, 3)).toEqual([]);
  expect(chooseToJoin(held, 2).map(({ shards }) => shards.length)).toEqual([20, 50]);
});
