/** The moment at which shards are given: none while a handler takes long, at once among short ones, and not later than after a minute. */
import { expect, test } from "vitest";
import { UnderWay } from "../../src/core/under-way.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { Giving } from "../../src/runtime/giving.ts";

function lab() {
  const clock = virtualClock();
  const given: { readonly at: number; readonly names: readonly string[] }[] = [];
  const began = clock.monotonic();
  const held = (name: string) => ({ name, underWay: new UnderWay(clock) });
  const giving = new Giving<ReturnType<typeof held>>(clock, (all) =>
    given.push({ at: clock.monotonic() - began, names: all.map(({ name }) => name) }),
  );
  const work = (ms: number): Promise<void> => new Promise((resolve) => void clock.after(ms, resolve));
  return { clock, given, held, giving, work };
}

test("a store with thousands of short handlers is given at once, and one with a slow one when that is over", async () => {
  const { clock, given, held, giving, work } = lab();
  const [busy, slow] = [held("busy"), held("slow")];
  for (let n = 0; n < 2_000; n++) void busy.underWay.follow(work(n % 900));
  void slow.underWay.follow(work(20_000));
  await clock.advance(500);
  giving.want([busy]);
  await clock.advance(1_000);
  expect(given).toEqual([{ at: 500, names: ["busy"] }]);
  giving.want([slow]);
  await clock.advance(30_000);
  expect(given).toEqual([expect.anything(), { at: 20_000, names: ["slow"] }]);
});

test("others wait for no moment longer than a minute, whatever is wanted meanwhile", async () => {
  const { clock, given, held, giving, work } = lab();
  const [one, two] = [held("one"), held("two")];
  for (const { underWay } of [one, two]) void underWay.follow(work(600_000));
  await clock.advance(2_000);
  giving.want([one]);
  await clock.advance(40_000);
  giving.want([two, one]);
  await clock.advance(10_000);
  giving.want([one, two]);
  await clock.advance(30_000);
  expect(given).toEqual([{ at: 62_000, names: ["two", "one"] }]);
});

test("nothing is given that is wanted no longer", async () => {
  const { clock, given, held, giving, work } = lab();
  const one = held("one");
  void one.underWay.follow(work(20_000));
  await clock.advance(2_000);
  giving.want([one]);
  giving.want([]);
  await clock.advance(120_000);
  expect(given).toEqual([]);
});
