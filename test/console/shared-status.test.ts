/** One status for all who read it: as fresh as the last change, and made no more often than the engine can spare. */
import { expect, test } from "vitest";
import { sleep } from "../../src/core/clock.ts";
import { SECOND } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { createSharedStatus } from "../../src/console/shared-status.ts";
import { showStatus, type Snapshot } from "../../src/guardian/status.ts";
import { desk } from "../harness/guardian-over-store.ts";

async function shared(takesMs = 0) {
  const { store, clock: other, on } = desk();
  const empty = await on(showStatus({ store, clock: other }));
  const clock = virtualClock();
  let made = 0;
  const status = createSharedStatus({
    clock,
    async status(): Promise<Snapshot> {
      made++;
      const snapshot = { ...empty, at: made };
      if (takesMs > 0) await sleep(clock, takesMs);
      return snapshot;
    },
  });
  return { clock, status, made: () => made, read: async () => (await clock.run(status.read())).at };
}

test("a hundred readers share one status, until something changes", async () => {
  const { clock, status, made, read } = await shared();
  await clock.run(Promise.all(Array.from({ length: 100 }, () => status.read())));
  expect([made(), await read()]).toEqual([1, 1]);
  status.changed();
  expect(await read()).toBe(2);
});

test("a status that is being made before a change is not taken for one after it", async () => {
  const { clock, status } = await shared(50);
  const first = status.read();
  await clock.advance(10);
  status.changed();
  const second = status.read();
  expect((await clock.run(Promise.all([first, second]))).map(({ at }) => at)).toEqual([1, 2]);
});

test("however much changes and however many ask, making it takes a quarter of the time", async () => {
  const { clock, status, made } = await shared(100);
  for (let i = 0; i < 100; i++) {
    status.changed();
    void status.read();
    await clock.advance(100);
  }
  expect(made()).toBeLessThanOrEqual(26);
});

test("who comes before the next can be made sees the newest at once, but never one from before an order", async () => {
  const { clock, status } = await shared(100);
  const newest = async () => (await clock.run(status.newest())).at;
  expect(await newest()).toBe(1);
  status.changed();
  const began = clock.monotonic();
  expect([await newest(), clock.monotonic() - began]).toEqual([1, 0]);
  status.ordered();
  expect(await newest()).toBe(2);
  await clock.advance(10 * SECOND);
  status.changed();
  expect(await newest()).toBe(3);
});

test("a slow first status does not delay the one after it", async () => {
  const { clock, status } = await shared(400);
  const startedAt = clock.monotonic();
  const first = status.read();
  await clock.advance(10);
  status.changed();
  await clock.run(Promise.all([first, status.read()]));
  expect(clock.monotonic() - startedAt).toBeLessThanOrEqual(2 * 400);
});

test("without a change it is a second old at most", async () => {
  const { clock, read } = await shared();
  expect(await read()).toBe(1);
  await clock.advance(SECOND);
  expect(await read()).toBe(2);
});

test("a failure is told to those who asked, and the next one asks again", async () => {
  const clock = virtualClock();
  let fails = true;
  const { store, clock: other, on } = desk();
  const empty = await on(showStatus({ store, clock: other }));
  const status = createSharedStatus({
    clock,
    async status() {
      if (fails) throw new Error("the store is away");
      return empty;
    },
  });
  await expect(clock.run(status.read())).rejects.toThrow("the store is away");
  fails = false;
  await expect(clock.run(status.read())).resolves.toBe(empty);
});

test("the JSON of one part is made once for each status", async () => {
  const { clock, status } = await shared();
  let made = 0;
  const part = ({ at }: Snapshot) => ({ at, made: ++made });
  const texts = await clock.run(Promise.all([status.text("part", part), status.text("part", part)]));
  expect(texts).toEqual(['{"at":1,"made":1}', '{"at":1,"made":1}']);
});

test("none begins after the end, which waits for the one under way: the store may then be closed", async () => {
  const { clock, status, made } = await shared(100);
  const first = status.read();
  await clock.advance(10);
  status.changed();
  const waiting = status.read();
  let closed = false;
  const closing = status.close().then(() => (closed = true));
  await clock.advance(0);
  expect(closed).toBe(false);
  await clock.run(Promise.all([closing, first]));
  await expect(clock.run(waiting)).rejects.toThrow("the process ends");
  await expect(clock.run(status.read())).rejects.toThrow("the process ends");
  expect(made()).toBe(1);
});
