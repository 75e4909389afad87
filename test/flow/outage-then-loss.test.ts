/** Requests that never left are no tries: an outage leaves what is lost after it all of its own. */
import { expect, test } from "vitest";
import type { WireAnswer } from "../../src/client/transport.ts";
import { asHandle } from "../../src/core/ids.ts";
import { seededRandom } from "../../src/core/random.ts";
import { HOUR } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { createLocalNetwork } from "../../src/network/network.ts";
import { MAX_ATTEMPTS } from "../../src/outbox/reconcile.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { plainLink } from "../network/plain-link.ts";
import { virtualRuntime } from "../runtime/virtual-runtime.ts";

/** What becomes of the requests that post, in order; those after them arrive. */
async function posted(lost: readonly WireAnswer[]) {
  const clock = virtualClock(Date.UTC(2026, 10, 21));
  const random = seededRandom(3);
  const network = createLocalNetwork({ clock, random });
  const { key } = network.provision({ handle: "writer", tier: "pro" });
  const link = plainLink(network, "b");
  const left = [...lost];
  const store = openSqliteStore({ path: ":memory:", clock, random });
  const runtime = virtualRuntime({
    specialists: [
      createSpecialist({
        handle: "writer",
        tier: "pro",
        watch: { feed: false, threads: false, mentions: false },
        may: ["posts.create"],
        schedules: {
          before: { every: "1h", run: (act) => void act.post(`good morning, ${act.now}`) },
        },
      }),
    ],
    store,
    transport: async (request) => {
      const isSecond = request.method === "POST" && network.truth.effects({}).length > 0;
      return (isSecond ? left.shift() : undefined) ?? link(request);
    },
    keyOf: () => key,
    clock,
    random,
  });
  network.start();
  await clock.run(runtime.start());
  await clock.advance(12 * HOUR);
  const intents = await store.intents({ specialist: asHandle("writer"), limit: 100 });
  await clock.run(runtime.stop());
  await network.stop();
  return intents.filter(({ everUnknown }) => everUnknown).map(({ state, code }) => ({ state, code }));
}

const NEVER_LEFT: WireAnswer = { kind: "never-left", reason: "ECONNREFUSED" };
const LOST: WireAnswer = { kind: "unknown", reason: "ECONNRESET" };

test("what is lost after an outage is looked for and sent again", async () => {
  const outage = Array.from({ length: MAX_ATTEMPTS }, () => NEVER_LEFT);
  expect(await posted([...outage, LOST])).toEqual([{ state: "confirmed", code: undefined }]);
});

test("what is lost again and again is given to a person", async () => {
  const losses = Array.from({ length: MAX_ATTEMPTS }, () => LOST);
  expect(await posted(losses)).toEqual([{ state: "parked", code: "attempts_spent" }]);
});
