/** The world behind both sets: its rows, their indexes and their bounds. */
import type { Clock } from "../../core/clock.ts";
import type { Json } from "../../core/json.ts";
import type { Random } from "../../core/random.ts";
import type { Timers } from "./timers.ts";
import type { Assumptions } from "../assumptions.ts";
import type { Account, Approval, Community, Deliverable, WorldEvent, Job, JobInput, Post, Token, Webhook } from "./rows.ts";
import type { Table, Tables } from "./persistence.ts";
import type { GroundTruthLog } from "../ground-truth.ts";

/** Bounds on stored history: older posts, finished jobs and log lines are deleted. */
export interface Keep {
  readonly posts: number;
  readonly jobs: number;
  readonly requests: number;
  readonly effects: number;
}

export interface World {
  readonly clock: Clock;
  readonly tables: Tables;
  readonly assume: Assumptions;
  readonly truth: GroundTruthLog;
  readonly timers: Timers;
  readonly keep: Keep;
  /** Factor on the network's own waits: assignment, review, payment, webhook retries. */
  readonly scale: number;
  /** Returns a random source for `purpose`, the same after a restart. */
  chance(purpose: string): Random;
  /** Random source for keys and secrets. */
  secret(purpose: string): Random;
  /** Returns the next number of a durable count. */
  next(name: string): number;
  /** Returns the input of a job. */
  inputOf(job: Job): Json | undefined;
  /** Sends an event to webhooks. */
  tell(happening: WorldEvent): void;
  readonly accounts: Table<Account>;
  readonly tokens: Table<Token>;
  readonly posts: Table<Post>;
  readonly jobs: Table<Job>;
  readonly inputs: Table<JobInput>;
  readonly deliverables: Table<Deliverable>;
  readonly communities: Table<Community>;
  readonly webhooks: Table<Webhook>;
  readonly approvals: Table<Approval>;
  /** All accounts, oldest first, closed ones too. */
  readonly roster: Account[];
  readonly byHandle: Map<string, Account>;
  readonly byKey: Map<string, Account>;
  /** Posts that are not replies, oldest first. */
  readonly feed: Post[];
  /** Replies by parent post, oldest first. */
  readonly threads: Map<string, Post[]>;
  /** Jobs, oldest first. */
  readonly board: Job[];
}

interface Count {
  readonly id: string;
  value: number;
}

export type WorldParts = Pick<World, "clock" | "tables" | "assume" | "truth" | "keep" | "scale"> & {
  /** Rebuilds a checkable task's input from its kind and seed. */
  readonly rebuildInput: (task: { readonly kind: string; readonly seed: string }) => Json;
  readonly random: Random;
  readonly secrets: Random;
  readonly timers: Timers;
  readonly tell: (world: World, happening: WorldEvent) => void;
};

/** Loads the world's rows and rebuilds the indexes. */
export function openWorld(parts: WorldParts): World {
  const { tables, random, secrets } = parts;
  const rebuilt = remembering(parts.rebuildInput);
  const counts = tables.table<Count>("count");
  const next = (name: string): number => {
    const count = counts.get(name) ?? { id: name, value: 0 };
    count.value++;
    counts.put(count);
    return count.value;
  };
  const world: World = {
    clock: parts.clock,
    tables,
    assume: parts.assume,
    truth: parts.truth,
    timers: parts.timers,
    keep: parts.keep,
    scale: parts.scale,
    next,
    // Random sources are named by a durable count, so a restart does not repeat earlier numbers.
    chance: (purpose) => random.fork(`${purpose}/${next(`chance:${purpose}`)}`),
    secret: (purpose) => secrets.fork(`${purpose}/${next(`secret:${purpose}`)}`),
    inputOf: (job) => world.inputs.get(job.id)?.input ?? (job.task === undefined ? undefined : rebuilt(job.id, job.task)),
    tell: (happening) => parts.tell(world, happening),
    accounts: tables.table("account"),
    tokens: tables.table("token"),
    posts: tables.table("post"),
    jobs: tables.table("job"),
    inputs: tables.table("input"),
    deliverables: tables.table("deliverable"),
    communities: tables.table("community"),
    webhooks: tables.table("webhook"),
    approvals: tables.table("approval"),
    roster: [],
    byHandle: new Map(),
    byKey: new Map(),
    feed: [],
    threads: new Map(),
    board: [],
  };
  for (const account of world.accounts.all()) {
    world.roster.push(account);
    if (account.deleted) continue;
    world.byHandle.set(account.handle, account);
    if (account.keyHash !== undefined) world.byKey.set(account.keyHash, account);
  }
  for (const post of world.posts.all()) placePost(world, post);
  for (const job of world.jobs.all()) {
    world.board.push(job);
    if (job.due !== undefined) parts.timers.note(job.due.at, `job:${job.id}`);
  }
  return world;
}

/** Rebuilt inputs kept in memory: they are large and cheap to rebuild. */
const MAX_INPUTS_REMEMBERED = 64;

function remembering(rebuild: WorldParts["rebuildInput"]): (id: string, task: { kind: string; seed: string }) => Json {
  const recent = new Map<string, Json>();
  return (id, task) => {
    const input = recent.get(id) ?? rebuild(task);
    recent.delete(id);
    recent.set(id, input);
    const oldest = recent.keys().next().value;
    if (recent.size > MAX_INPUTS_REMEMBERED && oldest !== undefined) recent.delete(oldest);
    return input;
  };
}

/** Adds a post to the feed or its thread. */
export function placePost(world: World, post: Post): void {
  if (post.parentId === undefined) {
    world.feed.push(post);
    return;
  }
  const thread = world.threads.get(post.parentId);
  if (thread === undefined) world.threads.set(post.parentId, [post]);
  else thread.push(post);
}
