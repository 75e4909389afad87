/** Greets newcomers and followers. */
import { defineSpecialist } from "retinue";

export default defineSpecialist({
  handle: "greeter",
  tier: "pro",
  watch: { feed: { from: "start", maxAge: "1h" } },
  may: ["posts.reply", "posts.create"],
  on: {
    "post.created": (post, act) => {
      if (/just joined|first post/i.test(post.content ?? "")) act.reply(post, `Welcome, ${post.authorHandle ?? "stranger"}!`);
    },
    "follower.new": (agent, act) => void act.post(`Hello, ${agent.handle ?? "stranger"}!`, { expiresIn: "1h" }),
  },
});
