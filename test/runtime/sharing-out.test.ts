/** The aim of a process by one look: its share, and the specialists that only others have a definition of. */
import { expect, test } from "vitest";
import { asHandle } from "../../src/core/ids.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { SharingOut } from "../../src/runtime/sharing-out.ts";
import { SHARDS } from "../../src/store/postgres/ownership.ts";
import { fleetProcess as process } from "../harness/fleet-process.ts";

const NEW = asHandle("new");
const numbers = (from: number, to: number): readonly number[] => Array.from({ length: to - from }, (_, i) => from + i);

function lab(uneven: readonly { readonly shard: number; readonly isOurs: boolean; readonly able: number }[] = []) {
  const asked: string[] = [];
  const membership = {
    number: 1,
    ask: async () => "{}",
    unevenShards: async () => (asked.push("uneven"), uneven),
    definedElsewhere: async (among: readonly number[]) => (asked.push(`elsewhere of ${among.join()}`), [NEW]),
  };
  const sharing = new SharingOut(virtualClock());
  const processes = [process(1), { ...process(2), shards: numbers(512, SHARDS) }];
  return { sharing, asked, membership, processes };
}

test("a process takes what is free up to its share, and asks nothing while others come and go", async () => {
  const { sharing, asked, membership, processes } = lab();
  const free = numbers(0, 512);
  const { take } = await sharing.aim({ membership, view: { processes, free }, owned: () => [], isSettled: false });
  expect(take).toEqual(free);
  expect(asked).toEqual(["uneven"]);
  const aim = await sharing.aim({ membership, view: { processes, free: [] }, owned: () => free, isSettled: false });
  expect(aim).toMatchObject({ take: [], excess: 0 });
  expect(asked).toEqual(["uneven"]);
});

test("specialists of others are known while definitions differ, and only then", async () => {
  const differing = [{ shard: 600, isOurs: false, able: 1 }];
  const { sharing, asked, membership, processes } = lab(differing);
  const look = (isSettled: boolean) => sharing.aim({ membership, view: { processes, free: [] }, owned: () => numbers(0, 512), isSettled });
  expect(sharing.isElsewhere(NEW)).toBe(false);
  await look(true);
  expect(sharing.isElsewhere(NEW)).toBe(true);
  expect(sharing.isElsewhere(asHandle("unknown"))).toBe(false);
  await look(false); // nothing is read while others come and go, and what was read still counts
  expect(sharing.isElsewhere(NEW)).toBe(true);
  expect(asked).toEqual(["uneven", "elsewhere of 1,2"]);
  differing.pop();
  await look(true);
  expect(sharing.isElsewhere(NEW)).toBe(false);
});
