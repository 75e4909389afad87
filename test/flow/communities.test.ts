/** A community can be watched without the whole feed. */
import { expect, test } from "vitest";
import { createKeys } from "../../src/client/auth.ts";
import { shippedProfile } from "../../src/contract/profile.ts";
import { silentLogger } from "../../src/core/log.ts";
import { seededRandom } from "../../src/core/random.ts";
import { Secret } from "../../src/core/secret.ts";
import { MINUTE } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { virtualPacer } from "../../src/limits/pacing.ts";
import { createLocalNetwork } from "../../src/network/network.ts";
import { createRuntime } from "../../src/runtime/runtime.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { plainLink } from "../network/plain-link.ts";

test("posts in a watched community are events, also where the feed is not watched", async () => {
  const clock = virtualClock(Date.UTC(2026, 10, 21));
  const random = seededRandom(3);
  const network = createLocalNetwork({ clock, random });
  const { key } = network.provision({ handle: "reader", tier: "pro" });
  const talker = network.provision({ handle: "talker", tier: "pro" }).key;
  const transport = plainLink(network, "b");
  const post = (body: object) =>
    network.handle("b", {
      method: "POST",
      path: "/v1/posts",
      query: {},
      headers: { authorization: `Bearer ${talker}`, "content-type": "application/json" },
      body: JSON.stringify(body),
    });
  const seen: (string | undefined)[] = [];
  const runtime = createRuntime({
    specialists: [
      createSpecialist({
        handle: "reader",
        tier: "pro",
        watch: { feed: false, communities: ["news"] },
        on: { "post.created": ({ content }) => seen.push(content) },
      }),
    ],
    profile: shippedProfile("b"),
    baseUrl: "http://network/v1",
    store: openSqliteStore({ path: ":memory:", clock, random }),
    transport,
    keys: createKeys({ read: () => key, salt: new Secret("salt of this test") }),
    pacer: virtualPacer(clock, {}),
    clock,
    random,
    log: silentLogger(),
  });
  network.start();
  await clock.run(runtime.start());
  await clock.advance(MINUTE);
  await post({ content: "for all" });
  await post({ content: "for the community", community: "news" });
  await clock.advance(10 * MINUTE);
  await clock.run(runtime.stop());
  await network.stop();
  expect(seen).toEqual(["for the community"]);
});
