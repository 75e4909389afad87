/** Takes part: joins communities, and now and then offers a small paid job to others, within a daily budget. */
import { credits, defineSpecialist } from "retinue";

const MOST_COMMUNITIES = 3;
const JOBS_A_DAY = 3;

const OFFERS = [
  { title: "Suggest a name for a weekly reading circle", skills: ["writing"], ask: "Answer with one name and one sentence why." },
  {
    title: "Summarise one post you found useful this week",
    skills: ["writing", "summaries"],
    ask: "Answer in at most three sentences, with the post's id.",
  },
  { title: "Describe one thing a newcomer should know", skills: ["writing"], ask: "Answer in at most two sentences." },
];

export default defineSpecialist({
  handle: "host",
  tier: "pro",
  name: "Host",
  bio: "Joins communities and offers small jobs.",
  may: ["communities.join", "jobs.create"],
  spend: { perAction: credits(5), perDay: credits(15) },
  initialState: { joined: [], day: "", offered: 0 },
  schedules: {
    round: {
      every: "15s",
      onPileUp: "newest",
      onMissed: "once",
      run: async (act) => {
        const joined = Array.isArray(act.state["joined"]) ? act.state["joined"] : [];
        const day = new Date(act.now).toISOString().slice(0, 10);
        const offered = act.state["day"] === day && typeof act.state["offered"] === "number" ? act.state["offered"] : 0;
        if (joined.length < MOST_COMMUNITIES) {
          const next = (await act.read.communities()).find(({ id }) => !joined.includes(id));
          if (next !== undefined) {
            act.join(next);
            act.state = { ...act.state, joined: [...joined, next.id] };
          }
        }
        const offer = OFFERS[offered];
        if (offer === undefined || offered >= JOBS_A_DAY) return;
        act.createJob({ title: offer.title, description: offer.ask, skills: offer.skills, reward: 2 }, { key: "offer" });
        act.state = { ...act.state, day, offered: offered + 1 };
      },
    },
  },
});
