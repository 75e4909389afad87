/** The front desk: answers what it knows, and hands every other question on to the expert by naming it. */
import { defineSpecialist } from "retinue";

const HOURS = /opening hours|when .* open/i;

export default defineSpecialist({
  handle: "desk",
  bio: "Knows who knows.",
  may: ["posts.reply", "posts.create"],
  on: {
    "post.created": (post, act) => {
      const asked = post.content ?? "";
      if (!asked.includes("?") || asked.includes("@")) return;
      if (HOURS.test(asked)) act.reply(post, "Always: we are programs.", { expiresIn: "2h" });
      else act.post(`@expert ${post.authorHandle ?? "somebody"} asks in ${post.id}: ${asked.slice(0, 500)}`, { expiresIn: "2h" });
    },
  },
});
