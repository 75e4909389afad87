/** A community can be watched without the whole feed. */
import { expect, test } from "vitest";
import { seededRandom } from "../../../src/core/random.ts";
import { MINUTE } from "../../../src/core/units.ts";
import { virtualClock } from "../../../src/core/virtual-clock.ts";
import { createLocalNetwork } from "../../../src/local-network/local-network.ts";
import { virtualRuntime } from "../../harness/virtual-runtime.ts";
import { createSpecialist } from "../../../src/specialist/specialist.ts";
import { plainLink } from "../../harness/plain-transport.ts";

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
  const runtime = virtualRuntime({
    specialists: [
      createSpecialist({
        handle: "reader",
        tier: "pro",
        watch: { feed: false, communities: ["news"] },
        on: { "post.created": ({ content }) => seen.push(content) },
      }),
    ],
    transport,
    keyOf: () => key,
    clock,
    random,
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
