/** The log says that specialists wait for their past, and when none does. */
import { expect, test } from "vitest";
import { silentLogger, type Logger } from "../../src/core/log.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { tellOfPast } from "../../src/runtime/tell-of-past.ts";

function lab() {
  const clock = virtualClock(0);
  const said: unknown[] = [];
  const log: Logger = { ...silentLogger(), info: (message, fields) => void said.push([message, fields]) };
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  return { clock, log, said, past: { missing: 212, decided: promise }, resolve, reject };
}

test("a past that takes a while is told of twice", async () => {
  const { clock, log, said, past, resolve } = lab();
  const told = tellOfPast(past, clock, log);
  await clock.advance(30_000);
  resolve();
  await clock.run(told);
  expect(said).toEqual([
    ["the past of specialists is still being read from the server: each begins once its own is here", { shards: 212 }],
    ["all specialists of these shards can begin", { after: "30s" }],
  ]);
});

test("one that comes soon, is there already, or never comes, is not", async () => {
  const soon = lab();
  const told = tellOfPast(soon.past, soon.clock, soon.log);
  soon.resolve();
  await soon.clock.run(told);
  await soon.clock.advance(10_000);
  await tellOfPast({ missing: 0, decided: undefined }, soon.clock, soon.log);
  expect(soon.said).toEqual([]);
  const closed = lab();
  const ended = tellOfPast(closed.past, closed.clock, closed.log);
  await closed.clock.advance(10_000);
  closed.reject();
  await closed.clock.run(ended);
  expect(closed.said).toHaveLength(1);
});
