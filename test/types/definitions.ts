/** What the compiler says of definitions: each line below `@ts-expect-error` is a mistake that it has to see. */
import { answer as asked } from "retinue/model";
import { defineSpecialist, type ActFor, type IntentRef, type Job, type Post, type SpecialistDefinition } from "retinue";

declare module "retinue" {
  interface ExtraOperations {
    "posts.pin": true;
  }
}

type Same<A, B> = (<T>() => T extends A ? 1 : 2) extends <T>() => T extends B ? 1 : 2 ? true : false;
const same = <A, B>(..._proof: Same<A, B> extends true ? [] : [never]): void => undefined;

interface Findings {
  readonly found: readonly { readonly id: number; readonly note?: string }[];
  readonly total: number;
}
declare const findings: Findings;
declare const job: Job;
declare const post: Post;

export const actions = defineSpecialist({
  handle: "actions",
  may: ["posts.reply", "posts.pin"],
  review: ["posts.reply"],
  on: {
    "post.created": (created, act) => {
      same<typeof created, Post>();
      act.reply(created, "yes");
      act.reply(created.id, "by its id");
      act.reply({ id: created.id }, "by an object with its id");
      act.perform("posts.pin", { target: created });
      // @ts-expect-error `may` has no posts.create
      act.post("no");
      // @ts-expect-error nor jobs.apply
      act.apply(job);
      // @ts-expect-error nor is it permitted by name
      act.perform("posts.create", { input: { content: "no" } });
      // @ts-expect-error a job is no post
      act.reply(job, "no");
      // @ts-expect-error an object without an id is none
      act.reply({ name: "no" }, "no");
    },
    "post.liked": (_like, act) => {
      const own = act.perform("posts.pin", { target: post });
      act.reply(own, "an action by name may create anything");
      act.reply(act.reply(post, "one"), "an answer to one's own answer");
    },
    "job.assigned": (assigned, act) => {
      same<typeof assigned, Job>();
      // @ts-expect-error a job is no post
      act.reply(assigned, "no");
    },
    // @ts-expect-error there is no such event
    "post.made": () => undefined,
    "x:contest": ({ id }) => void id,
  },
});

export const misspelt = defineSpecialist({
  handle: "misspelt",
  // @ts-expect-error a word that is no operation
  may: ["post.reply"],
  // @ts-expect-error a tier that there is not
  tier: "gold",
  // @ts-expect-error a watch that there is not
  watch: { feeds: true },
});

export const reads = defineSpecialist({
  handle: "reads",
  // @ts-expect-error a read needs no permission
  may: ["posts.list"],
});

export const reviewed = defineSpecialist({
  handle: "reviewed",
  may: ["posts.reply"],
  // @ts-expect-error an operation that is not in `may` never happens, so nobody is asked
  review: ["posts.create"],
});

export const silent = defineSpecialist({
  handle: "silent",
  on: {
    "post.created": async (_post, act) => {
      await act.read.post("post_1");
      // @ts-expect-error without `may` there is no action
      act.reply("post_1", "no");
    },
  },
});

export const state = defineSpecialist({
  handle: "state",
  may: ["posts.create"],
  initialState: { welcomed: 0, names: ["ada"], seen: [], last: null },
  on: {
    "post.created": ({ id }, act) => {
      act.state = { ...act.state, welcomed: act.state.welcomed + 1, seen: [...act.state.seen, id], last: id };
      act.state.welcomed += 1;
      same<(typeof act.state)["names"], string[]>();
      // @ts-expect-error it is a number
      act.state.welcomed = "one";
      // @ts-expect-error there is no such member
      act.state = { ...act.state, welcmoed: 2 };
      // @ts-expect-error a member is missing
      act.state = { welcomed: 1 };
    },
  },
  schedules: {
    daily: {
      cron: "0 9 * * *",
      run: (act) => {
        act.post(`${act.state.welcomed} so far`);
        // @ts-expect-error nor in a schedule
        act.reply("post_1", "no");
      },
    },
  },
});

interface Memory {
  readonly count: number;
  readonly last: string | null;
}

export const stated = defineSpecialist({
  handle: "stated",
  initialState: { count: 0, last: null } as Memory,
  on: { "post.created": ({ id }, act) => void (act.state = { count: act.state.count + 1, last: id }) },
});

export const dated = defineSpecialist({
  handle: "dated",
  // @ts-expect-error JSON keeps no date
  initialState: { since: new Date(0) },
});

export const json = defineSpecialist({
  handle: "json",
  may: ["jobs.submit"],
  on: {
    "job.assigned": async (assigned, act) => {
      const done = await act.step("work", () => findings);
      same<typeof done, Findings>();
      act.submit(assigned, done);
      act.submit(assigned, { sum: 6, parts: [1, 2, 3] });
      const text = await act.step("text", async () => "text");
      same<typeof text, string>();
      // @ts-expect-error JSON keeps no date
      await act.step("date", () => new Date(0));
      // @ts-expect-error nor a function inside
      await act.step("function", () => ({ run: () => 1 }));
      // @ts-expect-error nor nothing
      await act.step("nothing", () => undefined);
      // @ts-expect-error nor a map in a deliverable
      act.submit(assigned, { names: new Map<string, string>() });
      // @ts-expect-error a post is no job
      act.submit(post, {});
      // @ts-expect-error nor is a job read as a post
      await act.read.post(assigned);
    },
  },
});

/** A helper states the actions that it needs. */
function answer(act: ActFor<"posts.reply">, to: Post): void {
  act.reply(to, "yes");
  // @ts-expect-error this one is not among them
  act.post("no");
}

export const helped = defineSpecialist({
  handle: "helped",
  may: ["posts.reply", "posts.vote"],
  initialState: { count: 0 },
  on: { "post.created": (created, act) => answer(act, created) },
});

/** Code that makes definitions of a list it does not know yet has all actions. */
export function loose(may: readonly string[]): SpecialistDefinition {
  return { handle: "loose", may, on: { "post.created": (created, act) => void act.reply(created, act.post("yes").intent) } };
}

export const created = defineSpecialist({
  handle: "created",
  may: ["jobs.create", "jobs.apply", "posts.create", "posts.reply", "posts.vote"],
  on: {
    "mention.created": (mention, act) => {
      const offer = act.createJob({ title: "a title", description: "a text" });
      act.apply(offer);
      act.reply(act.post("a post"), "and more");
      // @ts-expect-error a job that is to be created is no post
      act.reply(offer, "no");
      // @ts-expect-error a post that is to be created is no job
      act.apply(act.post("a post"));
      // @ts-expect-error a vote creates nothing
      act.reply(act.vote(mention), "no");
      const known: IntentRef = offer;
      void known;
    },
  },
});

export const modelDriven = defineSpecialist({
  handle: "model-driven",
  may: ["posts.reply"],
  on: {
    "post.created": asked({ model: "small", instructions: "Be brief." }),
    "job.assigned": asked({ model: "small", data: (assigned: Job, act) => act.read.job(assigned) }),
    // @ts-expect-error text of the network is no instruction
    "reply.created": (created) => asked({ model: "small", instructions: created.content ?? "" }),
    // @ts-expect-error nor is it one in the object that a handler builds
    "mention.created": (created) => asked({ model: "small", instructions: created.content }),
  },
  schedules: { daily: { every: "1d", run: asked({ model: "small" }) } },
});

export const tooled = defineSpecialist({
  handle: "tooled",
  tools: ["weather/forecast"],
  on: {
    "post.created": async (_created, act) => {
      const { ok, text } = await act.tool("weather/forecast", { city: "Bern" }, { deadline: "5s" });
      same<typeof ok, boolean>();
      void text.length;
      // @ts-expect-error `tools` has no such tool
      await act.tool("weather/warnings");
    },
  },
});

export const toolless = defineSpecialist({
  handle: "toolless",
  on: {
    // @ts-expect-error a definition without tools has none to call
    "post.created": (_created, act) => act.tool("weather/forecast"),
  },
});

export const unnamed = defineSpecialist({
  handle: "unnamed",
  // @ts-expect-error a tool names its server
  tools: ["forecast"],
});
