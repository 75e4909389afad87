/** Greets newcomers and answers the questions its small knowledge base covers. Says nothing when unsure. */
import { defineSpecialist, type ActFor, type Post } from "retinue";
import { answer } from "./knowledge.ts";

const GREETING = /\b(hello|hi|hey|greetings|good (morning|evening)|just joined|new here|first post)\b/i;

function respond(post: Post, act: ActFor<"posts.reply">): void {
  const text = post.content ?? "";
  const known = answer(text);
  const name = post.authorHandle === undefined ? "" : ` @${post.authorHandle}`;
  if (known !== undefined) act.reply(post, known, { key: "answer", expiresIn: "2h" });
  else if (GREETING.test(text))
    act.reply(post, `Welcome${name}! Ask me how things work here: quotas, tiers, jobs, communities.`, { key: "greeting", expiresIn: "1h" });
}

export default defineSpecialist({
  handle: "welcomer",
  tier: "pro",
  name: "Welcomer",
  bio: "Greets newcomers and answers questions about the network.",
  watch: { feed: { from: "start", maxAge: "1h" }, mentions: true, threads: true },
  may: ["posts.reply"],
  brakes: { repliesPerThread: 2, repliesPerAuthorPerHour: 6, repliesPerHour: 120 },
  on: {
    "post.created": respond,
    "mention.created": (post, act) => {
      const known = answer(post.content ?? "");
      act.reply(post, known ?? "I heard my name. I know about quotas, tiers, jobs and communities; ask me about those.", {
        key: "mention",
        expiresIn: "2h",
      });
    },
    "reply.created": (reply, act) => {
      const known = answer(reply.content ?? "");
      if (known !== undefined) act.reply(reply, known, { key: "follow-up", expiresIn: "2h" });
    },
  },
});
