/** Staggers the start: a few specialists at once, the rest one after the other, because thousands would peak together. */
import type { FirstDue } from "../store/sources.ts";
import type { Member } from "../gateway/member.ts";

/** Specialists that begin at once; the others follow at this distance. */
export const BEGIN_AT_ONCE = 32;
export const BEGIN_GAP_MS = 2;

/** Start times: specialists with due work first. One whose work is due before its turn begins then. */
export function startTimes(
  members: readonly Member[],
  dues: readonly FirstDue[],
  now: number,
): readonly { readonly member: Member; readonly at: number }[] {
  const byHandle = new Map(dues.map((row) => [row.specialist, row]));
  const dueOf = ({ specialist }: Member): FirstDue | undefined => byHandle.get(specialist.handle);
  const hasWork = (member: Member): boolean => (dueOf(member)?.workAt ?? Infinity) <= now;
  const line = [...members.filter(hasWork), ...members.filter((member) => !hasWork(member))];
  return line.map((member, place) => {
    const turn = now + Math.max(0, place + 1 - BEGIN_AT_ONCE) * BEGIN_GAP_MS;
    const { workAt = Infinity, lookAt = Infinity } = dueOf(member) ?? {};
    return { member, at: Math.min(turn, ...[workAt, lookAt].filter((time) => time > now)) };
  });
}
