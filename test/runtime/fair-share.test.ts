/** The shares of processes: all together are everything, no two differ by more than one, and nobody waits for who is draining. */
import { describe, expect, test } from "vitest";
import { aimOf, chooseShards, chooseToGive, chooseToJoin, fairShare, neededBefore } from "../../src/runtime/fair-share.ts";

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

describe("a process whose definitions differ from the others'", () => {
  const half = numbers(512);
  const rest = numbers(1_024).filter((shard) => shard >= 512);
  const foreign = [0, 1, 2].map((shard) => ({ shard, isOurs: false, able: 1 }));
  const ours = foreign.map((one) => ({ ...one, isOurs: true }));

  test("leaves a shard of which another can run more, and that one takes it above its share, for good", () => {
    const without = aimOf({ share: 512, before: 0, owned: half.slice(3), free: [0, 1, 2], fewest: 509, uneven: foreign });
    expect([without.take, without.excess]).toEqual([[], 0]);
    const before = aimOf({ share: 512, before: 3, owned: rest, free: [0, 1, 2], fewest: 509, uneven: ours });
    expect([before.take, before.excess]).toEqual([[0, 1, 2], 0]);
    const after = aimOf({ share: 512, before: 3, owned: [0, 1, 2, ...rest], free: [], fewest: 509, uneven: ours });
    expect([after.take, after.excess]).toEqual([[], 0]);
  });

  test("has all where it alone can run anything, and shares that with whoever can too", () => {
    const alone = numbers(1_024).map((shard) => ({ shard, isOurs: true, able: 1 }));
    expect(aimOf({ share: 512, before: 0, owned: half, free: rest, fewest: 0, uneven: alone }).take).toEqual(rest);
    const two = alone.map((one) => ({ ...one, able: 2 }));
    expect(aimOf({ share: 342, before: 0, owned: numbers(1_024), free: [], fewest: 0, uneven: two }).excess).toBe(512);
    expect(aimOf({ share: 341, before: 0, owned: [], free: rest, fewest: 0, uneven: two }).take).toEqual(rest);
  });
});

test("a process gives what it has above its share, unless all have nearly the same", () => {
  const excess = (share: number, owned: number, fewest: number, free: readonly number[] = []): number =>
    aimOf({ share, before: 0, owned: numbers(owned), free, fewest, uneven: [] }).excess;
  expect([excess(512, 1_024, 0), excess(113, 128, 0)]).toEqual([512, 15]);
  expect([excess(512, 516, 508), excess(512, 600, 424)]).toEqual([0, 88]);
  expect(excess(512, 516, 0, numbers(508))).toBe(0); // they are being taken
  expect(excess(0, 5, 0)).toBe(5);
});

test("holdings that must be given count for what is too much", () => {
  const [large, small] = [{ shards: numbers(300) }, { shards: numbers(20) }] as const;
  expect(chooseToGive([large, small], 100, [large])).toEqual([large]);
  expect(chooseToGive([large, small], 310, [large])).toEqual([large, small]);
});
