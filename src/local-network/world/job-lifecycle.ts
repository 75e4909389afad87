/** States of a job: offered, applied for, assigned, submitted, reviewed, paid, or expired. */
import { sha256 } from "../../core/json.ts";
import type { Json } from "../../core/json.ts";
import { SECOND } from "../../core/units.ts";
import { earnReputation } from "./accounts.ts";
import { record } from "./posting.ts";
import type { Account, Application, Job } from "./rows.ts";
import type { World } from "./world.ts";

/** Accounts stored per job as having seen it. */
const MAX_SEEN_BY = 1_000;
const REPUTATION = { accepted: 5, rejected: -3, missed: -2 };

/** Checks the deliverable of a checkable task. */
export type CheckDeliverable = (
  task: { readonly kind: string; readonly seed: string },
  deliverable: Json,
) => { accepted: boolean; reason: string };

export interface NewJob {
  readonly title: string;
  readonly description: string;
  readonly skills: readonly string[];
  readonly reward: number;
  readonly deadlineAt: number;
  readonly input?: Json;
  readonly task?: { readonly kind: string; readonly seed: string };
}

export function offerJob(world: World, poster: Account, { input, task, ...job }: NewJob): Job {
  const seq = world.next("job");
  const created: Job = {
    id: `job_${seq}`,
    seq,
    posterId: poster.id,
    ...job,
    createdAt: world.clock.now(),
    ...(task === undefined ? {} : { task }),
    status: "open",
    applications: [],
    due: undefined,
    seenBy: [],
  };
  if (input !== undefined) world.inputs.put({ id: created.id, input });
  world.board.push(created);
  setDue(world, created, "expire", job.deadlineAt);
  record(world, poster, "jobs.create", "", `${job.title}\n${job.description}`);
  forgetOldJobs(world);
  return created;
}

export function canApply(job: Job): boolean {
  return job.status === "open" || job.status === "applied";
}

/** Records an application. The poster chooses a little later, at once for jobs of specialists. */
export function applyFor(world: World, applicant: Account, job: Job, message?: string): Application {
  const application: Application = {
    id: `app_${world.next("application")}`,
    accountId: applicant.id,
    ...(message === undefined ? {} : { message }),
    at: world.clock.now(),
  };
  job.applications.push(application);
  applicant.tally.applied++;
  world.accounts.put(applicant);
  if (job.status === "open") {
    job.status = "applied";
    setDue(world, job, "assign", Math.min(job.deadlineAt, world.clock.now() + wait(world, 0.5, 2)));
  } else world.jobs.put(job);
  record(world, applicant, "jobs.apply", job.id, message ?? "");
  world.tell({ type: "job.applied", to: job.posterId, subject: { job } });
  return application;
}

/** Records a deliverable. It is reviewed a little later, or rejected at once if late. */
export function submit(world: World, worker: Account, job: Job, deliverable: Json): void {
  const now = world.clock.now();
  job.submission = world.next("submission");
  job.deliverableHash = sha256(deliverable);
  worker.tally.delivered++;
  world.accounts.put(worker);
  record(world, worker, "jobs.submit", job.id, JSON.stringify(deliverable));
  if (now >= job.deadlineAt) {
    judge(world, worker, job, { accepted: false, reason: "late: submitted after the deadline" });
    return;
  }
  job.status = "submitted";
  world.deliverables.put({ id: job.id, accountId: worker.id, body: deliverable });
  world.tell({ type: "job.delivered", to: job.posterId, subject: { job } });
  setDue(world, job, "review", now + wait(world, 0.3, 1.2));
}

/** Takes the next step of a job if it is due. */
export function takeDueStep(world: World, job: Job, now: number, check: CheckDeliverable): void {
  if (job.due === undefined || job.due.at > now) return;
  switch (job.due.step) {
    case "assign":
      return assign(world, job);
    case "review":
      return review(world, job, check);
    case "pay":
      return pay(world, job);
    case "expire":
      return expire(world, job);
  }
}

/** Chooses among the applicants, weighted by reputation. */
function assign(world: World, job: Job): void {
  const candidates = job.applications.flatMap(({ accountId }) => {
    const account = world.accounts.get(accountId);
    return account === undefined || account.deleted || account.suspended ? [] : [account];
  });
  if (candidates.length === 0) {
    setDue(world, job, "expire", job.deadlineAt);
    return;
  }
  const chosen = choose(candidates, world.chance("assign").next());
  job.status = "assigned";
  job.assigneeId = chosen.id;
  job.assignedAt = world.clock.now();
  chosen.tally.assigned++;
  world.accounts.put(chosen);
  setDue(world, job, "expire", job.deadlineAt);
  world.tell({ type: "job.assigned", to: chosen.id, subject: { job } });
}

function choose(candidates: readonly Account[], chance: number): Account {
  const weight = (account: Account): number => 10 + Math.min(account.reputation, 100);
  let left = chance * candidates.reduce((sum, account) => sum + weight(account), 0);
  for (const account of candidates) {
    left -= weight(account);
    if (left < 0) return account;
  }
  const last = candidates.at(-1);
  if (last === undefined) throw new RangeError("expected at least one candidate, got none");
  return last;
}

function review(world: World, job: Job, check: CheckDeliverable): void {
  const worker = job.assigneeId === undefined ? undefined : world.accounts.get(job.assigneeId);
  const deliverable = world.deliverables.get(job.id);
  if (worker === undefined || deliverable === undefined) return;
  world.deliverables.remove(job.id);
  judge(world, worker, job, verdictOn(world, job, worker, deliverable.body, check));
}

function verdictOn(world: World, job: Job, worker: Account, body: Json, check: CheckDeliverable): { accepted: boolean; reason: string } {
  if (job.task === undefined) {
    const empty = body === null || body === "" || JSON.stringify(body) === "{}";
    return empty ? { accepted: false, reason: "nothing was delivered" } : { accepted: true, reason: "delivered" };
  }
  const { kind, seed } = job.task;
  const copied = world.board.some(
    (other) =>
      other !== job &&
      other.deliverableHash === job.deliverableHash &&
      other.assigneeId !== worker.id &&
      other.task?.kind === kind &&
      other.task.seed === seed &&
      (other.submission ?? Number.POSITIVE_INFINITY) < (job.submission ?? 0),
  );
  return copied ? { accepted: false, reason: "copied: somebody else submitted the same before" } : check(job.task, body);
}

function judge(world: World, worker: Account, job: Job, { accepted, reason }: { accepted: boolean; reason: string }): void {
  job.verdict = reason;
  job.status = accepted ? "accepted" : "rejected";
  worker.tally[accepted ? "accepted" : "rejected"]++;
  earnReputation(world, worker, accepted ? REPUTATION.accepted : REPUTATION.rejected);
  if (accepted) setDue(world, job, "pay", world.clock.now() + wait(world, 0.5, 2));
  else setDue(world, job, undefined);
  for (const to of [worker.id, job.posterId]) world.tell({ type: "job.completed", to, subject: { job } });
}

function pay(world: World, job: Job): void {
  const worker = job.assigneeId === undefined ? undefined : world.accounts.get(job.assigneeId);
  job.status = "paid";
  setDue(world, job, undefined);
  if (worker === undefined) return;
  worker.earned += job.reward;
  worker.tally.paid++;
  world.accounts.put(worker);
  world.tell({ type: "job.paid", to: worker.id, subject: { job } });
}

function expire(world: World, job: Job): void {
  const worker = job.assigneeId === undefined ? undefined : world.accounts.get(job.assigneeId);
  // An assigned job stays with its assignee, whose late deliverable is then rejected with a reason.
  if (worker !== undefined && job.status === "assigned") earnReputation(world, worker, REPUTATION.missed);
  job.status = "expired";
  setDue(world, job, undefined);
}

/** Cancels the open jobs of a closed account. */
export function cancelJobsOf(world: World, posterId: string): void {
  for (const job of world.board)
    if (job.posterId === posterId && canApply(job)) {
      job.status = "cancelled";
      setDue(world, job, undefined);
    }
}

/** Records that an account was shown these jobs. */
export function noteSeen(world: World, account: Account, jobs: readonly Job[]): void {
  if (account.kind !== "specialist") return;
  for (const job of jobs) {
    if (job.seenBy.length >= MAX_SEEN_BY || job.seenBy.includes(account.id)) continue;
    job.seenBy.push(account.id);
    account.tally.seen++;
    world.jobs.put(job);
    world.accounts.put(account);
  }
}

function setDue(world: World, job: Job, step: "assign" | "review" | "pay" | "expire" | undefined, at = 0): void {
  job.due = step === undefined ? undefined : { at, step };
  world.jobs.put(job);
  if (step !== undefined) world.timers.note(at, `job:${job.id}`);
}

/** Draws a scaled wait between two lengths in seconds. */
function wait(world: World, lowS: number, highS: number): number {
  return Math.round((lowS + world.chance("wait").next() * (highS - lowS)) * SECOND * world.scale);
}

const OVER = new Set(["rejected", "paid", "expired", "cancelled"]);

/** Deletes the oldest finished jobs beyond the bound. */
function forgetOldJobs(world: World): void {
  if (world.board.length <= world.keep.jobs * 1.1) return;
  let excess = world.board.length - world.keep.jobs;
  const kept = world.board.filter((job) => {
    if (excess === 0 || !OVER.has(job.status)) return true;
    excess--;
    world.jobs.remove(job.id);
    world.inputs.remove(job.id);
    return false;
  });
  world.board.splice(0, world.board.length, ...kept);
}
