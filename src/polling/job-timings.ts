/** Learnt delays of this network until a job is assigned, reviewed and paid; kept over restarts. */
import type { Clock } from "../core/clock.ts";
import { MINUTE } from "../core/units.ts";
import { learnDelay, NOTHING_LEARNT, readDelay, storeDelay, type LearntDelay } from "../limits/learnt-delay.ts";
import type { NetworkStateChange, NetworkStateRow } from "../store/network-state.ts";
import { JOB_STAGES, type JobStage } from "./job-cadence.ts";

export interface JobTimings {
  of(stage: JobStage): LearntDelay;
  /** Records that it had not happened after `afterMs`, and had after `byMs`. Returns true if that changes the estimate much. */
  saw(stage: JobStage, span: { readonly afterMs: number; readonly byMs: number }): boolean;
  /** Restores the state stored by an earlier process. */
  restore(rows: readonly NetworkStateRow[]): void;
}

const KIND = "job-delay";
const KEEP_EVERY_MS = MINUTE;
/** Numbers of observations by this process at which the estimate counts as changed. */
const NEWS_AT: readonly number[] = [1, 3, 9, 27];

export function createJobTimings(clock: Clock, keep: (change: NetworkStateChange) => void): JobTimings {
  const learnt = new Map<JobStage, LearntDelay>();
  const keptAt = new Map<JobStage, number>();
  const seen = new Map<JobStage, number>();
  const of = (stage: JobStage): LearntDelay => learnt.get(stage) ?? NOTHING_LEARNT;
  return {
    of,
    saw(stage, span) {
      learnt.set(stage, learnDelay(of(stage), span));
      const times = (seen.get(stage) ?? 0) + 1;
      seen.set(stage, times);
      const now = clock.now();
      if (now - (keptAt.get(stage) ?? -Infinity) >= KEEP_EVERY_MS) {
        keptAt.set(stage, now);
        keep({ put: [{ kind: KIND, name: stage, data: storeDelay(of(stage)) }], drop: [] });
      }
      return NEWS_AT.includes(times);
    },
    restore(rows) {
      for (const { kind, name, data } of rows) {
        const stage = JOB_STAGES.find((one) => one === name);
        if (kind === KIND && stage !== undefined) learnt.set(stage, readDelay(data));
      }
    },
  };
}
