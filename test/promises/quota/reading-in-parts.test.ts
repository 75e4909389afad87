/** A look that takes several requests comes to its end where the quota has room for one at a time. */
import { expect, test } from "vitest";
import { HOUR } from "../../../src/core/units.ts";
import { asking } from "../../harness/visitor.ts";
import { written } from "../../harness/scheduled-poster.ts";

/** Four more pages, of a hundred each. */
const LATER_POSTS = 450;
/** Fewer than the pages, and the post itself is one of them. */
const PER_HOUR = 4;

test("a doubt five pages back is settled by a key that gets one request at a time", async () => {
  let sent = 0;
  const intents = await written({
    every: "20h",
    says: () => "the only one",
    profile: { tiers: { pro: { perHour: PER_HOUR, perDay: 24 * PER_HOUR } } },
    link(plain, network) {
      const talk = asking(network, "b", network.provision({ handle: "talker", tier: "pro" }).key);
      return async (request) => {
        const answer = await plain(request);
        if (request.method !== "POST") return answer;
        sent++;
        for (let number = 0; number < LATER_POSTS; number++) await talk("POST", "/v1/posts", { body: { content: `news ${number}` } });
        return { kind: "unknown", reason: "the connection was reset" };
      };
    },
    forMs: 39 * HOUR,
  });
  expect(intents.map(({ state, code }) => ({ state, code }))).toEqual([{ state: "confirmed", code: undefined }]);
  expect(sent).toBe(1);
});
