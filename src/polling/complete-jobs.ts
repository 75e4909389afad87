/** Reads jobs by themselves where their list leaves out what a watch filters by: nothing is filtered by absence. */
import type { Job, NetworkRecord } from "../contract/records.ts";
import { readResult } from "../gateway/read-result.ts";
import type { Member } from "../gateway/member.ts";
import { mustBeRead, type JobsReader } from "./job-events.ts";
import { moveOn } from "./list-cursor.ts";
import type { ListCursor } from "./list-state.ts";
import type { PollingDependencies } from "./polling-dependencies.ts";

/** Jobs read of one page after a poll; the next poll finds the others again. */
const MAX_READ = 10;

export interface CompletedPage {
  /** The page with the whole jobs, and without those to be read later: for the cursor they stay unseen. */
  readonly items: readonly NetworkRecord[];
  /** True if some jobs are left to the next poll. */
  readonly leaves: boolean;
  /** True if the next poll may come soon: some jobs are left, and others could be read. */
  readonly isUnfinished: boolean;
}

export async function completeJobs(
  parts: PollingDependencies,
  member: Member,
  page: readonly NetworkRecord[],
  cursor: ListCursor,
  reader: JobsReader,
): Promise<CompletedPage> {
  const now = parts.networkNow();
  const jobs = page.filter((item): item is Job => item.kind === "job");
  const brief = moveOn(jobs, cursor, reader, now).fresh.filter((job) => mustBeRead(job, reader, now));
  if (brief.length === 0) return { items: page, leaves: false, isUnfinished: false };
  const whole = new Map<string, Job>();
  for (const job of brief.slice(0, MAX_READ)) {
    const read = await readWhole(parts, member, job);
    if (read === undefined) break; // the next one would fare no better
    whole.set(job.id, read);
  }
  const later = new Set(brief.flatMap(({ id }) => (whole.has(id) ? [] : [id])));
  const items = page.flatMap((item) => {
    const id = "id" in item ? (item.id ?? "") : "";
    return later.has(id) ? [] : [whole.get(id) ?? item];
  });
  return { items, leaves: later.size > 0, isUnfinished: later.size > 0 && whole.size > 0 };
}

/** The job as it is when read by itself, or as listed if the network does not show it; undefined if it cannot be read now. */
async function readWhole(parts: PollingDependencies, member: Member, job: Job): Promise<Job | undefined> {
  const call = { operation: "jobs.get", target: job.id, input: {} };
  const result = readResult(await parts.gateway.read(member, call, { lane: "poll", signal: parts.ending }));
  switch (result.kind) {
    case "value":
      return result.value.record?.kind === "job" ? result.value.record : job;
    case "gone":
    case "refused":
      return job;
    case "wait":
    case "failed":
      return undefined;
  }
}
