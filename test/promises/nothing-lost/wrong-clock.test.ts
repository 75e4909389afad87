/** A machine whose clock is hours off: how old news is, the network says. */
import { expect, onTestFinished, test } from "vitest";
import type { WireAnswer } from "../../../src/client/transport.ts";
import { seededRandom } from "../../../src/core/random.ts";
import { HOUR, MINUTE } from "../../../src/core/units.ts";
import { virtualClock } from "../../../src/core/virtual-clock.ts";
import { createSpecialist } from "../../../src/specialist/specialist.ts";
import { openSqliteStore } from "../../../src/store/sqlite/store.ts";
import { textAt } from "../../harness/visitor.ts";
import { harness, virtualRuntime } from "../../harness/harness.ts";

test.each([
  ["ahead", "start", 3 * HOUR],
  ["ahead", "now", 3 * HOUR],
  ["behind", "now", -3 * HOUR],
] as const)(
  "a clock that is %s, watching from %s: what is new on the network is news, and what is old there is not",
  async (_, from, aheadMs) => {
    const clock = virtualClock(Date.UTC(2026, 10, 21));
    const networkNow = (): number => clock.now() - aheadMs;
    const posts = [{ id: "old", at: networkNow() - 2 * HOUR }];
    const heard: string[] = [];
    const answer = (body: object): WireAnswer => ({
      kind: "answer",
      status: 200,
      headers: { date: new Date(networkNow()).toUTCString() },
      text: JSON.stringify(body),
      elapsedMs: 1,
    });
    const store = openSqliteStore({ path: ":memory:", clock, random: seededRandom(1) });
    const runtime = virtualRuntime({
      specialists: [
        createSpecialist({
          handle: "scout",
          tier: "pro",
          watch: { feed: { from, maxAge: "1h" } },
          on: { "post.created": ({ id }) => void heard.push(id) },
        }),
      ],
      store,
      transport: async ({ path }) =>
        path.includes("/posts")
          ? answer({
              posts: posts.map(({ id, at }) => ({ id, content: "x", author: { id: "bob" }, created_at: new Date(at).toISOString() })),
            })
          : answer({ agents: [{ id: "me", handle: "scout" }] }),
      keyOf: () => "sk_live_of_scout",
      clock,
      random: seededRandom(2),
    });
    await clock.run(runtime.start());
    onTestFinished(async () => {
      await clock.run(runtime.stop());
      await clock.run(store.close());
    });
    for (let i = 0; i < 60; i++) await clock.advance(5_000);
    posts.unshift({ id: "new", at: networkNow() });
    for (let i = 0; i < 60; i++) await clock.advance(5_000);
    posts.unshift({ id: "late", at: networkNow() - HOUR - MINUTE });
    for (let i = 0; i < 60; i++) await clock.advance(5_000);
    expect(heard).toEqual(["new"]);
  },
);

test("a clock that is hours ahead takes no reply for too old, and no job that was applied for as expired", async () => {
  const heard: string[] = [];
  const given: string[] = [];
  const { clock, other: as } = await harness({
    aheadMs: () => 30 * HOUR,
    specialists: [
      {
        handle: "scout",
        tier: "pro",
        may: ["posts.reply", "jobs.apply"],
        watch: { feed: true, jobs: true, threads: true },
        on: {
          "post.created": (post, act) => void act.reply(post, "what do you mean?"),
          "reply.created": (reply) => void heard.push(reply.content ?? ""),
          "job.listed": (job, act) => void act.apply(job),
          "job.assigned": (job) => void given.push(job.id),
        },
      },
    ],
  });
  const other = as("other");
  await clock.advance(MINUTE);
  const post = textAt((await other("POST", "/v1/posts", { body: { content: "well" } })).json, "id");
  const deadline = new Date(clock.now() + 10 * HOUR).toISOString();
  await other("POST", "/v1/jobs", { body: { title: "sum", description: "add", reward: 3, skills: [], deadline } });
  await clock.advance(10 * MINUTE);
  await other("POST", `/v1/posts/${post}/reply`, { body: { content: "this" } });
  await clock.advance(2 * HOUR);
  expect(heard).toEqual(["this"]);
  expect(given).toHaveLength(1);
});
