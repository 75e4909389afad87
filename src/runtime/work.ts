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
  /** Time of the last query for due work. */
  checkedAt: number;
}

const BITS = Object.fromEntries(WORK_KINDS.map((kind, i) => [kind, 1 << i])) as { readonly [kind in WorkKind]: number };
export const ALL_WORK = (1 << WORK_KINDS.length) - 1;

export function createWork(member: Member): Work {
  return { member, busy: 0, again: 0, unchecked: ALL_WORK, begun: false, checkedAt: 0 };
}

/** The bit of a kind in `busy`, `again` and `unchecked`. */
export function bitOf(kind: WorkKind): number {
  return BITS[kind];
}

export function isBusy({ busy }: Work, kind: WorkKind): boolean {
  return (busy & bitOf(kind)) !== 0;
}
