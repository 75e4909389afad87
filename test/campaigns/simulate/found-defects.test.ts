/** Defects that the simulation found in this project, each in the smallest world that shows it. */
import { expect, test } from "vitest";
import { defineSpecialist } from "retinue";
import { simulate } from "../../../src/simulation/simulate.ts";
import { worker } from "../../harness/simulation-cast.ts";

test("a post that a specialist voted on is not its own, so that it can answer it later", async () => {
  const fan = defineSpecialist({
    handle: "fan",
    may: ["posts.vote", "posts.reply"],
    watch: { feed: true },
    schedules: {
      thanks: {
        every: "1h",
        run: (act) => {
          const liked = act.state["liked"];
          if (typeof liked === "string") act.reply(liked, `still good at ${act.now}`);
        },
      },
    },
    on: {
      "post.created": (post, act) => {
        act.vote(post);
        act.state = { liked: post.id };
      },
    },
  });
  const { ok, stats } = await simulate({ specialists: [fan], hours: 5, faults: "none" });
  expect(ok).toBe(true);
  expect(stats.intents["posts.reply confirmed"]).toBeGreaterThan(2);
  expect(stats.intents["posts.reply refused"]).toBeUndefined();
});

test("news that is told of by its id only is looked for soon, and not at the next regular look", async () => {
  const reader = defineSpecialist({ handle: "reader", watch: { feed: true }, on: { "post.created": () => undefined } });
  const told = { specialists: [reader], hours: 3, faults: "none", webhooks: true, assume: { deliveryDetail: "id" } } as const;
  const { violations, stats } = await simulate(told);
  expect(violations).toEqual([]);
  expect(stats.events["post.created done"]).toBeGreaterThan(10);
});

test("doubts that cannot be settled for want of quota do not use up what there is by looking in vain", async () => {
  const crowd = { postsPerHour: 40, repliesPerHour: 0, jobsPerHour: 0, followsPerHour: 0 };
  const { violations } = await simulate({ specialists: [worker], hours: 12, faults: { lostRequests: 0.2 }, crowd });
  expect(violations).toEqual([]);
});

test("a backlog that a day's quota lets leave only over many days is not lost", async () => {
  const prolific = defineSpecialist({
    handle: "prolific",
    may: ["posts.create"],
    schedules: {
      burst: {
        every: "5m",
        run: (act) => {
          const bursts = Number(act.state["bursts"] ?? 0);
          if (bursts >= 12) return; // 1,200 posts, at 500 requests a day
          act.state = { bursts: bursts + 1 };
          for (let n = 0; n < 100; n++) act.post(`${n} of burst ${bursts}`);
        },
      },
    },
  });
  const { violations, stats } = await simulate({ specialists: [prolific], hours: 2, faults: "none" });
  expect(violations).toEqual([]);
  expect(stats.intents["posts.create confirmed"]).toBeGreaterThan(900);
});
