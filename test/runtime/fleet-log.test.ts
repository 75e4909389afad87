/** The log of a fleet: each change is one line, however many stores the process has. */
import { expect, test } from "vitest";
import { Fatal, Misconfigured } from "../../src/core/errors.ts";
import { asHandle } from "../../src/core/ids.ts";
import { createLogger, type LogLine } from "../../src/core/log.ts";
import { SECOND } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { FleetLog } from "../../src/runtime/fleet-log.ts";
import { fleetProcess as process } from "../harness/fleet-process.ts";
import { memberOf } from "../harness/builders.ts";

function lab() {
  const clock = virtualClock(Date.UTC(2026, 10, 21));
  const lines: LogLine[] = [];
  const log = createLogger({ level: "info", now: () => clock.now(), sink: (line) => void lines.push(line) });
  return { clock, fleet: new FleetLog(log, clock), told: () => lines.splice(0).map(({ level, message }) => `${level}: ${message}`) };
}

test("who joins and leaves is one line each, with the number of processes", () => {
  const { fleet, told } = lab();
  fleet.members([process(1), process(2)], 2);
  expect(told()).toEqual(["info: joined the fleet as web:2: 2 processes share the store"]);
  fleet.members([process(1), process(2)], 2);
  expect(told()).toEqual([]);
  fleet.members([process(2), process(3)], 2);
  expect(told()).toEqual([
    "info: web:3 has joined: 2 processes share the store",
    "info: web:1 is gone, and was not seen to drain: 2 processes share the store",
  ]);
  fleet.members([process(2), { ...process(3), draining: true }], 2);
  fleet.members([process(2)], 2);
  expect(told()).toEqual(["info: web:3 has left: 1 process shares the store"]);
});

test("a process that has lost its shards to the others and lives is named once", () => {
  const { fleet, told } = lab();
  const having = (number: number, count: number) => ({ ...process(number), shards: Array.from({ length: count }, (_, i) => i) });
  fleet.bereft([having(1, 2), having(2, 2), having(3, 0)], 1); // the third has just joined
  fleet.bereft([having(1, 2), having(2, 2), having(3, 0)], 1);
  expect(told()).toEqual([]);
  fleet.bereft([having(1, 4), having(2, 0), having(3, 0)], 1);
  fleet.bereft([having(1, 4), having(2, 0), having(3, 0)], 1);
  expect(told()).toEqual([
    "warn: the others have taken the specialists of web:2, which is still there: it is stopped, cannot use the store, or lacks definitions",
  ]);
  fleet.bereft([having(1, 2), having(3, 2)], 1);
  fleet.bereft([having(1, 4), { ...having(3, 0), draining: true }], 1);
  expect(told()).toEqual([]);
});

test("a process that ran nothing for a while says so, and not for a moment", () => {
  const { fleet, told } = lab();
  fleet.woke(900);
  fleet.woke(13_400);
  expect(told()).toEqual(["warn: this process stood still for 13s"]);
});

test("specialists that came and went are counted, and a store that is made anew changes nothing", () => {
  const { fleet, told } = lab();
  const runtime = (...handles: readonly string[]) => ({ members: () => handles.map((handle) => memberOf({ handle: asHandle(handle) })) });
  fleet.specialists([runtime("a", "b"), runtime("c")]);
  expect(told()).toEqual(["info: this process took 3 specialists: it has 3 now"]);
  fleet.specialists([runtime("c", "a", "b")]);
  expect(told()).toEqual([]);
  fleet.specialists([runtime("a", "d")]);
  expect(told()).toEqual(["info: this process took 1 specialist: it has 2 now", "info: 2 specialists left this process: it has 2 now"]);
});

test("a store that cannot be used, and that can be used again, is one line each", async () => {
  const { clock, fleet, told } = lab();
  fleet.looked(undefined, false);
  const since = clock.now();
  fleet.failed(new Error("the connection ended"), true);
  await clock.advance(SECOND);
  fleet.looked(new Error("no connection"), true);
  expect(fleet.trouble).toMatchObject({ message: "no connection", since });
  await clock.advance(5 * SECOND);
  fleet.looked(undefined, false);
  fleet.looked(undefined, false);
  expect(told()).toEqual(["error: nothing is sent until the store can be used again", "info: the store can be used again"]);
  expect(fleet.trouble).toBeUndefined();
});

test("the remedy is that of the last reason, which may be the cause of a lost store", () => {
  const { fleet } = lab();
  const hint = "restore the schema from a backup, and restart all processes";
  const missing = new Misconfigured("store_missing", "the schema is gone", { hint });
  const lost = (cause: Error): Fatal => new Fatal("store_lost", "the connection is lost", { cause, hint: "this process starts again" });
  const hints = [missing, new Error("no connection"), lost(missing), lost(new Error("it ended"))].map((error) => {
    fleet.failed(error, true);
    return fleet.trouble?.hint;
  });
  expect(hints).toEqual([hint, undefined, hint, undefined]);
});

test("that nothing is sent is told once, though stores are opened and lost again meanwhile", () => {
  const { fleet, told } = lab();
  const error = new Error("the disk is full");
  for (const isAll of [false, true, false, true]) fleet.failed(error, isAll);
  expect(told()).toEqual([
    "error: for some specialists nothing is sent until the store can be used again",
    "error: nothing is sent until the store can be used again",
  ]);
});

test("a reason that somebody must remove is told also where another came first, once", () => {
  const { fleet, told } = lab();
  fleet.failed(new Error("the connection ended"), true);
  const missing = new Misconfigured("store_missing", "the server came back without the store");
  for (const error of [missing, new Error("no connection"), missing]) fleet.failed(error, true);
  expect(told()).toEqual([
    "error: nothing is sent until the store can be used again",
    "error: the store cannot be used until somebody acts",
  ]);
});

test("the same warning of several stores is one line; that of one store, or of another specialist, is not held back", async () => {
  const { clock, fleet, told } = lab();
  const [one, two] = [fleet.ofStore(), fleet.ofStore()];
  for (const log of [one, two]) log.error("the connection was lost", { code: "store_lost" });
  expect(told()).toEqual(["error: the connection was lost"]);
  for (const log of [one, one]) log.warn("everyone may write again");
  for (const [handle, log] of [["a", one] as const, ["b", two] as const]) log.child({ handle }).warn("its handler failed");
  expect(told()).toHaveLength(4);
  await clock.advance(5 * SECOND);
  two.warn("everyone may write again");
  expect(told()).toEqual(["warn: everyone may write again"]);
});
