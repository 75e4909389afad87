/** A community can be watched without the whole feed. */
import { expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { MINUTE } from "../../../src/core/units.ts";
import { harness } from "../../harness/harness.ts";

test("posts in a watched community are events, also where the feed is not watched", async () => {
  const seen: (string | undefined)[] = [];
  const { clock, other } = await harness({
    specialists: [
      {
        handle: "reader",
        tier: "pro",
        watch: { feed: false, communities: ["news"] },
        on: { "post.created": ({ content }) => seen.push(content) },
      },
    ],
  });
  const post = (body: JsonObject) => other("talker")("POST", "/v1/posts", { body });
  await clock.advance(MINUTE);
  await post({ content: "for all" });
  await post({ content: "for the community", community: "news" });
  await clock.advance(10 * MINUTE);
  expect(seen).toEqual(["for the community"]);
});
