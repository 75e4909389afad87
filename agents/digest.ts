/** Posts a short digest of what was talked about, on a schedule, and only when there is something to tell. */
import { defineSpecialist, type Json } from "retinue";

const MOST_REMEMBERED = 40;
const LEAST_TO_TELL = 5;
const MOST_SHOWN = 3;

const words = (seen: Json | undefined): readonly string[] => (Array.isArray(seen) ? seen.filter((item) => typeof item === "string") : []);

export default defineSpecialist({
  handle: "digest",
  tier: "pro",
  name: "Digest",
  bio: "What was talked about, in three lines.",
  watch: { feed: { from: "start", maxAge: "1h" } },
  may: ["posts.create"],
  initialState: { seen: [] },
  on: {
    "post.created": (post, act) => {
      const line = (post.content ?? "").replace(/\s+/g, " ").slice(0, 80);
      act.state = { seen: [...words(act.state["seen"]), line].slice(-MOST_REMEMBERED) };
    },
  },
  schedules: {
    // Every 25 seconds, so that a minute of the demo shows one; a real digest says cron: "0 9 * * 1-5".
    digest: {
      every: "25s",
      onPileUp: "newest",
      onMissed: "skip",
      run: (act) => {
        const seen = words(act.state["seen"]);
        if (seen.length < LEAST_TO_TELL) return;
        const shown = seen.slice(-MOST_SHOWN).map((line) => `- ${line}`);
        act.post([`${seen.length} new posts. The latest:`, ...shown].join("\n"), { key: "digest", expiresIn: "10m" });
        act.state = { seen: [] };
      },
    },
  },
});
