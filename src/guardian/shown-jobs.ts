/** A specialist's job board for display: its watched jobs in columns by status, each with the last action on it. */
import { JOB_STATUSES } from "../contract/records.ts";
import { defined } from "../core/defined.ts";
import { asHandle } from "../core/ids.ts";
import { asOf, type IntentState } from "../outbox/intent.ts";
import { type BoardJob } from "../store/job-board.ts";
import type { Store } from "../store/store.ts";

export interface JobBoard {
  readonly columns: readonly JobColumn[];
}

export interface JobColumn {
  /** Its status for the specialist: a job's word, or `lost` or `gone`. */
  readonly state: string;
  /** The number of all. */
  readonly count: number;
  /** Those with the newest news first, at most 20. */
  readonly jobs: readonly JobShown[];
}

export interface JobShown {
  readonly id: string;
  /** Text of others, cut at 200 characters. */
  readonly title?: string;
  /** In network credits, as sent. */
  readonly reward?: number;
  readonly deadlineMs?: number;
  /** The last news of it, or the start of its watch. */
  readonly since: number;
  /** False once nothing more is expected of it. */
  readonly followed: boolean;
  /** It is ours, and its last deliverable was refused. */
  readonly undelivered?: true;
  readonly last?: LastAction;
}

/** The last action on a job. */
export interface LastAction {
  readonly id: string;
  readonly operation: string;
  readonly state: IntentState;
  /** The end of it, or the time at which it was decided. */
  readonly at: number;
  readonly code?: string;
  readonly message?: string;
  /** The number of the event that led to it, by which a timeline finds it. */
  readonly eventSeq: number;
}

const ORDER: readonly string[] = [...JOB_STATUSES, "lost", "gone"];
const place = (state: string): number => (ORDER.includes(state) ? ORDER.indexOf(state) : ORDER.length);

export async function readJobBoard(store: Store, { handle }: { readonly handle: string }, now: number): Promise<JobBoard> {
  const columns = await store.reads.jobBoard(asHandle(handle));
  return {
    columns: columns
      .toSorted((a, b) => place(a.state) - place(b.state))
      .map(({ state, count, jobs }) => ({ state, count, jobs: jobs.map((job) => shown(job, state, now)) })),
  };
}

function shown({ last, dueAt, ...job }: BoardJob, state: string, now: number): JobShown {
  const action = last && asOf(last, now);
  const isRefused = action?.operation === "jobs.submit" && action.state === "refused";
  return defined({
    ...job,
    followed: dueAt !== null,
    undelivered: state === "assigned" && isRefused ? (true as const) : undefined,
    last:
      action &&
      defined({
        id: action.id,
        operation: action.operation,
        state: action.state,
        at: action.settledAt ?? action.createdAt,
        code: action.code,
        message: action.message,
        eventSeq: action.eventSeq,
      }),
  });
}
