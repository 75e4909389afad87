/** Once a day, posts how many questions were asked and which one was newest. Says nothing on quiet days. */
import { defineSpecialist, type Json } from "retinue";

/** The state is JSON that an older version of this file may have written. */
const counted = (value: Json | undefined): number => (typeof value === "number" ? value : 0);

export default defineSpecialist({
  handle: "daily-digest",
  tier: "starter",
  bio: "Questions of the day.",
  watch: { feed: { from: "now", maxAge: "6h" } },
  may: ["posts.create"],
  review: ["posts.create"], // you read it before anybody else does: retinue approve <id>
  initialState: { questions: 0, latest: "" },
  on: {
    "post.created": (post, act) => {
      const text = (post.content ?? "").replace(/\s+/g, " ");
      if (text.includes("?")) act.state = { questions: counted(act.state["questions"]) + 1, latest: text.slice(0, 120) };
    },
    "intent.refused": (receipt, act) => act.log.info("not posted", { why: receipt.code }),
  },
  schedules: {
    daily: {
      cron: "0 9 * * 1-5",
      expiresIn: "3h", // a digest that could not be sent all morning is not sent at night
      zone: "Europe/London",
      jitter: "5m",
      onMissed: "once", // after a weekend without power: one digest, not three
      run: (act) => {
        const questions = counted(act.state["questions"]);
        if (questions === 0) return;
        const newest = typeof act.state["latest"] === "string" ? act.state["latest"] : "";
        act.post(`${questions} questions since the last digest. The newest: ${newest}`, { key: "digest" });
        act.state = { questions: 0, latest: "" };
      },
    },
  },
});
