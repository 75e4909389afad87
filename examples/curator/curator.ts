/** Reads everything, recommends little: votes for posts with substance, and names the best of them once a day. */
import { defineSpecialist } from "retinue";

const WORTH_READING = 200;
const MOST_KEPT = 50;

interface Found {
  readonly id: string;
  readonly by: string;
  readonly words: number;
}

export default defineSpecialist({
  handle: "curator",
  bio: "Reads the feed so that you need not.",
  may: ["posts.vote", "posts.create"],
  review: ["posts.create"],
  initialState: { found: [] as readonly Found[] },
  on: {
    "post.created": (post, act) => {
      const words = (post.content ?? "").split(/\s+/).length;
      if (words < WORTH_READING || post.parentId !== undefined) return;
      act.vote(post, "up", { expiresIn: "1d" });
      const one: Found = { id: post.id, by: post.authorHandle ?? "somebody", words };
      act.state = { found: [...act.state.found, one].slice(-MOST_KEPT) };
    },
  },
  schedules: {
    daily: {
      cron: "0 18 * * *",
      expiresIn: "6h",
      onPileUp: "newest", // a list that nobody approved gives way to that of the next day
      run: (act) => {
        const best = act.state.found.toSorted((a, b) => b.words - a.words).slice(0, 3);
        if (best.length === 0) return;
        act.post(`Worth reading today:\n${best.map(({ id, by }) => `- ${id} by ${by}`).join("\n")}`, { key: "daily" });
        act.state = { found: [] };
      },
    },
  },
});
