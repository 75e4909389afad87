/** What is at work for a specialist, and what is to be asked next: the runtime's own bookkeeping, as bits, one for each kind of work. */
import type { Member } from "../gateway/member.ts";
import { WORK_KINDS, type WorkKind } from "../store/sources.ts";

export interface Work {
  readonly member: Member;
  /** Kinds at work now; each runs once at a time. */
  busy: number;
  /** Kinds asked for while they were at work: they run once more. */
  again: number;
  /** Kinds to be asked at the next look whatever the rows say: at first all of them, later those that failed. */
  unchecked: number;
  /** Set once the first passes were begun. */
  begun: boolean;
  /** When the rows were last asked what is due. */
  checkedAt: number;
}

const BITS = Object.fromEntries(WORK_KINDS.map((kind, i) => [kind, 1 << i])) as { readonly [kind in WorkKind]: number };
export const ALL_WORK = (1 << WORK_KINDS.length) - 1;

export function createWork(member: Member): Work {
  return { member, busy: 0, again: 0, unchecked: ALL_WORK, begun: false, checkedAt: 0 };
}

/** The place of a kind in `busy`, `again` and `unchecked`. */
export function bitOf(kind: WorkKind): number {
  return BITS[kind];
}

export function isBusy({ busy }: Work, kind: WorkKind): boolean {
  return (busy & bitOf(kind)) !== 0;
}
