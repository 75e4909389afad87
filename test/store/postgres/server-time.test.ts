/** The server's clock as a process estimates it: right within the time of a look, and never back for a small error. */
import { expect, test } from "vitest";
import { HOUR, SECOND } from "../../../src/core/units.ts";
import { virtualClock } from "../../../src/core/virtual-clock.ts";
import { ServerTime } from "../../../src/store/postgres/server-time.ts";

const T0 = Date.UTC(2026, 10, 24);

/** A machine whose clock is `aheadMs` ahead of the server's. */
function machine(aheadMs: number) {
  const server = virtualClock(T0);
  let suspendedMs = 0;
  const monotonic = (): number => server.monotonic() - suspendedMs;
  const time = new ServerTime({ ...server, monotonic, now: () => server.now() + aheadMs });
  /** Asks the server, whose answer comes back in `backMs`. */
  const look = async (thereMs: number, backMs: number, errorMs = 0): Promise<void> => {
    const askedAt = monotonic();
    await server.advance(thereMs);
    const shown = server.now() + errorMs;
    await server.advance(backMs);
    time.note(shown, askedAt);
  };
  /** The server's time passes, and the machine's does not. */
  const suspend = async (ms: number): Promise<void> => {
    suspendedMs += ms;
    await server.advance(ms);
  };
  return { server, time, look, suspend };
}

test.each([HOUR, -HOUR])("a machine whose clock is %i ms ahead has the server's time", async (aheadMs) => {
  const { server, time, look } = machine(aheadMs);
  expect(time.clock.now()).toBe(server.now() + aheadMs);
  await look(4, 4);
  expect(time.clock.now()).toBe(server.now());
  expect(time.aheadMs).toBe(aheadMs);
  await server.advance(HOUR);
  expect(time.clock.now()).toBe(server.now());
});

test("a look that took long does not replace a better one, and any look replaces an old one", async () => {
  const { server, time, look } = machine(0);
  await look(1, 1);
  await look(2 * SECOND, 0); // the loop was busy as the answer came
  expect(time.clock.now()).toBe(server.now());
  await server.advance(HOUR);
  await look(200, 0);
  expect(time.clock.now() - server.now()).toBe(100);
});

test("a machine that was suspended has the server's time after its next look, however long that takes", async () => {
  const { server, time, look, suspend } = machine(0);
  await look(1, 1);
  await suspend(HOUR);
  await look(300, 300);
  expect(Math.abs(time.clock.now() - server.now())).toBeLessThanOrEqual(300);
});

test("a server's clock that was set is followed at the next look, however long that takes", async () => {
  const { server, time, look } = machine(0);
  await look(1, 1);
  for (const errorMs of [HOUR, -HOUR]) {
    await look(300, 300, errorMs);
    expect(Math.abs(time.clock.now() - server.now() - errorMs)).toBeLessThanOrEqual(300);
  }
});

test("the time stands still rather than go back a little, and follows a server's clock that was set back", async () => {
  const { server, time, look } = machine(0);
  await look(0, 0);
  const before = time.clock.now();
  await look(0, 0, -SECOND);
  expect(time.clock.now()).toBe(before);
  await server.advance(3 * SECOND);
  expect(time.clock.now()).toBe(server.now() - SECOND);
  await look(0, 0, -HOUR);
  expect(time.clock.now()).toBe(server.now() - HOUR);
});

test("dates are whole milliseconds, as the columns of the server are", async () => {
  const { time, look } = machine(0.4);
  await look(1.25, 0.5);
  expect(Number.isInteger(time.clock.now())).toBe(true);
});
