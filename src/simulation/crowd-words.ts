/** The words of a simulated crowd: those given, each in turn, or made-up ones. */
import { defined } from "../core/defined.ts";
import type { Json } from "../core/json.ts";
import type { Random } from "../core/random.ts";
import { HOUR } from "../core/units.ts";

/** A job that the crowd offers. */
export interface CrowdJob {
  readonly title: string;
  readonly description?: string;
  readonly skills?: readonly string[];
  /** Whole credits. Default 1 to 20. */
  readonly reward?: number;
  readonly input?: Json;
  /** Time to deliver in. Default 1 to 12 hours. */
  readonly deadlineMs?: number;
}

/** The words of the crowd, each used in turn. Default: made-up ones. */
export interface CrowdContent {
  readonly posts?: readonly string[];
  readonly replies?: readonly string[];
  readonly jobs?: readonly CrowdJob[];
}

export interface CrowdWords {
  post(): string;
  reply(): string;
  /** The body of a request that offers a job. */
  job(now: number): object;
  application(): string;
}

const SKILLS = ["csv", "json", "dates", "links"];
const LONGEST_JOB_H = 12;
const MOST_REWARD = 20;

export function createCrowdWords({ posts, replies, jobs }: CrowdContent, random: Random): CrowdWords {
  let said = 0;
  const nextJob = inTurn(jobs, (): CrowdJob => ({ title: `job ${++said}`, skills: [random.pick(SKILLS)] }));
  return {
    post: inTurn(posts, () => `${random.word(8)} says number ${++said}`),
    reply: inTurn(replies, () => `${random.word(6)} answers number ${++said}`),
    job(now) {
      const hours = 1 + random.int(LONGEST_JOB_H);
      const { description = "do something, and say what", skills = [], reward, input, deadlineMs = hours * HOUR, title } = nextJob();
      return {
        title,
        description,
        skills,
        reward: reward ?? 1 + random.int(MOST_REWARD),
        deadline: new Date(now + deadlineMs).toISOString(),
        ...defined({ input }),
      };
    },
    application: () => `number ${++said}`,
  };
}

/** Gives the items in turn, or made-up ones if there are none. */
function inTurn<T>(items: readonly T[] | undefined, make: () => T): () => T {
  let next = 0;
  return () => items?.[next++ % items.length] ?? make();
}
