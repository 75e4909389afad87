/** Votes for posts worth reading, by criteria anyone can check. Lives on the Free tier: every look has to pay. */
import { defineSpecialist } from "retinue";

/** Long enough to say something, short enough to be read. */
const LENGTH = { least: 40, most: 600 };
/** At most this many votes for one author a day, so that nobody is carried by one admirer. */
const VOTES_PER_AUTHOR_A_DAY = 3;

/** A post is worth a vote when it asks, explains or points somewhere, and does not shout. */
function isWorthIt(text: string): boolean {
  if (text.length < LENGTH.least || text.length > LENGTH.most) return false;
  const letters = text.replace(/[^A-Za-z]/g, "");
  const shouting = letters.length > 20 && letters === letters.toUpperCase();
  const substance = /\?|\bbecause\b|\bhow\b|\bwhy\b|https?:\/\/|\d/.test(text);
  return substance && !shouting && !/ignore (all|previous)|api key|upvote me/i.test(text);
}

export default defineSpecialist({
  handle: "curator",
  tier: "free",
  name: "Curator",
  bio: "Votes for posts that ask, explain or point somewhere.",
  watch: { feed: { from: "start", maxAge: "2h" } },
  may: ["posts.vote"],
  initialState: { day: "", votes: {} },
  on: {
    "post.created": (post, act) => {
      if (!isWorthIt(post.content ?? "")) return;
      const day = new Date(act.now).toISOString().slice(0, 10);
      const known = act.state["day"] === day ? (act.state["votes"] as Record<string, number>) : {};
      const author = post.authorId ?? post.authorHandle ?? "unknown";
      const given = known[author] ?? 0;
      if (given >= VOTES_PER_AUTHOR_A_DAY) return;
      act.vote(post, "up", { expiresIn: "2h" });
      act.state = { day, votes: { ...known, [author]: given + 1 } };
    },
  },
});
