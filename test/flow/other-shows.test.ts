/** Networks that show what was done otherwise than the local one, or not at all: what is in doubt there is not done twice. */
import { afterEach, describe, expect, test } from "vitest";
import type { WireAnswer } from "../../src/client/transport.ts";
import { asHandle } from "../../src/core/ids.ts";
import { seededRandom } from "../../src/core/random.ts";
import { DAY, MINUTE } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { virtualRuntime } from "../runtime/virtual-runtime.ts";

const ends: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ends.splice(0)) await end();
});

interface Post {
  readonly id: number | string;
  readonly author: string;
  readonly content: string;
  readonly replies: Post[];
  /** When it was made, by the network's clock. */
  readonly at?: number;
}
interface Job {
  readonly id: number | string;
  readonly applicants: string[];
  assignee?: string;
}
interface Ways {
  /** How the words of others' posts are kept. */
  readonly keep?: (text: string) => string;
  readonly showPost?: (post: Post) => object;
  readonly showJob?: (job: Job) => object;
  readonly answerVote?: (post: Post) => object;
  /** The network's own Guardian decides on applications. */
  readonly asksGuardian?: boolean;
  /** The object whose first action takes effect while its answer is lost, or every one of them. */
  readonly loses?: string;
  readonly losesAll?: boolean;
  /** The object whose second action is lost on its way. */
  readonly drops?: string;
  readonly answerReply?: (reply: Post) => object;
  /** How far the machine's clock is ahead of the network's, which then tells its time. */
  readonly aheadMs?: () => number;
}

/** A small network in a function, and a specialist that replies, votes and applies. */
async function world({
  keep = (text) => text,
  showPost = whole,
  showJob = open,
  answerVote = () => ({ ok: true }),
  asksGuardian = false,
  loses,
  losesAll = false,
  drops,
  answerReply = shown,
  aheadMs,
}: Ways) {
  const clock = virtualClock(Date.UTC(2026, 10, 21));
  const posts: Post[] = [];
  const jobs: Job[] = [];
  const done: string[] = [];
  let replies = 0;
  let applications = 0;
  const lost = (path: string): boolean =>
    loses !== undefined && path.includes(`/${loses}/`) && (losesAll || done.filter((one) => one === path).length === 1);
  const write = (path: string, content: string): object => {
    const [kind, id, verb] = path.split("/");
    done.push(path);
    if (kind === "jobs") {
      const job = jobs.find((one) => String(one.id) === id);
      if (job === undefined) throw new Error(`no job ${id}`);
      if (verb === "submit") return showJob(job);
      job.applicants.push("me");
      return { id: ++applications, status: asksGuardian ? "pending_approval" : "applied" };
    }
    const post = posts.find((one) => String(one.id) === id);
    if (post === undefined) throw new Error(`no post ${id}`);
    if (verb === "vote") return answerVote(post);
    const reply = {
      id: ++replies,
      author: "me",
      content: keep(content),
      replies: [],
      ...(aheadMs === undefined ? {} : { at: clock.now() - aheadMs() }),
    };
    post.replies.push(reply);
    return answerReply(reply);
  };
  const read = (path: string): object => {
    const [kind, id] = path.split("/");
    if (kind === "agents") return { agents: [{ id: "me", handle: "scout" }] };
    if (kind === "jobs") {
      const job = jobs.find((one) => String(one.id) === id);
      return id === undefined ? { jobs: jobs.map(showJob) } : showJob(job ?? { id, applicants: [] });
    }
    const post = posts.find((one) => String(one.id) === id);
    return post === undefined ? { posts: posts.map(shown) } : showPost(post);
  };
  const answer = (status: number, body: object): WireAnswer => ({
    kind: "answer",
    status,
    headers: aheadMs === undefined ? {} : { date: new Date(clock.now() - aheadMs()).toUTCString() },
    text: JSON.stringify(body),
    elapsedMs: 1,
  });
  const store = openSqliteStore({ path: ":memory:", clock, random: seededRandom(1) });
  const runtime = virtualRuntime({
    specialists: [
      createSpecialist({
        handle: "scout",
        tier: "pro",
        watch: { feed: { from: "start" }, jobs: { from: "start" } },
        may: ["posts.reply", "posts.vote", "jobs.apply", "jobs.submit"],
        brakes: { sameTextWithin: 0 },
        on: {
          "post.created": (post, act) => {
            const [verb, target = ""] = (post.content ?? "").split(" ");
            if (verb === "vote") act.vote(post);
            else if (verb === "repeat") act.reply(target, "As I said");
            else if (verb !== "hush") act.reply(post, `Welcome & hello, ${post.id}`);
          },
          "intent.confirmed": ({ operation, target }, act) => {
            if (operation === "posts.vote" && target !== undefined) act.reply(target, "That was worth a vote");
          },
          "job.listed": (job, act) => void act.apply(job, { message: "I can" }),
          "job.assigned": (job, act) => void act.submit(job, { done: true }),
        },
      }),
    ],
    store,
    transport: async ({ method, path, body }) => {
      const place = (path.split("?", 1)[0] ?? "").replace("/v1/", "");
      if (method === "GET") return answer(200, read(place));
      if (drops !== undefined && place.includes(`/${drops}/`) && done.includes(place)) return { kind: "unknown", reason: "ECONNRESET" };
      const made = write(place, String((JSON.parse(body ?? "{}") as { content?: string }).content));
      return lost(place) ? { kind: "unknown", reason: "ECONNRESET" } : answer(201, made);
    },
    keyOf: () => "sk_live_of_scout",
    clock,
    random: seededRandom(2),
  });
  await clock.run(runtime.start());
  ends.push(async () => {
    await clock.run(runtime.stop());
    await clock.run(store.close());
  });
  const after = async (ms: number): Promise<void> => {
    const until = clock.now() + ms;
    while (clock.now() < until) await clock.advance(5_000);
  };
  /** What became of the actions on an object. */
  const fate = async (target: string): Promise<readonly string[]> =>
    (await store.intents({ specialist: asHandle("scout"), limit: 100 }))
      .filter((intent) => intent.target === target)
      .map(({ operation, state, code }) => [operation, state, ...(state === "confirmed" ? [] : [code])].join(" "));
  const post = (id: number | string, content = "a post"): Post => {
    const made = { id, author: "bob", content, replies: [] };
    posts.push(made);
    return made;
  };
  const job = (id: number | string): Job => {
    const made = { id, applicants: [] };
    jobs.push(made);
    return made;
  };
  return { after, fate, post, job, done };
}

function shown({ id, author, content, at }: Post): object {
  return {
    id,
    content,
    ...(at === undefined ? {} : { created_at: new Date(at).toISOString() }),
    author: { id: author, handle: author === "me" ? "scout" : author },
  };
}

function whole(post: Post): object {
  return { ...shown(post), reply_count: post.replies.length, replies: post.replies.map(shown) };
}

function open({ id, applicants, assignee }: Job): object {
  return {
    id,
    title: "a job",
    applicants,
    ...(assignee === undefined ? { status: "open" } : { status: "assigned", assignee: { id: assignee } }),
  };
}

function saying(job: Job): object {
  return { ...open(job), applicants: undefined, has_applied: job.applicants.includes("me") };
}

describe("an action whose answer is lost takes effect once", () => {
  test("where the network changes some words: a person decides whether these are the ones", async () => {
    let changes = false;
    const { after, fate, post, done } = await world({ loses: "p2", keep: (text) => (changes ? text.replaceAll("&", "&amp;") : text) });
    post("p1");
    await after(5 * MINUTE);
    changes = true;
    post("p2");
    await after(20 * MINUTE);
    expect(done).toEqual(["posts/p1/reply", "posts/p2/reply"]);
    expect(await fate("p2")).toEqual(["posts.reply parked other_words"]);
  });

  test("where the machine's clock is days ahead, so that what was done seems older than its sending", async () => {
    let aheadMs = 0;
    const { after, fate, post, done } = await world({ loses: "p2", aheadMs: () => aheadMs });
    post("p1");
    await after(5 * MINUTE);
    aheadMs = 6 * DAY;
    post("p2");
    await after(20 * MINUTE);
    expect(done).toEqual(["posts/p1/reply", "posts/p2/reply"]);
    expect(await fate("p2")).toEqual(["posts.reply confirmed"]);
  });

  describe("where the same was said there before", () => {
    test("and an answer named an id that nothing goes by: a person decides which one it is", async () => {
      const { after, fate, post, done } = await world({ drops: "p1", answerReply: () => ({ id: 4711, content: "As I said" }) });
      post("p1", "hush");
      post("p2", "repeat p1");
      await after(5 * MINUTE);
      post("p3", "repeat p1");
      await after(20 * MINUTE);
      expect(done).toEqual(["posts/p1/reply"]);
      expect(await fate("p1")).toEqual(["posts.reply parked same_words", "posts.reply confirmed"]);
    });

    test("and given up in doubt before it showed: a person decides which one it is", async () => {
      let hides = true;
      const showPost = (post: Post): object => (hides ? { ...shown(post), reply_count: 0, replies: [] } : whole(post));
      const { after, fate, post, done } = await world({ loses: "p1", drops: "p1", showPost });
      post("p1", "hush");
      post("p2", "repeat p1");
      await after(20 * MINUTE);
      expect(await fate("p1")).toEqual(["posts.reply parked absent_unproven"]);
      hides = false;
      post("p3", "repeat p1");
      await after(20 * MINUTE);
      expect(done).toEqual(["posts/p1/reply"]);
      expect(await fate("p1")).toEqual(["posts.reply parked same_words", "posts.reply parked absent_unproven"]);
    });

    test("and both are there: it has happened", async () => {
      let hides = true;
      const showPost = (post: Post): object => (hides ? { ...shown(post), reply_count: 0, replies: [] } : whole(post));
      const { after, fate, post } = await world({ loses: "p1", losesAll: true, showPost });
      post("p1", "hush");
      post("p2", "repeat p1");
      await after(20 * MINUTE);
      hides = false;
      post("p3", "repeat p1");
      await after(20 * MINUTE);
      expect(await fate("p1")).toEqual(["posts.reply confirmed", "posts.reply parked absent_unproven"]);
    });
  });

  test("where a long thread is cut off and not counted", async () => {
    const cut = (post: Post): object => ({ ...shown(post), replies: post.replies.slice(0, 10).map(shown) });
    const { after, fate, post, done } = await world({ loses: "p2", showPost: cut });
    post("p1");
    await after(5 * MINUTE);
    const long = post("p2");
    for (let i = 0; i < 30; i++) long.replies.push({ id: `r${i}`, author: "ann", content: "so they say", replies: [] });
    await after(20 * MINUTE);
    expect(done).toEqual(["posts/p1/reply", "posts/p2/reply"]);
    expect(await fate("p2")).toEqual(["posts.reply parked absence_unprovable"]);
  });

  test.each([
    ["leaves out who applied", (job: Job) => ({ ...open(job), applicants: undefined }), "absence_unprovable"],
    ["always says that one has not applied", (job: Job) => ({ ...saying(job), has_applied: false }), "absent_unproven"],
    ["always shows that nobody applied", (job: Job) => ({ ...open(job), applicants: [] }), "absent_unproven"],
  ])("where the network %s, though it shows who was given a job", async (_name, showJob, code) => {
    const { after, fate, job, done } = await world({ loses: "j2", showJob });
    const given = job("j1");
    await after(5 * MINUTE);
    given.assignee = "me";
    job("j2");
    await after(20 * MINUTE);
    expect(done.toSorted()).toEqual(["jobs/j1/apply", "jobs/j1/submit", "jobs/j2/apply"]);
    expect(await fate("j2")).toEqual([`jobs.apply parked ${code}`]);
  });

  test("where the network says no more of who applied than whether one has oneself", async () => {
    const { after, fate, job, done } = await world({ loses: "j2", showJob: saying });
    job("j1");
    await after(5 * MINUTE);
    job("j2");
    await after(20 * MINUTE);
    expect(done.toSorted()).toEqual(["jobs/j1/apply", "jobs/j2/apply"]);
    expect(await fate("j2")).toEqual(["jobs.apply confirmed"]);
  });

  test("where applications and replies are each counted from 1", async () => {
    const { after, fate, post, job, done } = await world({ loses: "102" });
    for (const id of [201, 202, 203]) job(id);
    post(101);
    await after(5 * MINUTE);
    post(102);
    await after(20 * MINUTE);
    expect(done.filter((one) => one.startsWith("posts/"))).toEqual(["posts/101/reply", "posts/102/reply"]);
    expect(await fate("102")).toEqual(["posts.reply confirmed"]);
  });
});

describe("a stranger's post is answered", () => {
  test("also after a vote on it that the network answered with that post", async () => {
    const { after, fate, post } = await world({ answerVote: whole });
    post("p1", "vote for this");
    await after(MINUTE);
    expect(await fate("p1")).toEqual(["posts.reply confirmed", "posts.vote confirmed"]);
  });

  test("also where an application has the same number", async () => {
    const { after, fate, post, job } = await world({});
    job(201);
    await after(MINUTE);
    post(1);
    await after(MINUTE);
    expect(await fate("1")).toEqual(["posts.reply confirmed"]);
  });
});

describe("a job is done once it is given to us", () => {
  test("also while the network's Guardian has not said that we may apply, as far as we know", async () => {
    const { after, fate, job, done } = await world({ asksGuardian: true });
    const given = job("j1");
    await after(MINUTE);
    expect(await fate("j1")).toEqual(["jobs.apply pending pending_approval"]);
    given.assignee = "me";
    await after(5 * MINUTE);
    expect(done).toEqual(["jobs/j1/apply", "jobs/j1/submit"]);
  });

  test("also where nothing tells whether we applied", async () => {
    const { after, fate, job, done } = await world({ loses: "j1", showJob: (one) => ({ ...open(one), applicants: undefined }) });
    const given = job("j1");
    await after(20 * MINUTE);
    expect(await fate("j1")).toEqual(["jobs.apply parked absence_unprovable"]);
    given.assignee = "me";
    await after(20 * MINUTE);
    expect(done).toEqual(["jobs/j1/apply", "jobs/j1/submit"]);
  });
});
