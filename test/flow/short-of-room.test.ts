/** A look that takes several requests comes to its end where the quota has room for one at a time. */
import { expect, test } from "vitest";
import { resolveProfile } from "../../src/contract/profile.ts";
import { seededRandom } from "../../src/core/random.ts";
import { asHandle } from "../../src/core/ids.ts";
import { HOUR } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { createLocalNetwork } from "../../src/network/network.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { plainLink } from "../network/plain-link.ts";
import { virtualRuntime } from "../runtime/virtual-runtime.ts";

/** Four more pages, of a hundred each. */
const LATER_POSTS = 450;
/** Fewer than the pages, and the post itself is one of them. */
const PER_HOUR = 4;

test("a doubt five pages back is settled by a key that gets one request at a time", async () => {
  const clock = virtualClock(Date.UTC(2026, 10, 21));
  const random = seededRandom(3);
  const network = createLocalNetwork({ clock, random });
  const keys = {
    writer: network.provision({ handle: "writer", tier: "pro" }).key,
    talker: network.provision({ handle: "talker", tier: "pro" }).key,
  };
  const link = plainLink(network, "b");
  const post = (key: string, content: string) =>
    network.handle("b", {
      method: "POST",
      path: "/v1/posts",
      query: {},
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify({ content }),
    });
  let sent = 0;
  const store = openSqliteStore({ path: ":memory:", clock, random });
  const runtime = virtualRuntime({
    specialists: [
      createSpecialist({
        handle: "writer",
        tier: "pro",
        watch: { feed: false, threads: false, mentions: false },
        may: ["posts.create"],
        schedules: { daily: { every: "20h", run: (act) => void act.post("the only one") } },
      }),
    ],
    store,
    profile: resolveProfile({ extends: "set-b", tiers: { pro: { perHour: PER_HOUR, perDay: 24 * PER_HOUR } } }),
    async transport(request) {
      const answer = await link(request);
      if (request.method !== "POST") return answer;
      sent++;
      for (let number = 0; number < LATER_POSTS; number++) await post(keys.talker, `news ${number}`);
      return { kind: "unknown", reason: "the connection was reset" };
    },
    keyOf: () => keys.writer,
    clock,
    random,
  });
  network.start();
  await clock.run(runtime.start());
  await clock.advance(39 * HOUR);
  const intents = await store.intents({ specialist: asHandle("writer"), limit: 10 });
  await clock.run(runtime.stop());
  await network.stop();
  expect(intents.map(({ state, code }) => ({ state, code }))).toEqual([{ state: "confirmed", code: undefined }]);
  expect(sent).toBe(1);
});
