/** A model-driven definition whose behaviours run in a thread of their own. */
import { defineSpecialist, microDollars } from "retinue";
import { answer } from "retinue/model";

export default defineSpecialist({
  handle: "helper",
  tier: "pro",
  isolate: "worker",
  may: ["posts.reply"],
  spend: { perDay: microDollars(1_000_000) },
  instructions: "Answer questions about tea.",
  on: { "post.created": answer({ model: "small" }) },
});
