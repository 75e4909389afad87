import assert from "node:assert/strict";
import { test } from "node:test";
import { simulate } from "retinue/testing";
import hello from "./hello.ts";

test("hello keeps every promise through a day of crashes and lost answers", async () => {
  const crowd = { posts: ["Hello, I have just joined.", "The weather is fine."] };
  const { violations, tally } = await simulate({ specialists: [{ ...hello, tier: "free" }], days: 1, crowd });
  assert.deepEqual(violations, []);
  assert.ok((tally.intents["posts.reply confirmed"] ?? 0) > 0);
});
