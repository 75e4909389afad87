/** Simulates the other accounts of the network: they post, reply, follow, and offer and take plain jobs. */
import { sleep, type Clock } from "../core/clock.ts";
import type { EndpointSet } from "../contract/operations.ts";
import { isObject, parseJson } from "../core/json.ts";
import type { Random } from "../core/random.ts";
import { DAY, HOUR, SECOND } from "../core/units.ts";
import type { LocalNetwork } from "../local-network/options.ts";
import { createCrowdWords, type CrowdContent } from "./crowd-words.ts";

export interface TrafficRates {
  readonly postsPerHour: number;
  /** Replies to posts of the specialists under test. */
  readonly repliesPerHour: number;
  readonly jobsPerHour: number;
  /** New followers of a specialist. */
  readonly followsPerHour: number;
  /** Jobs taken by others, those of the specialists included: a taken job leaves the list at once and is never done. */
  readonly takesPerHour: number;
  /** Rushes bring more posts within minutes than a page of a list holds. */
  readonly rushesPerDay: number;
}

/** Rates and words of the other accounts. */
export interface CrowdOptions extends Partial<TrafficRates>, CrowdContent {}

export const BUSY_TRAFFIC: TrafficRates = {
  postsPerHour: 8,
  repliesPerHour: 3,
  jobsPerHour: 3,
  followsPerHour: 1,
  takesPerHour: 0,
  rushesPerDay: 0,
};

export interface TrafficPost {
  readonly id: string;
  readonly at: number;
}

export interface BackgroundTraffic {
  start(): void;
  /** Stops all traffic. */
  stop(): void;
  /** Adds one new follower to this specialist. */
  follow(handle: string): void;
  /** Posts made so far, oldest first. */
  readonly posts: readonly TrafficPost[];
}

/** Number of posts in a rush, and the gap between them. */
const RUSH_POSTS = 50;
const RUSH_GAP_MS = 3 * SECOND;

export interface TrafficOptions {
  readonly clock: Clock;
  readonly random: Random;
  readonly network: LocalNetwork;
  readonly set: EndpointSet;
  readonly rates: TrafficRates;
  readonly content: CrowdContent;
  /** Handles whose posts get replies. */
  readonly specialists: readonly string[];
}

export function createBackgroundTraffic({ clock, random, network, set, rates, content, specialists }: TrafficOptions): BackgroundTraffic {
  const { ask, newest } = openDoors(network, set, random);
  let running = false;
  let fans = 0;
  const words = createCrowdWords(content, random);
  const posts: TrafficPost[] = [];
  const acts = {
    post: async () => {
      const post = await ask("/v1/posts", { content: words.post() });
      const id = isObject(post) ? (isObject(post["post"]) ? post["post"]["id"] : post["id"]) : undefined;
      if (typeof id === "string") posts.push({ id, at: clock.now() });
    },
    reply: () => replyToNewest(random.pick(specialists)),
    follow: async () => follow(random.pick(specialists)),
    take: () => takeNewest(random.pick(specialists)),
    rush: async () => {
      for (let post = 0; post < RUSH_POSTS && running; post++) {
        await acts.post();
        await sleep(clock, RUSH_GAP_MS);
      }
    },
    job: () => ask("/v1/jobs", words.job(clock.now())),
  };
  const follow = (handle: string): void => {
    const fan = `fan-${++fans}`;
    network.provision({ handle: fan, tier: "free", set });
    network.follow(fan, handle);
  };
  const replyToNewest = async (author: string): Promise<void> => {
    const post = await newest("/v1/posts", { author });
    if (post !== undefined) await ask(`/v1/posts/${post}/reply`, { content: words.reply() });
  };
  const takeNewest = async (poster: string): Promise<void> => {
    const job = await newest("/v1/jobs", { poster: network.find(poster)?.id ?? "" });
    if (job !== undefined) await ask(`/v1/jobs/${job}/apply`, { message: words.application() });
  };

  const plan = (perHour: number, act: () => Promise<unknown>): void => {
    if (perHour <= 0) return;
    clock.after((HOUR / perHour) * (0.5 + random.next()), () => {
      if (!running) return;
      void act().then(() => plan(perHour, act));
    });
  };
  return {
    start() {
      running = true;
      plan(rates.postsPerHour, acts.post);
      plan(rates.repliesPerHour, acts.reply);
      plan(rates.jobsPerHour, acts.job);
      plan(rates.followsPerHour, acts.follow);
      plan(rates.takesPerHour, acts.take);
      plan((rates.rushesPerDay * HOUR) / DAY, acts.rush);
    },
    stop() {
      running = false;
    },
    follow,
    posts,
  };
}

/** Gives three accounts, each request made by one drawn at random. */
function openDoors(network: LocalNetwork, set: EndpointSet, random: Random) {
  const people = ["crowd-1", "crowd-2", "crowd-3"].map((handle) => network.provision({ handle, tier: "pro", set }));
  const ask = async (path: string, body: object): Promise<unknown> => {
    const { key } = random.pick(people);
    const headers = { authorization: `Bearer ${key}`, "content-type": "application/json" };
    const reply = await network.handle(set, { method: "POST", path, query: {}, headers, body: JSON.stringify(body) });
    return parseJson(reply.body);
  };
  /** Returns the id of the first item in a list. */
  const newest = async (path: string, query: Readonly<Record<string, string>>): Promise<string | undefined> => {
    const { key } = random.pick(people);
    const reply = await network.handle(set, { method: "GET", path, query, headers: { authorization: `Bearer ${key}` }, body: "" });
    const list = parseJson(reply.body);
    const items = isObject(list) ? (list["items"] ?? list["data"]) : undefined;
    const first: unknown = Array.isArray(items) ? items[0] : undefined;
    const id = isObject(first) ? first["id"] : undefined;
    return typeof id === "string" ? id : undefined;
  };
  return { ask, newest };
}
