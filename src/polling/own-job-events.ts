/** Converts a job that a specialist offered to events: applications, deliveries, and its acceptance. */
import type { NewEvent } from "../contract/event.ts";
import type { Job } from "../contract/records.ts";
import type { Handle } from "../core/ids.ts";
import { jobEvent } from "./job-events.ts";
import type { WatchChange } from "./watch-change.ts";
import type { OwnJobProgress } from "./watch-state.ts";

interface Owner {
  readonly handle: Handle;
  readonly handles: (kind: string) => boolean;
}

const ENDED: readonly string[] = ["accepted", "paid", "expired", "cancelled"];
/** Statuses that follow a delivery: one that nobody saw as `submitted` happened all the same. */
const DELIVERED: readonly string[] = ["submitted", "accepted", "rejected", "paid"];
const ACCEPTED: readonly string[] = ["accepted", "paid"];
/** Statuses that follow an application, where the network shows no number of them. */
const APPLIED: readonly string[] = ["applied", "assigned", ...DELIVERED];

/** Compares an offered job with its stored progress: one `job.applied` for each rise of the number of applications. */
export function followOwnJob(job: Job, before: OwnJobProgress, owner: Owner): WatchChange<OwnJobProgress> {
  const status = movedTo(job.status, before.status);
  const applications = Math.max(applicationsOf(job, status), before.applications);
  const isNew = (among: readonly string[]): boolean => among.includes(status) && !among.includes(before.status);
  const isDelivered = isNew(DELIVERED) || (status === "submitted" && before.status === "rejected");
  const after: OwnJobProgress = {
    status,
    applications,
    delivered: before.delivered + (isDelivered ? 1 : 0),
    accepted: before.accepted + (isNew(ACCEPTED) ? 1 : 0),
  };
  const events: NewEvent[] = [];
  const happen = (kind: "job.applied" | "job.delivered" | "job.accepted", occurrence: number, earlier: number): void => {
    if (occurrence > earlier && owner.handles(kind)) events.push(jobEvent(kind, job, owner.handle, occurrence));
  };
  happen("job.applied", applications, before.applications);
  happen("job.delivered", after.delivered, before.delivered);
  happen("job.accepted", after.accepted, before.accepted);
  const news = status !== before.status || applications > before.applications;
  return { state: status, progress: after, ended: ENDED.includes(status), events, news };
}

/** In the order of an offered job's states. An answer from a cache may lag behind what was seen. */
const ORDER: readonly string[] = ["open", "applied", "assigned", "submitted", "rejected", "accepted", "paid"];
/** Statuses of work that was sent back. */
const AGAIN: readonly string[] = ["assigned", "submitted"];

function movedTo(shown: Job["status"], before: string): string {
  if (shown === undefined || shown === "unknown") return before;
  const isBack = ORDER.includes(shown) && ORDER.indexOf(shown) < ORDER.indexOf(before);
  return isBack && !(before === "rejected" && AGAIN.includes(shown)) ? before : shown;
}

/** A network that shows no number shows at least one application by the job's status. */
function applicationsOf({ applications, applicantIds }: Job, status: string): number {
  return applications ?? applicantIds?.length ?? (APPLIED.includes(status) ? 1 : 0);
}
