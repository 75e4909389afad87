/** Store interface of a specialist's job board: its watched jobs by status, the newest of each, with the last action on each. */
import type { Handle } from "../core/ids.ts";
import type { Intent } from "../outbox/intent.ts";

/** Jobs of one status that are listed. */
export const MAX_CARDS = 20;

export interface BoardJob {
  readonly id: string;
  /** Text of others, cut at 200 characters. Undefined if no check has shown it and no event of it is stored; so are the next two. */
  readonly title?: string;
  /** In network credits, as sent. */
  readonly reward?: number;
  readonly deadlineMs?: number;
  /** The last news of it, or the start of its watch. */
  readonly since: number;
  /** Null if it is no longer followed. */
  readonly dueAt: number | null;
  /** The last action on it, without its input. */
  readonly last?: Intent;
}

export interface BoardColumn {
  /** The status of its jobs. */
  readonly state: string;
  /** The number of all. */
  readonly count: number;
  /** At most {@link MAX_CARDS}, those with the newest news first. */
  readonly jobs: readonly BoardJob[];
}

export interface JobBoardStore {
  /** In two queries, however many jobs there are. */
  jobBoard(specialist: Handle): Promise<readonly BoardColumn[]>;
}
