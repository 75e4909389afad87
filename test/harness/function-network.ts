/** A small network in a function, which shows what was done as a test says, and a specialist that replies, votes and applies. */
import { onTestFinished } from "vitest";
import type { WireAnswer } from "../../src/client/transport.ts";
import { asHandle } from "../../src/core/ids.ts";
import { seededRandom } from "../../src/core/random.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { showStatus } from "../../src/guardian/status.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { virtualRuntime } from "./harness.ts";

export interface Post {
  readonly id: number | string;
  readonly author: string;
  readonly content: string;
  /** When the specialist made it, by the network's clock. */
  readonly at?: number;
  readonly replies: Post[];
  /** Whether the specialist's vote is on it. */
  voted?: boolean;
}
export interface Job {
  readonly id: number | string;
  readonly applicants: string[];
  assignee?: string;
}
export interface Ways {
  /** How the words of others' posts are kept. */
  readonly keep?: (text: string) => string;
  readonly showPost?: (post: Post) => object;
  readonly showJob?: (job: Job) => object;
  readonly answerVote?: (post: Post) => object;
  /** The network's own Guardian decides on applications. */
  readonly asksGuardian?: boolean;
  /** The objects whose first action takes effect while its answer is lost, or every one of them. */
  readonly loses?: string | readonly string[];
  readonly losesAll?: boolean;
  /** A path, and which of the requests to it is lost on its way. */
  readonly drops?: readonly [path: string, which: number];
  readonly answerReply?: (reply: Post) => object;
  readonly answerSubmit?: (job: Job) => object;
  /** How far the machine's clock is ahead of the network's, which then tells its time. */
  readonly aheadMs?: () => number;
}

export async function world({
  keep = (text) => text,
  showPost = whole,
  showJob = open,
  answerVote = () => ({ ok: true }),
  asksGuardian = false,
  loses = [],
  losesAll = false,
  drops,
  answerReply = shown,
  answerSubmit,
  aheadMs,
}: Ways) {
  const clock = virtualClock(Date.UTC(2026, 10, 21));
  const networkNow = (): number => clock.now() - (aheadMs?.() ?? 0);
  const posts: Post[] = [];
  const jobs: Job[] = [];
  const done: string[] = [];
  const tries: string[] = [];
  let replies = 0;
  let applications = 0;
  const lost = (path: string): boolean =>
    [loses].flat().some((id) => path.includes(`/${id}/`)) && (losesAll || done.filter((one) => one === path).length === 1);
  const write = (path: string, content: string): object => {
    const [kind, id, verb] = path.split("/");
    done.push(path);
    if (kind === "jobs") {
      const job = jobs.find((one) => String(one.id) === id);
      if (job === undefined) throw new Error(`no job ${id}`);
      if (verb === "submit") return (answerSubmit ?? showJob)(job);
      job.applicants.push("me");
      return { id: ++applications, status: asksGuardian ? "pending_approval" : "applied" };
    }
    const post = posts.find((one) => String(one.id) === id);
    if (post === undefined) throw new Error(`no post ${id}`);
    if (verb === "vote") {
      post.voted = post.voted !== true; // the same again takes it back
      return answerVote(post);
    }
    const reply = { id: ++replies, author: "me", content: keep(content), replies: [], at: networkNow() };
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
    headers: aheadMs === undefined ? {} : { date: new Date(networkNow()).toUTCString() },
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
            else if (verb === "again") act.vote(target);
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
      const times = tries.push(place) && tries.filter((one) => one === place).length;
      if (drops?.[0] === place && drops[1] === times) return { kind: "unknown", reason: "ECONNRESET" };
      const made = write(place, String((JSON.parse(body ?? "{}") as { content?: string }).content));
      return lost(place) ? { kind: "unknown", reason: "ECONNRESET" } : answer(201, made);
    },
    keyOf: () => "sk_live_of_scout",
    clock,
    random: seededRandom(2),
  });
  await clock.run(runtime.start());
  onTestFinished(async () => {
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
  return { after, fate, post, job, done, status: () => showStatus({ store, clock }) };
}

export function shown({ id, author, content, at }: Post): object {
  return {
    id,
    content,
    ...(at === undefined ? {} : { created_at: new Date(at).toISOString() }),
    author: { id: author, handle: author === "me" ? "scout" : author },
  };
}

export function whole(post: Post): object {
  return { ...shown(post), reply_count: post.replies.length, replies: post.replies.map(shown) };
}

export function telling(post: Post): object {
  return { ...whole(post), my_vote: post.voted === true ? 1 : 0 };
}

export function open({ id, applicants, assignee }: Job): object {
  return {
    id,
    title: "a job",
    applicants,
    ...(assignee === undefined ? { status: "open" } : { status: "assigned", assignee: { id: assignee } }),
  };
}

export function saying(job: Job): object {
  return { ...open(job), applicants: undefined, has_applied: job.applicants.includes("me") };
}
