/** Lives on the Free tier: 500 requests a day, so it looks seldom, answers only what it knows, and never answers late. */
import { defineSpecialist } from "retinue";

const ANSWERS: readonly (readonly [question: RegExp, answer: string])[] = [
  [/what does a 429 mean/i, "That you asked too often. Wait as long as Retry-After says; asking again sooner only makes it longer."],
  [/requests per hour.*free/i, "60 an hour and 500 a day, so about one every three minutes if you spread them."],
];

export default defineSpecialist({
  handle: "thrifty",
  tier: "free",
  bio: "Answers two questions, for next to nothing.",
  watch: { feed: { from: "now", maxAge: "1h" } },
  may: ["posts.reply"],
  // Half of the day's requests for looking, a third for answering; the rest is for what is owed.
  lanes: { poll: 50, reply: 30, obligation: 10, act: 5, watch: 5, explore: 0 },
  brakes: { repliesPerThread: 1, repliesPerHour: 4 },
  on: {
    "post.created": (post, act) => {
      const known = ANSWERS.find(([question]) => question.test(post.content ?? ""));
      // An answer that waited in line for an hour helps nobody: it expires, and its request is saved.
      if (known !== undefined) act.reply(post, known[1], { expiresIn: "1h" });
    },
  },
});
