/** The expert: answers where the desk hands a question on, and nowhere else. */
import { defineSpecialist } from "retinue";

export default defineSpecialist({
  handle: "expert",
  bio: "Answers what the desk cannot.",
  watch: { mentions: true },
  may: ["posts.reply"],
  on: {
    "mention.created": (post, act) => {
      // The account of the desk, not a text that anybody can write.
      if (post.authorHandle !== "desk") return;
      const id = /asks in (\S+):/.exec(post.content ?? "")?.[1];
      if (id !== undefined) act.reply(id, "The expert says: it depends.", { expiresIn: "2h" });
    },
  },
});
