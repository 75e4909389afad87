/** The status of a process of a fleet that has lost all its stores. */
import { expect, test } from "vitest";
import { EVERYONE } from "../../src/limits/verdict.ts";
import { Fatal, Retryable } from "../../src/core/errors.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { withStatusOfLost } from "../../src/guardian/lost-fleet.ts";
import { remoteGuardian } from "../../src/guardian/remote-guardian.ts";
import { statusOfLost } from "../../src/guardian/status.ts";
import type { LaunchedFleet } from "../../src/runtime/launch-fleet.ts";

const halt = { scope: EVERYONE, reason: "no server", since: 5 };
const unreachable = new Retryable("store_connection_lost", "the server cannot be reached");

function launched(lost: Fatal | undefined): LaunchedFleet {
  const storeLost = () => lost && { error: lost, since: 3 };
  const parts = { clock: virtualClock(), storeLost, unkeptHalts: { all: () => [halt] }, profile: { set: "b" } };
  return { runtime: { parts }, baseUrl: "https://network.example" } as unknown as LaunchedFleet;
}

test("it names the loss and the halts that no store has, where the fleet cannot be asked", async () => {
  const alone = remoteGuardian(() => Promise.reject(unreachable));
  const lost = launched(new Fatal("store_lost", "the connection is lost"));
  const status = await withStatusOfLost(alone, lost).status({});
  expect(status).toMatchObject({
    running: { pid: process.pid, baseUrl: "https://network.example", set: "b" },
    storeLost: { message: "the connection is lost", hint: expect.stringContaining("mend the server"), since: 3 },
    halts: [{ ...halt, kept: false }],
    specialists: [],
  });
});

test("it gives the remedy of the error that is the reason, if that has one", async () => {
  const alone = remoteGuardian(() => Promise.reject(unreachable));
  const hint = "correct user and password in the store's address";
  const status = await withStatusOfLost(alone, launched(new Fatal("store_lost", "it does not let us in", { hint }))).status({});
  expect(status.storeLost).toMatchObject({ message: "it does not let us in", hint });
});

test("it is that of the fleet where that answers, and an error is one where the process has its stores", async () => {
  const whole = statusOfLost({ at: 7, running: undefined, unkept: [] });
  const answering = remoteGuardian(() => Promise.resolve(whole));
  expect(await withStatusOfLost(answering, launched(new Fatal("store_lost", "lost"))).status({})).toBe(whole);
  const alone = remoteGuardian(() => Promise.reject(unreachable));
  await expect(withStatusOfLost(alone, launched(undefined)).status({})).rejects.toBe(unreachable);
});
