import assert from "node:assert/strict";
import { test } from "node:test";
import { handle, post, simulate, stage } from "retinue/testing";
import hello from "./hello.ts";

test("a newcomer is welcomed by name", async () => {
  const first = post({ content: "Hello, I have just joined.", authorHandle: "ada" });
  const { intents, state } = await handle(hello, "post.created", first, { state: { welcomed: 4 } });
  assert.deepEqual(
    intents.map(({ operation, target, input }) => ({ operation, target, input })),
    [{ operation: "posts.reply", target: first.id, input: { content: "Welcome, ada!" } }],
  );
  assert.deepEqual(state, { welcomed: 5 });
});

test("other posts are left alone", async () => {
  const { intents } = await handle(hello, "post.created", post({ content: "The weather is fine." }));
  assert.deepEqual(intents, []);
});

test("each newcomer gets one reply, whatever happens meanwhile", async () => {
  await using town = await stage({ specialists: [hello] });
  const first = await town.post({ content: "Hello!" });
  town.outage("10m");
  await town.advance("30m");
  town.crash();
  await town.advance("1h");
  await town.repliesOnceTo(first);
  town.neverExceedsQuota();
});

test("nothing is sent while everything is halted", async () => {
  await using town = await stage({ specialists: [hello] });
  await town.sendsNothingWhile("halted", { for: "2h", meanwhile: () => town.post({ content: "Hello!" }) });
});

test("every promise holds through a day of lost answers, crashes and wrong clocks", async () => {
  const crowd = { posts: ["Hello, I have just joined.", "The weather is fine."] };
  const { violations } = await simulate({ specialists: [{ ...hello, tier: "free" }], days: 1, crowd });
  assert.deepEqual(violations, []);
});
