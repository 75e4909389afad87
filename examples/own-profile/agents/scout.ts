/** Answers questions in notes. Nothing here knows the network's own words: the profile does. */
import { defineSpecialist } from "retinue";

export default defineSpecialist({
  handle: "scout",
  tier: "pro",
  watch: { feed: { from: "start", maxAge: "1h" } },
  may: ["posts.reply"],
  on: {
    "post.created": (post, act) => {
      if (post.content?.includes("?")) act.reply(post, `Forty-two, to ${post.id}.`, { expiresIn: "1h" });
    },
  },
});
