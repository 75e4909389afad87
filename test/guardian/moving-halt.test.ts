/** A halt while specialists change hands: what nobody answers for is listed beside what the processes list, each request once. */
import { expect, test } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { Retryable } from "../../src/core/errors.ts";
import type { GuardianPart } from "../../src/guardian/guardian-part.ts";
import type { Guardian } from "../../src/guardian/guardian.ts";
import type { HaltResult } from "../../src/guardian/halt-and-pause.ts";
import { nobodyAtWork } from "../../src/guardian/join-guardians.ts";
import { movingGuardian, type MovingOptions } from "../../src/guardian/moving-guardian.ts";
import { remoteGuardian } from "../../src/guardian/remote-guardian.ts";

const write = (id: string, handle = "scout"): HaltResult["inFlight"][number] => ({
  id,
  handle,
  operation: "posts.reply",
  startedAt: 1,
  deadlineAt: 2,
});

/** Over processes that list these requests. */
function over(
  lists: readonly HaltResult["inFlight"][],
  moving: MovingOptions["moving"],
  others: readonly GuardianPart[] = [],
): { readonly whole: Guardian; readonly asked: string[] } {
  const asked: string[] = [];
  const parts = () =>
    Promise.resolve([
      ...others,
      ...lists.map((inFlight, i) => ({
        name: `web-${i}`,
        guardian: remoteGuardian((name) => {
          asked.push(`web-${i}: ${name}`);
          return Promise.resolve({ message: "halted: no specialist writes", inFlight });
        }),
      })),
    ]);
  const whole = movingGuardian({
    parts,
    reachable: parts,
    seen: () => Promise.reject(new Error("nobody asks")),
    clock: systemClock(),
    whyNobody: nobodyAtWork,
    isKnown: () => Promise.resolve(true),
    keep: () => Promise.resolve({}),
    moving,
  });
  return { whole, asked };
}

test("requests of specialists that move are listed too, each once, and of one specialist alone if the halt is its own", async () => {
  const moving = () => Promise.resolve([write("act_1"), write("act_3"), write("act_4", "scribe")]);
  const { whole } = over([[write("act_1")], [write("act_2")]], moving);
  const ids = async (handle?: string) => (await whole.halt(handle === undefined ? {} : { handle })).inFlight.map(({ id }) => id);
  expect(await ids()).toEqual(["act_1", "act_2", "act_3", "act_4"]);
  expect(await ids("scout")).toEqual(["act_1", "act_2", "act_3"]);
});

test("a process that has not confirmed it is named beside them", async () => {
  const silent = remoteGuardian(() => Promise.reject(new Retryable("process_silent", "no answer")));
  const { whole } = over([[write("act_1")]], () => Promise.resolve([write("act_2")]), [{ name: "web-9", guardian: silent }]);
  expect(await whole.halt({})).toMatchObject({
    message: "not every process has confirmed it; halted: no specialist writes",
    inFlight: [write("act_1"), write("act_2")],
    incomplete: { message: "web-9: no answer" },
  });
});

test("where nobody is at work they are listed alone", async () => {
  const { whole } = over([], () => Promise.resolve([write("act_1")]));
  expect(await whole.halt({})).toMatchObject({ message: expect.stringContaining("everyone is halted"), inFlight: [write("act_1")] });
});

test("if they cannot be read, the halt holds all the same, and says so", async () => {
  const { whole, asked } = over([[write("act_1")], []], () => Promise.reject(new Retryable("store_connection_lost", "the server is gone")));
  expect(await whole.halt({})).toEqual({
    message: "halted: no specialist writes; requests of specialists that change hands are not listed: the server is gone",
    inFlight: [write("act_1")],
  });
  expect(asked).toEqual(["web-0: halt", "web-1: halt"]);
});
