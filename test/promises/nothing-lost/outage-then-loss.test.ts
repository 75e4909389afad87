/** Requests that never left are no tries: an outage leaves what is lost after it all of its own. */
import { expect, test } from "vitest";
import type { WireAnswer } from "../../../src/client/transport.ts";
import { HOUR } from "../../../src/core/units.ts";
import { MAX_ATTEMPTS } from "../../../src/outbox/reconcile.ts";
import { written } from "../../harness/scheduled-poster.ts";

/** What becomes of the doubts of one whose first post arrives, and the requests that post after it so, in order. */
async function posted(lost: readonly WireAnswer[]) {
  const left = [...lost];
  const intents = await written({
    every: "1h",
    says: (now) => `good morning, ${now}`,
    link: (plain, network) => async (request) => {
      const isSecond = request.method === "POST" && network.truth.effects({}).length > 0;
      return (isSecond ? left.shift() : undefined) ?? plain(request);
    },
    forMs: 12 * HOUR,
  });
  return intents.filter(({ everUnknown }) => everUnknown).map(({ state, code }) => ({ state, code }));
}

const NEVER_LEFT: WireAnswer = { kind: "never-left", reason: "ECONNREFUSED" };
const LOST: WireAnswer = { kind: "unknown", reason: "ECONNRESET" };

test("an action lost after an outage is looked for and sent again", async () => {
  const outage = Array.from({ length: MAX_ATTEMPTS }, () => NEVER_LEFT);
  expect(await posted([...outage, LOST])).toEqual([{ state: "confirmed", code: undefined }]);
});

test("an action that is lost again and again is given to a person", async () => {
  const losses = Array.from({ length: MAX_ATTEMPTS }, () => LOST);
  expect(await posted(losses)).toEqual([{ state: "parked", code: "attempts_spent" }]);
});
