/** Requests of one lane on a quota: taken while there is room, and answered. */
import { charge, completeAttempt, takeable, type QuotaState } from "../../src/limits/quota.ts";

/** One lane with everything, so that these tests count windows and not lanes. */
export const ONE_LANE = { obligation: 100, reply: 0, act: 0, watch: 0, poll: 0, explore: 0 };

export function take(state: QuotaState, now: number, many: number): number {
  let taken = 0;
  while (taken < many && takeable(state, now, { lane: "obligation", cost: 1, obligations: 0 }).ok) {
    charge(state, now, "obligation", 1);
    taken++;
  }
  return taken;
}

export function answer(state: QuotaState, now: number, many: number): void {
  for (let i = 0; i < many; i++) completeAttempt(state, now, "obligation", 1, { answered: true });
}
