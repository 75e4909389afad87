/** The status of a fleet says which processes there are, what each has, and which did not answer. */
import { expect, test } from "vitest";
import { Retryable } from "../../src/core/errors.ts";
import type { GuardianPart } from "../../src/guardian/guardian-part.ts";
import { statusOfFleet } from "../../src/guardian/fleet-status.ts";
import { remoteGuardian } from "../../src/guardian/remote-guardian.ts";
import type { Snapshot } from "../../src/guardian/status.ts";
import type { FleetProcess } from "../../src/store/postgres/fleet-view.ts";
import { NO_PROCESS } from "../../src/store/postgres/placements.ts";
import { asHandle, type Handle } from "../../src/core/ids.ts";
import { fleetProcess } from "../harness/fleet-process.ts";
import { desk } from "../harness/guardian-over-store.ts";

const process = (number: number): FleetProcess => ({ ...fleetProcess(number), startedAt: number * 1_000, shards: [number] });

/** A part that runs these specialists. */
async function partOf(name: string, ...handles: readonly string[]): Promise<GuardianPart> {
  const { guardian, on, event } = desk();
  for (const handle of handles) await event("e", { specialist: asHandle(handle) });
  const status = await on(guardian.status({}));
  const running: Snapshot = { ...status, specialists: status.specialists.map((one) => ({ ...one, tier: "pro" })) };
  return { name, guardian: { ...guardian, status: () => Promise.resolve(running) } };
}

const silentPart = (name: string): GuardianPart => ({
  name,
  guardian: remoteGuardian(() => Promise.reject(new Retryable("process_silent", `${name} does not answer`))),
});

const handles = async (): Promise<ReadonlyMap<number, readonly Handle[]>> =>
  new Map([
    [1, [asHandle("a"), asHandle("b")]],
    [2, [asHandle("c"), asHandle("d")]],
  ]);

const hello = async (idle: readonly FleetProcess[]): Promise<ReadonlyMap<number, { readonly answers: boolean }>> =>
  new Map(idle.map(({ number }) => [number, { answers: number !== 4 }]));

test("each process has its name, its start and its number of specialists, whatever number of stores it has", async () => {
  const parts = [await partOf("web:1", "a"), await partOf("web:1", "b"), await partOf("web:2", "c")];
  const status = await statusOfFleet(parts, async () => ({ processes: [process(1), process(2), process(3)], free: [], handles, hello }));
  expect(status.processes).toEqual([
    { name: "web:1", version: "0.1.0", since: 1_000, specialists: 2 },
    { name: "web:2", version: "0.1.0", since: 2_000, specialists: 1 },
    { name: "web:3", version: "0.1.0", since: 3_000, specialists: 0 },
  ]);
  expect(status.specialists.map((one) => [one.handle, one.process])).toEqual([
    ["a", "web:1"],
    ["b", "web:1"],
    ["c", "web:2"],
  ]);
  expect(status.unseen).toBeUndefined();
});

test("a process that does not answer is named once, with its specialists", async () => {
  const parts = [await partOf("web:1", "a", "b"), silentPart("web:2")];
  const status = await statusOfFleet(parts, async () => ({ processes: [process(1), process(2)], free: [], handles, hello }));
  expect(status.unseen).toBe("web:2 does not answer; it has 2 specialists: c, d");
  expect(status.unseenHandles).toEqual(["c", "d"]);
  expect(status.processes?.[1]).toMatchObject({ specialists: 2, silent: { handles: ["c", "d"] } });
  await expect(
    statusOfFleet([silentPart("web:2")], async () => ({ processes: [process(2)], free: [], handles, hello })),
  ).rejects.toMatchObject({
    message: "no process answers: web:2 does not answer",
  });
});

test("a process that has nothing and does not answer is named too", async () => {
  const idle = [3, 4].map((number) => ({ ...process(number), shards: [] }));
  const parts = [await partOf("web:1", "a")];
  const status = await statusOfFleet(parts, async () => ({ processes: [process(1), ...idle], free: [], handles, hello }));
  expect(status.unseen).toBe("web:4 does not answer; it has no specialist");
  expect(status.processes?.map(({ silent }) => silent?.handles)).toEqual([undefined, undefined, []]);
  const nobody = new Retryable("nobody_at_work", "nobody has a store");
  await expect(
    statusOfFleet(
      [],
      async () => ({ processes: idle, free: [], handles, hello }),
      () => nobody,
    ),
  ).rejects.toBe(nobody); // one of them answers
});

test("specialists of shards that no process has are named", async () => {
  const here = async (): Promise<ReadonlyMap<number, readonly Handle[]>> => new Map([[NO_PROCESS, [asHandle("lost"), asHandle("found")]]]);
  const status = await statusOfFleet([await partOf("web:1", "a")], async () => ({
    processes: [process(1)],
    free: [7, 8],
    handles: here,
    hello,
  }));
  expect(status.unseenHandles).toEqual(["lost", "found"]);
  expect(status.unseen).toBe("no process has 2 specialists: lost, found, so nothing is done for them; retinue fleet shows the processes");
  const { unseen } = await statusOfFleet([await partOf("web:1", "a")], async () => ({
    processes: [process(1)],
    free: [7, 8],
    handles: here,
    hello: async () => new Map([[1, { answers: true, trouble: "the password is refused" }]]),
  }));
  expect(unseen).toBe(
    "no process has 2 specialists: lost, found, so nothing is done for them; web:1 cannot open their store: the password is refused",
  );
});
