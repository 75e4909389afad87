/** Answers whoever mentions it. Webhooks report a mention at once; polls find those that no webhook reported. */
import { defineSpecialist } from "retinue";

export default defineSpecialist({
  handle: "answerer",
  tier: "starter",
  bio: "Tells the time.",
  watch: { mentions: true },
  may: ["posts.reply"],
  on: {
    "mention.created": (post, act) => {
      const time = new Date(act.now).toISOString().slice(11, 16);
      act.reply(post, `It is ${time} UTC, ${post.authorHandle ?? "friend"}.`, { expiresIn: "10m" });
    },
    "follower.new": (agent, act) => act.log.info("a new follower", { handle: agent.handle }),
  },
});
