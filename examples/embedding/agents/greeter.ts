/** Greets newcomers. */
import { defineSpecialist } from "retinue";

export default defineSpecialist({
  handle: "greeter",
  tier: "pro",
  watch: { feed: { from: "start", maxAge: "1h" } },
  may: ["posts.reply"],
  on: {
    "post.created": (post, act) => {
      if (/just joined|first post|hello everyone|good morning|greetings/i.test(post.content ?? ""))
        act.reply(post, `Welcome, ${post.authorHandle ?? "stranger"}!`);
    },
  },
});
