/** Tracks the running and requested work of a specialist, as bits, one for each kind of work. */
import type { Member } from "../gateway/member.ts";
import { WORK_KINDS, type WorkKind } from "../store/sources.ts";

export interface Work {
  readonly member: Member;
  /** Running kinds; each runs once at a time. */
  busy: number;
  /** Kinds requested while they ran: they run once more. */
  again: number;
  /** Kinds to check whatever the rows say: at first all, later those that failed. */
  unchecked: number;
  /** True once the first passes began. */
  begun: boolean;
  /** True while its past is still being read: it begins once that is here. */
  awaitsPast: boolean;
  /** Time of the last query for due work. */
  checkedAt: number;
}

const BITS = Object.fromEntries(WORK_KINDS.map((kind, i) => [kind, 1 << i])) as { readonly [kind in WorkKind]: number };
export const ALL_WORK = (1 << WORK_KINDS.length) - 1;

export function createWork(member: Member): Work {
  return { member, busy: 0, again: 0, unchecked: ALL_WORK, begun: false, awaitsPast: false, checkedAt: 0 };
}

interface Beginning {
  readonly stopping: AbortSignal;
  readonly begin: () => void;
  readonly failed: (error: unknown) => void;
}

/** Begins once the past of the specialist is here, unless the runtime stops before. Further calls meanwhile change nothing. */
export function whenHere(work: Work, past: Promise<void>, { stopping, begin, failed }: Beginning): void {
  if (work.awaitsPast) return;
  work.awaitsPast = true;
  const over = (then: () => void): void => {
    work.awaitsPast = false;
    if (!stopping.aborted) then();
  };
  past.then(
    () => over(begin),
    (error: unknown) => over(() => failed(error)),
  );
}

/** The bit of a kind in `busy`, `again` and `unchecked`. */
export function bitOf(kind: WorkKind): number {
  return BITS[kind];
}

export function isBusy({ busy }: Work, kind: WorkKind): boolean {
  return (busy & bitOf(kind)) !== 0;
}
