/** Specialists that do everything a specialist can, so that a simulated run leaves no path of the runtime unused. */
import { credits, defineSpecialist, type SpecialistDefinition } from "retinue";
import type { Duration } from "../../src/core/units.ts";

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
    "follower.new": (agent, act) => void (act.state = { ...act.state, fan: agent.id }),
    "job.listed": (job, act) => void act.apply(job, { message: `I can do ${job.id}` }),
    "job.assigned": async (job, act) => {
      const seen = await act.read.job(job.id);
      const work = await act.step("work", () => ({ did: seen.title ?? "it", for: job.id }));
      act.submit(job, work);
    },
    "intent.refused": (receipt, act) => void (act.state = { ...act.state, refused: receipt.code ?? "" }),
  },
});

/** Reads more than its quota of an hour allows, and nearly that of a day, and does what may be done twice. Each handling of its visits is suspended at times. */
export const regular = defineSpecialist({
  handle: "regular",
  may: ["posts.create", "posts.reply", "communities.join", "communities.leave", "agents.update"],
  watch: { feed: { maxAge: "48h" }, communities: ["tools"] },
  schedules: {
    visit: {
      every: "30m",
      onMissed: "skip",
      run: async (act) => {
        const jobs = await act.read.jobs();
        const counted = await act.step("count", () => jobs.length);
        const posts = await act.read.posts({ limit: 5 });
        const read: string[] = [];
        for (const { id } of posts) read.push((await act.read.post(id)).id);
        act.state = { ...act.state, counted, read, at: act.now };
      },
    },
    home: {
      every: "1h",
      onMissed: { all: 2 },
      run: (act) => {
        // No use any more when it could not be done for a while, so it expires; but not while it may have been done.
        act.updateProfile({ bio: `here since ${act.now}` }, { expiresIn: "5m" });
        if (act.random() < 0.5) act.join("tools", { expiresIn: "5m" });
        else act.leave("tools", { expiresIn: "5m" });
      },
    },
    boast: {
      every: "6h",
      run: (act) => {
        // More than a network takes: refused, and with it what hangs on it.
        const boast = act.post("I ".repeat(act.random() < 0.5 ? 10_000 : 10) + String(act.now));
        const also = act.reply(boast, `as I said at ${act.now}`);
        act.reply(also, "and so on");
      },
    },
  },
});

export interface Appetite {
  /** Between two meals. */
  readonly every: Duration;
  /** Requests at a meal. */
  readonly reads: number;
}

/** Simulations begin on 5 January 2026. */
const LAST_MEAL = Date.UTC(2026, 0, 6);

/** Nothing but reads, and none of its quota kept for anything else: for hours on end it takes each request as soon as there is room. */
export const glutton = ({ every, reads }: Appetite) =>
  defineSpecialist({
    handle: "glutton",
    deadline: "1h",
    lanes: { watch: 100 },
    watch: { feed: false },
    schedules: {
      binge: {
        every,
        onMissed: "skip",
        run: async (act) => {
          // Two days of more than a day's quota holds would take weeks to digest: nothing would be seen to come to rest.
          if (act.now > LAST_MEAL) return;
          const posts = await act.read.posts({ limit: 20 });
          let missed = 0;
          // Five at once: three requests are always kept for reading back, so that only what comes in a burst shows an overdraft.
          for (let read = 1; read < reads && posts.length > 0; read += 5) {
            const bites = Array.from({ length: 5 }, (_, bite) => act.read.post(posts[(read + bite) % posts.length]?.id ?? ""));
            missed += (await Promise.allSettled(bites)).filter(({ status }) => status === "rejected").length;
          }
          act.state = { binged: act.now, missed };
        },
      },
    },
  });

export interface Offering {
  readonly every: Duration;
  /** Rewards are 1 credit to so many. */
  readonly dearest: number;
}

/** Offers paid jobs, only with its Guardian's leave. */
/** A definition as JavaScript writes it: its handlers may do what its `may` does not permit. */
const loosely = (definition: SpecialistDefinition): SpecialistDefinition => definition;

export const patron = ({ every, dearest }: Offering) =>
  loosely({
    handle: "patron",
    may: ["jobs.create", "posts.create", "posts.reply"],
    review: ["jobs.create"],
    spend: { perAction: credits(15), perDay: credits(40), perMonth: credits(900) },
    watch: { feed: { maxAge: "48h" } },
    schedules: {
      offer: {
        every,
        jitter: "20m",
        onMissed: { all: 3 },
        run: (act) =>
          void act.createJob({
            title: `offer ${act.now}`,
            description: "anything",
            reward: 1 + Math.floor(act.random() * dearest),
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
      "follower.new": (agent, act) => void (act.state = { fan: agent.id }),
      "post.created": (post, act) => {
        if (act.random() < 0.1) act.reply(post, `patron on ${post.id}`);
        if (act.random() < 0.05) act.vote(post); // it may not: refused before it is ever ready
      },
    },
  });
