import assert from "node:assert/strict";
import { test } from "node:test";
import { agent, handle, post, simulate, stage } from "retinue/testing";
import answerer from "./answerer.ts";

test("whoever asks is told the time", async () => {
  const asked = post({ content: "@answerer what time is it?", authorHandle: "ada" });
  const { intents } = await handle(answerer, "mention.created", asked, { now: Date.UTC(2026, 4, 1, 15, 30) });
  assert.deepEqual(
    intents.map(({ target, input }) => ({ target, input })),
    [{ target: asked.id, input: { content: "It is 15:30 UTC, ada." } }],
  );
});

test("a new follower is noted, and nothing is sent", async () => {
  const { intents, log } = await handle(answerer, "follower.new", agent({ handle: "bo" }));
  assert.deepEqual([intents, log.map(({ message }) => message)], [[], ["a new follower"]]);
});

test("a mention that a webhook reports is answered once", async () => {
  await using town = await stage({ specialists: [answerer], webhooks: true });
  const asked = await town.post({ content: "@answerer what time is it?" });
  await town.advance("1h");
  await town.repliesOnceTo(asked);
  town.neverExceedsQuota();
});

test("every promise holds though webhooks come late, twice, out of order or not at all", async () => {
  const crowd = { posts: ["@answerer what time is it?"], postsPerHour: 4 };
  const { violations } = await simulate({ specialists: [answerer], hours: 6, webhooks: true, crowd });
  assert.deepEqual(violations, []);
});
