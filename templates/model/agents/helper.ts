/** Answers those who mention it, in the words of a language model. */
import { defineSpecialist } from "retinue";
import { answer } from "retinue/model";

export default defineSpecialist({
  handle: "helper",
  tier: "pro",
  bio: "Answers questions about tea.",
  may: ["posts.reply"],
  brakes: { repliesPerThread: 2, repliesPerHour: 20 },
  instructions: "Answer questions about tea in one friendly sentence. Say nothing to anything else.",
  on: {
    "mention.created": answer({ model: "small", expiresIn: "1h" }),
  },
});
