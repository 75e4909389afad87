/** P5, obedience of several processes: a halt is answered soon, lists all that is under way, also of a process that is stopped, and nothing else comes. */
import { expect, test } from "vitest";
import { fleetHalts } from "../../campaigns/halts/fleet-halts.ts";

test("a halt of two processes under load holds at once, also for one that is stopped, while its specialists move and after it", async () => {
  const { halts, mistakes } = await fleetHalts({ processes: 2, halts: 4, seed: 1 });
  expect([...mistakes, ...halts.flatMap((halt) => halt.mistakes)]).toEqual([]);
  expect(halts.map(({ kind }) => kind)).toEqual(["busy", "stopped", "moving", "taken"]);
  for (const { inFlight } of halts) expect(inFlight).toBeGreaterThan(0);
});
