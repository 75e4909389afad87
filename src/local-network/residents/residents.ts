/** Residents: seeded accounts that post, ask, reply, like, follow, offer jobs and do jobs of others. */
import type { Random } from "../../core/random.ts";
import { MINUTE } from "../../core/units.ts";
import { findAccount, openAccount } from "../world/accounts.ts";
import { applyFor, offerJob, submit } from "../world/job-lifecycle.ts";
import { follow, publish, vote } from "../world/posting.ts";
import type { Table } from "../world/persistence.ts";
import { makeTask, residentPost } from "./jobs/job-kinds.ts";
import type { Account, Job, Post } from "../world/rows.ts";
import type { World } from "../world/world.ts";

export interface ResidentOptions {
  /** Number of residents, 1 to 24. Default 12. */
  readonly count?: number;
  /** Mean number of each activity a minute, over all residents. 0 turns it off. */
  readonly perMinute?: Partial<Record<Activity, number>>;
  /** Activities performed when a world is created, so that it does not start empty. Default none. */
  readonly already?: Partial<Record<Activity, number>>;
  /** Time from offering a job to its deadline, in ms. Default 10 minutes. */
  readonly jobDeadlineMs?: number;
  /** Kinds of tasks offered. Default all. */
  readonly taskKinds?: readonly string[];
}

export const ACTIVITIES = ["post", "reply", "like", "follow", "offer", "work"] as const;
export type Activity = (typeof ACTIVITIES)[number];

const DEFAULT_PER_MINUTE: Record<Activity, number> = { post: 20, reply: 10, like: 12, follow: 2, offer: 30, work: 10 };
const DEFAULT_COUNT = 12;
const DEFAULT_DEADLINE_MS = 10 * MINUTE;
/** Recent posts from which residents choose. */
const RECENT = 40;
/** Residents leave a thread of this length alone, so that two of them cannot fill the world. */
const MAX_THREAD = 12;
const MAX_HANDLES = 50;

export interface Residents {
  /** Creates the residents and plans their activities. */
  start(): void;
  /** Performs a due activity and plans the next one. */
  act(activity: string, now: number): void;
}

interface Plan {
  readonly id: string;
  nextAt: number;
}

export function createResidents(world: World, options: ResidentOptions, plans: Table<Plan>): Residents {
  const rates = { ...DEFAULT_PER_MINUTE, ...options.perMinute };
  const people: Account[] = [];
  const acts: Record<Activity, (who: Account, chance: Random) => void> = {
    post: (who, chance) => writePost(world, who, chance),
    reply: (who, chance) => writeReply(world, who, chance),
    like: (who, chance) => likeSomething(world, who, chance),
    follow: (who, chance) => followSomebody(world, who, chance),
    offer: (who, chance) => offerTask(world, who, chance, options),
    work: (who, chance) => workForOthers(world, who, chance),
  };
  const plan = (activity: Activity, now: number, chance: Random): void => {
    const mean = MINUTE / rates[activity];
    const nextAt = Math.round(now + mean * (0.5 + chance.next()));
    plans.put({ id: activity, nextAt });
    world.timers.note(nextAt, `resident:${activity}`);
  };
  return {
    start() {
      people.splice(0, people.length, ...createResidentAccounts(world, options.count ?? DEFAULT_COUNT));
      const now = world.clock.now();
      for (const activity of ACTIVITIES) {
        if (!(rates[activity] > 0)) continue;
        const planned = plans.get(activity);
        if (planned === undefined)
          for (let i = 0; i < (options.already?.[activity] ?? 0); i++)
            acts[activity](world.chance("first").pick(people), world.chance("first"));
        if (planned === undefined) plan(activity, now, world.chance("plan"));
        else world.timers.note(planned.nextAt, `resident:${activity}`);
      }
      world.tables.commit();
    },
    act(key, now) {
      const activity = ACTIVITIES.find((name) => name === key);
      if (activity === undefined || (plans.get(activity)?.nextAt ?? Number.POSITIVE_INFINITY) > now) return;
      const chance = world.chance(activity);
      acts[activity](chance.pick(people), chance);
      plan(activity, now, chance);
    },
  };
}

const NAMES = [
  ["mira-vance", "Mira Vance"],
  ["tomas-arden", "Tomas Arden"],
  ["yuki-hale", "Yuki Hale"],
  ["noor-castell", "Noor Castell"],
  ["felix-orban", "Felix Orban"],
  ["ines-marlow", "Ines Marlow"],
  ["kofi-brandt", "Kofi Brandt"],
  ["lena-soto", "Lena Soto"],
  ["arjun-weir", "Arjun Weir"],
  ["greta-lindqvist", "Greta Lindqvist"],
  ["omar-reyes", "Omar Reyes"],
  ["paula-nagy", "Paula Nagy"],
  ["dario-kent", "Dario Kent"],
  ["sofia-ward", "Sofia Ward"],
  ["hugo-tanaka", "Hugo Tanaka"],
  ["amara-quinn", "Amara Quinn"],
  ["viktor-dahl", "Viktor Dahl"],
  ["rosa-iyer", "Rosa Iyer"],
  ["emil-novak", "Emil Novak"],
  ["tessa-cole", "Tessa Cole"],
  ["bruno-sato", "Bruno Sato"],
  ["clara-munro", "Clara Munro"],
  ["idris-falk", "Idris Falk"],
  ["maya-petrov", "Maya Petrov"],
] as const;

/** Creates residents by the names above; a taken handle is skipped. */
function createResidentAccounts(world: World, count: number): Account[] {
  return NAMES.slice(0, Math.max(1, count)).flatMap(([handle, name]) => {
    const found = findAccount(world, handle);
    if (found !== undefined) return found.kind === "resident" ? [found] : [];
    return [openAccount(world, { handle, name, kind: "resident", tier: "pro", bio: "Lives here." })];
  });
}

/** Returns handles of specialists, a random slice if there are many. */
function specialists(world: World, chance: Random): string[] {
  const handles = [...world.byHandle.values()].filter(({ kind }) => kind === "specialist").map(({ handle }) => handle);
  const from = chance.int(Math.max(1, handles.length - MAX_HANDLES));
  return handles.slice(from, from + MAX_HANDLES);
}

function writePost(world: World, who: Account, chance: Random): void {
  const { content } = residentPost(chance, specialists(world, chance));
  const places = [...world.communities.all()];
  const community = places.length > 0 && chance.next() < 0.5 ? chance.pick(places).handle : undefined;
  publish(world, who, { content, community });
}

const REPLIES = [
  "Good point, thank you.",
  "I had the same question last week.",
  "Do you have a source for that?",
  "That matches what I have seen.",
  "Interesting. How did you measure it?",
  "Thanks, that helped.",
  "I would do it the other way round.",
  "Could you say a little more about this?",
] as const;

function writeReply(world: World, who: Account, chance: Random): void {
  const recent = world.feed.slice(-RECENT).filter((post) => post.authorId !== who.id && post.replyCount < MAX_THREAD);
  if (recent.length === 0) return;
  const parent = chance.pick(preferred(world, recent));
  publish(world, who, { content: chance.pick(REPLIES), parent });
}

/** Prefers posts by specialists, or posts that specialists have replied to. */
function preferred(world: World, posts: readonly Post[]): readonly Post[] {
  const byOthers = (post: Post): boolean => world.accounts.get(post.authorId)?.kind === "specialist";
  const touched = posts.filter((post) => byOthers(post) || (world.threads.get(post.id) ?? []).some(byOthers));
  return touched.length > 0 ? touched : posts;
}

function likeSomething(world: World, who: Account, chance: Random): void {
  const recent = world.feed.slice(-RECENT);
  const replies = recent.flatMap((post) => (world.threads.get(post.id) ?? []).slice(-3));
  const open = preferred(world, [...recent, ...replies]).filter((post) => post.authorId !== who.id && post.votes[who.id] === undefined);
  if (open.length > 0) vote(world, who, chance.pick(open), 1);
}

function followSomebody(world: World, who: Account, chance: Random): void {
  const handles = specialists(world, chance);
  const followed = handles.length === 0 ? undefined : world.byHandle.get(chance.pick(handles));
  if (followed !== undefined) follow(world, who, followed);
}

function offerTask(world: World, who: Account, chance: Random, { jobDeadlineMs = DEFAULT_DEADLINE_MS, taskKinds }: ResidentOptions): void {
  const { kind, seed, title, description, skills, reward } = makeTask(chance, taskKinds === undefined ? undefined : chance.pick(taskKinds));
  offerJob(world, who, { title, description, skills, reward, task: { kind, seed }, deadlineAt: world.clock.now() + jobDeadlineMs });
}

/** Applies for jobs that specialists offer, and delivers what was assigned. */
function workForOthers(world: World, who: Account, chance: Random): void {
  const offered = world.board.slice(-RECENT * 5).filter((job) => job.task === undefined && job.posterId !== who.id);
  const mine = offered.find((job) => job.status === "assigned" && isResident(world, job));
  if (mine?.assigneeId !== undefined) {
    const worker = world.accounts.get(mine.assigneeId);
    if (worker !== undefined) submit(world, worker, mine, { text: `Done: ${mine.title}` });
    return;
  }
  const open = offered.filter((job) => job.status === "open");
  if (open.length > 0) applyFor(world, who, chance.pick(open), "I can do that.");
}

function isResident(world: World, job: Job): boolean {
  return job.assigneeId !== undefined && world.accounts.get(job.assigneeId)?.kind === "resident";
}
