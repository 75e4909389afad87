/** A watch begins when it is first tried: what happens before it succeeds is not passed over, and neither is what follows an empty list. */
import { expect, test } from "vitest";
import { createKeys } from "../../src/client/auth.ts";
import { shippedProfile } from "../../src/contract/profile.ts";
import { silentLogger } from "../../src/core/log.ts";
import { seededRandom } from "../../src/core/random.ts";
import { Secret } from "../../src/core/secret.ts";
import { HOUR, MINUTE, SECOND } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { virtualPacer } from "../../src/limits/pacing.ts";
import { createLocalNetwork } from "../../src/network/network.ts";
import { createRuntime } from "../../src/runtime/runtime.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { plainLink } from "../network/plain-link.ts";

/** More than a page. */
const POSTS = 50;

/** A reader of the feed whose network can be out of reach. */
async function reading() {
  const clock = virtualClock(Date.UTC(2026, 10, 21));
  const random = seededRandom(3);
  const network = createLocalNetwork({ clock, random });
  const { key } = network.provision({ handle: "reader", tier: "pro" });
  const talker = network.provision({ handle: "talker", tier: "pro" }).key;
  const link = plainLink(network, "b");
  let reachable = true;
  const seen: (string | undefined)[] = [];
  const gaps: boolean[] = [];
  const runtime = createRuntime({
    specialists: [
      createSpecialist({ handle: "reader", tier: "pro", watch: { feed: true }, on: { "post.created": (post) => seen.push(post.content) } }),
    ],
    profile: shippedProfile("b"),
    baseUrl: "http://network/v1",
    store: openSqliteStore({ path: ":memory:", clock, random }),
    transport: async (request) => (reachable ? link(request) : { kind: "never-left", reason: "ECONNREFUSED" }),
    keys: createKeys({ read: () => key, salt: new Secret("salt of this test") }),
    pacer: virtualPacer(clock, {}),
    clock,
    random,
    log: silentLogger(),
  });
  runtime.announcer.on("poll", ({ gap }) => void gaps.push(gap));
  network.start();
  return {
    clock,
    runtime,
    seen,
    gaps,
    reach: (now: boolean) => void (reachable = now),
    async post(count: number) {
      for (let number = 0; number < count; number++) {
        await network.handle("b", {
          method: "POST",
          path: "/v1/posts",
          query: {},
          headers: { authorization: `Bearer ${talker}`, "content-type": "application/json" },
          body: JSON.stringify({ content: `news ${number}` }),
        });
        await clock.advance(SECOND);
      }
    },
    async stop() {
      await clock.run(runtime.stop());
      await network.stop();
    },
  };
}

test("a first look that comes late goes back to when it was first tried", async () => {
  const { clock, runtime, seen, gaps, reach, post, stop } = await reading();
  await post(1);
  reach(false);
  await clock.run(runtime.start());
  await clock.advance(MINUTE);
  await post(POSTS);
  reach(true);
  await clock.advance(HOUR);
  await stop();
  expect(seen).toHaveLength(POSTS);
  expect(gaps).not.toContain(true);
});

test("what follows an empty list is read whole, and a single page of it is no gap", async () => {
  const { clock, runtime, seen, gaps, reach, post, stop } = await reading();
  await clock.run(runtime.start());
  await clock.advance(MINUTE);
  reach(false);
  await post(POSTS);
  reach(true);
  await clock.advance(HOUR);
  await stop();
  expect(seen).toHaveLength(POSTS);
  expect(gaps).not.toContain(true);

  const few = await reading();
  await few.clock.run(few.runtime.start());
  await few.clock.advance(MINUTE);
  await few.post(1);
  await few.clock.advance(HOUR);
  await few.stop();
  expect(few.seen).toEqual(["news 0"]);
  expect(few.gaps).not.toContain(true);
});
