/** Converts job lists and single jobs to events: new offers, and progress of the jobs a specialist applied for. */
import type { NewEvent } from "../contract/event.ts";
import { eventId } from "../contract/event-id.ts";
import type { Job } from "../contract/records.ts";
import { defined } from "../core/defined.ts";
import type { Handle } from "../core/ids.ts";
import { moveOn, type Freshness } from "./list-cursor.ts";
import type { ListCursor } from "./list-state.ts";
import { isOwn, type Reading } from "./feed-events.ts";
import type { WatchChange } from "./watch-change.ts";
import type { JobProgress } from "./watch-state.ts";

export interface JobsReader extends Freshness {
  readonly handle: Handle;
  readonly accountId: string | undefined;
  /** Lower case; empty means every job. */
  readonly skills: readonly string[];
  readonly handles: (kind: string) => boolean;
}

export function readJobs(jobs: readonly Job[], cursor: ListCursor, reader: JobsReader, now: number): Reading {
  const { fresh, skipped, gap, cursor: moved } = moveOn(jobs, cursor, reader, now);
  const events = fresh.filter((job) => wanted(job, reader, now)).map((job) => jobEvent("job.listed", job, reader.handle, undefined));
  return { events: reader.handles("job.listed") ? events : [], cursor: moved, gap, fresh: fresh.length, skipped };
}

/** Returns true if only the job itself can tell: the report of a job may leave out the skills that the watch filters by. */
export function mustBeRead(job: Job, reader: JobsReader, now: number): boolean {
  return reader.skills.length > 0 && job.skills === undefined && isOffer(job, reader, now);
}

function isOffer(job: Job, reader: JobsReader, now: number): boolean {
  if (job.status !== undefined && job.status !== "open" && job.status !== "unknown" && job.status !== "applied") return false;
  if (job.deadlineMs !== undefined && job.deadlineMs <= now) return false;
  return !isOwn(job, reader);
}

function wanted(job: Job, reader: JobsReader, now: number): boolean {
  if (!isOffer(job, reader, now)) return false;
  if (reader.skills.length === 0) return true;
  const asked = (job.skills ?? []).map((skill) => skill.toLowerCase());
  return reader.skills.some((skill) => asked.includes(skill));
}

const ENDED: readonly string[] = ["paid", "lost", "expired", "cancelled"];

/** Compares a job with its stored progress: the transitions since the last check, in the order of a job's states. */
export function followJob(job: Job, before: JobProgress, reader: JobsReader, now: number): WatchChange<JobProgress> {
  const shown = standingOf(job, before, reader, now);
  const isAtWork = AT_WORK.includes(shown) && job.status !== "submitted" && job.status !== "rejected";
  const isSentBack = before.toldRejected !== undefined && isAtWork;
  const status =
    isSentBack || (before.status === "rejected" && before.heardRejected !== undefined && shown === "assigned") ? "rejected" : shown;
  if (status === before.status && !isSentBack)
    return { state: status, progress: withoutReports(before, job, false), ended: ENDED.includes(status), events: [], news: false };
  const after = { ...withoutReports(before, job, isSentBack), status };
  const events: NewEvent[] = [];
  const happen = (
    kind: "job.assigned" | "job.accepted" | "job.rejected" | "job.paid",
    name: "assigned" | "accepted" | "rejected" | "paid",
  ): void => {
    after[name] += 1;
    if (reader.handles(kind)) events.push(jobEvent(kind, job, reader.handle, after[name]));
  };
  if (status === "assigned") happen("job.assigned", "assigned");
  if (status === "rejected") happen("job.rejected", "rejected");
  if (status === "accepted" || (status === "paid" && before.status !== "accepted")) happen("job.accepted", "accepted");
  if (status === "paid") happen("job.paid", "paid");
  return { state: status, progress: after, ended: ENDED.includes(status), events, news: true };
}

/** Statuses of work that a network may send back without a status of its own. */
const AT_WORK: readonly string[] = ["assigned", "submitted", "rejected"];

/** A reported rejection is handled now, or overtaken by what the job shows; it waits while the job may lag behind. */
function withoutReports({ toldRejected, heardRejected, ...progress }: JobProgress, job: Job, isSentBack: boolean): JobProgress {
  if (isSentBack) return { ...progress, ...defined({ heardRejected: toldRejected }) };
  return OVERTAKING.includes(job.status ?? "") ? progress : { ...progress, ...defined({ toldRejected, heardRejected }) };
}

const OVERTAKING: readonly string[] = ["accepted", "rejected", "paid"];

/** The specialist's status in the job: one assigned to somebody else is lost. */
function standingOf(job: Job, before: JobProgress, reader: JobsReader, now: number): string {
  const hasAssignee = job.assigneeId !== undefined || job.assigneeHandle !== undefined;
  const ours = isOwn({ authorId: job.assigneeId, authorHandle: job.assigneeHandle }, reader);
  switch (job.status) {
    case "open":
    case "applied":
    case undefined:
    case "unknown":
      if (ours) return before.status === "submitted" ? "submitted" : "assigned";
      if (job.deadlineMs !== undefined && job.deadlineMs <= now && before.status === "applied") return "expired";
      return before.status === "assigned" ? "applied" : before.status;
    case "assigned":
      if (hasAssignee && !ours) return "lost";
      return before.status === "submitted" ? "submitted" : "assigned";
    case "submitted":
    case "accepted":
    case "rejected":
    case "paid":
      return hasAssignee && !ours ? "lost" : job.status;
    case "expired":
    case "cancelled":
      return job.status;
  }
}

/** `occurrence` tells repeated events of one kind apart. */
export function jobEvent(kind: string, job: Job, handle: Handle, occurrence: number | undefined): NewEvent {
  return {
    specialist: handle,
    id: eventId(kind, job.id, occurrence),
    kind,
    thread: `job:${job.id}`,
    payload: job,
    via: "poll",
    hops: 0,
  };
}
