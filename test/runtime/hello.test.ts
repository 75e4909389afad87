/** Processes that lost shards are asked if they work; those that are gone need not be. */
import { expect, test } from "vitest";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { hearSilent } from "../../src/runtime/hello.ts";
import { SilentProcesses } from "../../src/runtime/silent-processes.ts";
import type { FleetProcess } from "../../src/store/postgres/fleet-view.ts";
import { fleetProcess as process } from "../harness/fleet-process.ts";

test("one that is gone is heard, one that answers too, and one that is silent is asked again", async () => {
  const silent = new SilentProcesses(virtualClock(), [1, 2, 3], 9);
  const asked: number[] = [];
  const ask = async ({ number }: FleetProcess): Promise<string> => {
    asked.push(number);
    if (number === 2) throw new Error("silent");
    return "here";
  };
  for (let look = 0; look < 2; look++) {
    hearSilent({ ask }, [process(2), process(3)], silent);
    await Promise.resolve();
    await Promise.resolve();
  }
  expect([asked, silent.numbers]).toEqual([[2, 3, 2], [2]]);
});
