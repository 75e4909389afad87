/** How long this network takes to give a job, to judge a delivery and to pay, as looks have shown; kept over restarts. */
import type { Clock } from "../core/clock.ts";
import { MINUTE } from "../core/units.ts";
import { learnDelay, NOTHING_LEARNT, readDelay, storeDelay, type LearntDelay } from "../limits/learnt-delay.ts";
import type { NetworkStateChange, NetworkStateRow } from "../store/network-state.ts";
import { JOB_STAGES, type JobStage } from "./job-cadence.ts";

export interface JobTimings {
  of(stage: JobStage): LearntDelay;
  /** It had not happened after `afterMs`, and had after `byMs`. Answers whether that changes much of what is known. */
  saw(stage: JobStage, span: { readonly afterMs: number; readonly byMs: number }): boolean;
  /** Goes on from what an earlier process kept. */
  restore(rows: readonly NetworkStateRow[]): void;
}

const KIND = "job-delay";
const KEEP_EVERY_MS = MINUTE;
/** With so many of a kind seen by this process, what is known of it is not what it was. */
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
