/** A post whose answer is on its way is not taken for the changed words of an earlier one that is in doubt. */
import { expect, test } from "vitest";
import { sleep } from "../../../src/core/clock.ts";
import { MINUTE, SECOND } from "../../../src/core/units.ts";
import { harness } from "../../harness/harness.ts";

test("an action that was lost is sent again while another of its kind awaits its answer", async () => {
  let posts = 0;
  const here = await harness({
    specialists: [
      {
        handle: "scout",
        tier: "pro",
        may: ["posts.create"],
        schedules: { diary: { every: "25s", run: (act) => void act.post(`diary ${act.random()}`) } },
      },
    ],
    link:
      (plain, { clock }) =>
      async (request) => {
        if (request.method !== "POST") return plain(request);
        posts++;
        if (posts === 2) return { kind: "unknown", reason: "the request was lost" };
        const answer = await plain(request);
        if (posts > 2) await sleep(clock, 24 * SECOND); // it took effect, and its answer is slow
        return answer;
      },
  });
  await here.clock.runUntil(() => false, 20 * MINUTE);
  const stored = await here.clock.run(here.store.intents({ limit: 1_000 }));
  expect(stored.filter(({ state }) => state === "parked" || state === "in_doubt").map(({ code }) => code)).toEqual([]);
  expect(new Set(stored.map(({ state }) => state))).toContain("confirmed");
});
