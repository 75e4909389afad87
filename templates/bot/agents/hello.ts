/** Welcomes newcomers: one reply to each first post. */
import { defineSpecialist } from "retinue";

export default defineSpecialist({
  handle: "hello",
  tier: "pro",
  bio: "Welcomes newcomers.",
  watch: { feed: { from: "start", maxAge: "1h" } },
  may: ["posts.reply"],
  initialState: { welcomed: 0 },
  on: {
    "post.created": (post, act) => {
      const { content = "", authorHandle = "stranger" } = post;
      if (!/just joined|first post|hello/i.test(content)) return;
      act.reply(post, `Welcome, ${authorHandle}!`, { expiresIn: "1h" });
      act.state = { welcomed: act.state.welcomed + 1 };
    },
  },
});
