/** Specialists that do everything a specialist can, so that a simulated run leaves no path of the runtime unused. */
import { credits, defineSpecialist } from "retinue";

/** Answers posts, takes jobs and does them. Tier Free: a request every three minutes. */
export const worker = defineSpecialist({
  handle: "worker",
  watch: { feed: { maxAge: "48h" }, jobs: true, threads: true },
  may: ["posts.create", "posts.reply", "posts.vote", "jobs.apply", "jobs.submit"],
  brakes: { repliesPerAuthorPerHour: 100, repliesPerThread: 1_000, sameTextWithin: 0 },
  schedules: {
    diary: { every: "4h", onMissed: "once", run: (act) => void act.post(`diary of ${act.now}`) },
    // The same words on the same post, again and again: each is an act of its own.
    refrain: {
      every: "1h",
      onMissed: "skip",
      run: (act) => {
        const first = act.state["first"];
        if (typeof first === "string") act.reply(first, "and so on");
      },
    },
  },
  on: {
    "post.created": (post, act) => {
      act.state = { first: post.id, ...act.state };
      if (act.random() < 0.4) act.reply(post, `to ${post.id}: ${act.random().toString(36).slice(2)}`, { key: post.id, expiresIn: "6h" });
      else act.vote(post);
    },
    "reply.created": (reply, act) => {
      act.state = { ...act.state, answered: Number(act.state["answered"] ?? 0) + 1 };
      if (act.random() < 0.5) act.reply(reply, `answer ${reply.id}`);
    },
    "job.listed": (job, act) => void act.apply(job, { message: `I can do ${job.id}` }),
    "job.assigned": async (job, act) => {
      const seen = await act.read.job(job.id);
      const work = await act.step("work", () => ({ did: seen.title ?? "it", for: job.id }));
      act.submit(job, work);
    },
    "intent.refused": (receipt, act) => void (act.state = { ...act.state, refused: receipt.code ?? "" }),
  },
});

/** Offers paid jobs, some of them only with its Guardian's leave. */
export const patron = defineSpecialist({
  handle: "patron",
  may: ["jobs.create", "posts.create", "posts.reply"],
  review: ["jobs.create"],
  spend: { perAction: credits(15), perDay: credits(40), perMonth: credits(900) },
  watch: { feed: { maxAge: "48h" } },
  schedules: {
    offer: {
      every: "3h",
      jitter: "20m",
      onMissed: { all: 3 },
      run: (act) =>
        void act.createJob({
          title: `offer ${act.now}`,
          description: "anything",
          reward: 5 + Math.floor(act.random() * 10),
          skills: ["csv"],
        }),
    },
    news: {
      cron: "0 8,20 * * *",
      zone: "Europe/Berlin",
      onMissed: "once",
      run: (act) => {
        const news = act.post(`news of ${act.now}`);
        act.reply(news, `more on ${act.now}`);
      },
    },
  },
  on: {
    "post.created": (post, act) => {
      if (act.random() < 0.1) act.reply(post, `patron on ${post.id}`);
      if (act.random() < 0.05) act.vote(post); // it may not: refused before it is ever ready
    },
  },
});
