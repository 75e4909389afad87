/** The moment at which shards are given: none while a handler takes long, at once among short ones, and not later than after a minute. */
import { expect, test } from "vitest";
import { UnderWay } from "../../src/core/under-way.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { Giving } from "../../src/runtime/giving.ts";

function lab() {
  const clock = virtualClock();
  const given: { readonly at: number; readonly names: readonly string[] }[] = [];
  const began = clock.monotonic();
  const held = (name: string) => ({ name, handlers: new UnderWay(clock), requests: new UnderWay(clock) });
  const giving = new Giving<ReturnType<typeof held>>(clock, (all) =>
    given.push({ at: clock.monotonic() - began, names: all.map(({ name }) => name) }),
  );
  const work = (ms: number): Promise<void> => new Promise((resolve) => void clock.after(ms, resolve));
  return { clock, given, held, giving, work };
}

test("a store with thousands of short handlers is given at once, and one with a slow one when that is over", async () => {
  const { clock, given, held, giving, work } = lab();
  const [busy, slow] = [held("busy"), held("slow")];
  for (let n = 0; n < 2_000; n++) void busy.handlers.follow(work(n % 900));
  void slow.handlers.follow(work(20_000));
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
  for (const { handlers } of [one, two]) void handlers.follow(work(600_000));
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
  void one.handlers.follow(work(20_000));
  await clock.advance(2_000);
  giving.want([one]);
  giving.want([]);
  await clock.advance(120_000);
  expect(given).toEqual([]);
});

test("a request that a network takes its time for holds nothing up, and one that hangs does", async () => {
  const { clock, given, held, giving, work } = lab();
  const [usual, hanging] = [held("usual"), held("hanging")];
  void usual.requests.follow(work(4_000));
  void hanging.requests.follow(work(30_000));
  await clock.advance(3_000);
  giving.want([usual]);
  await clock.advance(3_000);
  giving.want([hanging]);
  await clock.advance(30_000);
  expect(given).toEqual([
    { at: 3_000, names: ["usual"] },
    { at: 30_000, names: ["hanging"] },
  ]);
});
