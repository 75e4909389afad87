/** Operations of the job market: browse, offer, get, apply, submit. */
import { HOUR } from "../../core/units.ts";
import { Refusal } from "../server/exchange.ts";
import { trustOf } from "../wire/wire.ts";
import { amount, given, newestFirst, optionalText, optionalTexts, paging, text } from "../server/request-fields.ts";
import { applyFor, canApply, noteSeen, offerJob, submit } from "../world/job-lifecycle.ts";
import { spend } from "../world/money.ts";
import type { Job } from "../world/rows.ts";
import { jobAt, lags } from "./handler.ts";
import type { Handler } from "./handler.ts";

const MAX_REWARD = 1_000_000;
const MAX_APPLICATIONS = 500;
const DEFAULT_DEADLINE_MS = HOUR;
/** Above this reward a newcomer may not apply, if `trustGates` is on. */
const TRUSTED_REWARD = 100;

const listJobs: Handler = (world, { query, account }) => {
  const { status, skill } = query;
  const { page, next } = newestFirst(
    world.board,
    (job) =>
      (status === undefined || status === "available" ? canApply(job) : job.status === status) &&
      (skill === undefined || job.skills.includes(skill)) &&
      (query["poster"] === undefined || job.posterId === query["poster"]) &&
      (query["assignee"] === undefined || job.assigneeId === query["assignee"]) &&
      !(job.posterId === account.id && lags(world, job.createdAt)),
    paging(query),
  );
  noteSeen(world, account, page);
  return {
    status: 200,
    of: "jobs",
    list: page.map((job) => ({ type: "job", job, whole: false })),
    ...(next === undefined ? {} : { next }),
  };
};

const createJob: Handler = (world, asked) => {
  const { body, account } = asked;
  const now = world.clock.now();
  const deadline = optionalText(body, ["deadline", "due_at"], 40);
  const deadlineAt = deadline === undefined ? now + DEFAULT_DEADLINE_MS : Date.parse(deadline);
  if (Number.isNaN(deadlineAt) || deadlineAt <= now)
    throw new Refusal(422, "invalid_field", `"deadline" must be a time to come, in ISO 8601`);
  const reward = amount(body, ["reward", "budget"], MAX_REWARD);
  const input = given(body, ["input"]);
  const offer = {
    title: text(body, ["title"], 200),
    description: text(body, ["description"], 20_000),
    skills: optionalTexts(body, ["skills", "required_skills"], 20) ?? [],
    reward,
    deadlineAt,
    ...(input === undefined ? {} : { input }),
  };
  const waiting = spend(world, asked, "jobs.create", reward);
  if (waiting !== undefined) return waiting;
  return { status: 201, view: { type: "job", job: offerJob(world, account, offer), whole: true } };
};

const getJob: Handler = (world, { target, account }) => {
  const job = jobAt(world, target);
  noteSeen(world, account, [job]);
  return { status: 200, view: { type: "job", job, whole: true } };
};

const applyForJob: Handler = (world, asked) => {
  const { account, target } = asked;
  const job = jobAt(world, target);
  if (job.posterId === account.id) throw new Refusal(403, "own_job", "nobody applies for a job of their own");
  if (job.applications.some(({ accountId }) => accountId === account.id))
    throw new Refusal(409, "already_applied", "you have applied for this job");
  if (!canApply(job)) throw new Refusal(409, "job_not_open", `the job is ${job.status}`);
  if (job.applications.length >= MAX_APPLICATIONS) throw new Refusal(409, "job_full", "the job takes no more applications");
  if (world.assume.trustGates && job.reward > TRUSTED_REWARD && trustOf(account.reputation) === "newcomer")
    throw new Refusal(403, "trust_too_low", "this job is for members and above");
  const message = optionalText(asked.body, ["message", "cover_letter", "proposal"], 5_000);
  const waiting = spend(world, asked, "jobs.apply");
  if (waiting !== undefined) return waiting;
  return { status: 201, view: { type: "application", job, application: applyFor(world, account, job, message) } };
};

const submitJob: Handler = (world, asked) => {
  const { account, target, body } = asked;
  const job = jobAt(world, target);
  if (job.assigneeId !== account.id) throw new Refusal(403, "not_assignee", "the job is not assigned to you");
  if (!canSubmit(job)) throw new Refusal(409, "already_submitted", `the job is ${job.status}`);
  const deliverable = given(body, ["deliverable", "result"]);
  if (deliverable === undefined) throw new Refusal(422, "invalid_field", `"deliverable" is required`);
  const waiting = spend(world, asked, "jobs.submit");
  if (waiting !== undefined) return waiting;
  submit(world, account, job, deliverable);
  return { status: 200, view: { type: "job", job, whole: false } };
};

/** A job takes a submission while assigned, and past the deadline too, in order to reject it as late. */
function canSubmit(job: Job): boolean {
  return job.status === "assigned" || (job.status === "expired" && job.submission === undefined);
}

export const JOBS = {
  "jobs.list": listJobs,
  "jobs.create": createJob,
  "jobs.get": getJob,
  "jobs.apply": applyForJob,
  "jobs.submit": submitJob,
};
