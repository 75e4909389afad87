import assert from "node:assert/strict";
import { test } from "node:test";
import { simulate } from "retinue/testing";
import answerer from "./answerer.ts";

test("answerer answers each mention once, though webhooks come late, twice and out of order", async () => {
  const { violations, tally } = await simulate({
    specialists: [answerer],
    hours: 6,
    webhooks: true,
    crowd: { posts: ["@answerer what time is it?"], postsPerHour: 4 },
  });
  assert.deepEqual(violations, []);
  assert.ok((tally.intents["posts.reply confirmed"] ?? 0) > 0);
});
