/** A network of jobs in a function that forgives nothing: it counts each request, and gives, judges and pays as a test says. */
import type { Transport, WireAnswer } from "../../src/client/transport.ts";
import { TIER_LIMITS, type Tier } from "../../src/contract/tiers.ts";
import type { Clock } from "../../src/core/clock.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../../src/core/units.ts";

export interface StrictWays {
  readonly tier: Tier;
  /** From an application to the job being given. */
  readonly givesMs: () => number;
  /** From a delivery to its acceptance; undefined where it is never judged. */
  readonly judgesMs?: number;
  /** From acceptance to payment; undefined where payment is never shown. */
  readonly paysMs?: number;
  /** What the list shows: also ours as they stand, the open ones alone, or all of them without their standing. */
  readonly list: "ours" | "open" | "no standing";
}

interface StrictJob {
  readonly id: string;
  appliedAt?: number;
  givenAt?: number;
  /** When we were first told that it is ours. */
  noticedAt?: number;
  deliveredAt?: number;
}

export interface Tally {
  readonly requests: number;
  readonly refused: number;
  readonly by: Readonly<Record<string, number>>;
  readonly delivered: number;
  /** The longest time for which a job was ours, not known to be so, and the hour and the day had room. */
  readonly unnoticedMs: number;
}

export interface StrictNetwork {
  readonly transport: Transport;
  requests(): number;
  tally(): Tally;
}

const LATENCY_MS = 100;
const PAGE = 50;
/** Offers that stand at any time. */
const OFFERS = 20;
/** A ledger of whole cells counts a request somewhat longer than the network does. */
const CELL_MS = 2 * MINUTE;

export function strictJobs(clock: Clock, ways: StrictWays): StrictNetwork {
  const { perHour, perDay } = TIER_LIMITS[ways.tier];
  const jobs = new Map<string, StrictJob>();
  const taken: number[] = [];
  const by: Record<string, number> = {};
  let refused = 0;
  /** Jobs for which nobody has applied. */
  let free = 0;

  const usedSince = (from: number, to: number): number => indexAfter(taken, to) - indexAfter(taken, from);
  const offer = (): void => {
    for (; free < OFFERS; free++) {
      const id = `job_${jobs.size + 1}`;
      jobs.set(id, { id });
    }
  };
  const statusOf = (job: StrictJob): string => {
    const now = clock.now();
    const since = (from: number | undefined, ms: number | undefined): number | undefined =>
      from === undefined || ms === undefined || from + ms > now ? undefined : from + ms;
    const acceptedAt = since(job.deliveredAt, ways.judgesMs);
    if (since(acceptedAt, ways.paysMs) !== undefined) return "paid";
    if (acceptedAt !== undefined) return "completed";
    if (job.deliveredAt !== undefined) return "submitted";
    return isGiven(job) ? "in_progress" : "open";
  };
  const isGiven = ({ givenAt }: StrictJob): boolean => givenAt !== undefined && givenAt <= clock.now();
  const shown = (job: StrictJob): object => ({
    id: job.id,
    title: "a job",
    description: "to be done",
    status: statusOf(job),
    ...(isGiven(job) ? { assignee: { id: "me", handle: "scout" } } : {}),
  });
  const notice = (job: StrictJob): void => void (isGiven(job) && (job.noticedAt ??= clock.now()));
  const listed = (): object[] => {
    const all = [...jobs.values()].toReversed();
    const open = all.filter(({ givenAt }) => givenAt === undefined || givenAt > clock.now());
    if (ways.list === "open") return open.slice(0, PAGE).map(shown);
    const page = [...open, ...all.filter(isGiven)].slice(0, PAGE);
    if (ways.list === "no standing") return page.map(({ id }) => ({ id, title: "a job", description: "to be done" }));
    page.forEach(notice);
    return page.map(shown);
  };
  const act = (job: StrictJob, verb: string): WireAnswer => {
    if (verb === "apply" && job.appliedAt === undefined) {
      job.appliedAt = clock.now();
      free--;
      job.givenAt = job.appliedAt + ways.givesMs();
      return said(201, { application: { id: `application of ${job.id}`, job_id: job.id, status: "applied" } });
    }
    if (verb === "submit" && isGiven(job) && job.deliveredAt === undefined) {
      job.deliveredAt = clock.now();
      return said(200, shown(job));
    }
    return said(409, { error: { code: "conflict", message: `${verb} is not possible` } });
  };
  const answer = (method: string, path: string): WireAnswer => {
    const [, kind = "", id, verb] = path.slice(1).split("/");
    const name = [method, kind, ...(id === undefined ? [] : [":id"]), ...(verb === undefined ? [] : [verb])].join(" ");
    by[name] = (by[name] ?? 0) + 1;
    if (kind === "agents") return said(200, { agents: [{ id: "me", handle: "scout" }] });
    if (kind === "posts") return said(200, { posts: [] });
    offer();
    if (id === undefined) return said(200, { jobs: listed() });
    const job = jobs.get(id);
    if (job === undefined) return said(404, { error: { code: "not_found", message: "there is no such job" } });
    if (verb !== undefined) return act(job, verb);
    notice(job);
    return said(200, shown(job));
  };
  const unnoticed = ({ givenAt = Infinity, noticedAt }: StrictJob): number => {
    const until = noticedAt ?? clock.now();
    let ms = 0;
    for (let at = givenAt; at < until; at += 10 * SECOND)
      if (usedSince(at - HOUR - CELL_MS, at) < perHour && usedSince(at - DAY - CELL_MS, at) < perDay)
        ms += Math.min(10 * SECOND, until - at);
    return ms;
  };

  return {
    async transport({ method, path }) {
      await new Promise<void>((resolve) => void clock.after(LATENCY_MS, () => resolve()));
      const now = clock.now();
      if (usedSince(now - HOUR, now) >= perHour || usedSince(now - DAY, now) >= perDay) {
        refused++;
        return said(429, { error: { code: "rate_limited", message: "too many requests" } }, { "retry-after": "60" });
      }
      taken.push(now);
      return answer(method, path.split("?", 1)[0] ?? "");
    },
    requests: () => taken.length,
    tally: () => ({
      requests: taken.length,
      refused,
      by,
      delivered: [...jobs.values()].filter(({ deliveredAt }) => deliveredAt !== undefined).length,
      unnoticedMs: Math.max(0, ...[...jobs.values()].map(unnoticed)),
    }),
  };
}

function said(status: number, body: object, headers: Readonly<Record<string, string>> = {}): WireAnswer {
  return { kind: "answer", status, headers, text: JSON.stringify(body), elapsedMs: LATENCY_MS };
}

/** How many of them, in order, are not after `at`. */
function indexAfter(times: readonly number[], at: number): number {
  let [low, high] = [0, times.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((times[middle] ?? 0) <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}
