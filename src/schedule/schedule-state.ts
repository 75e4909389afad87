/** Progress of a schedule, stored in its row: parsed and written in one place. */
import { numberIn, textIn, type JsonObject } from "../core/json.ts";

export interface ScheduleState {
  /** Its slots up to this time are processed. Undefined if unknown. */
  readonly doneUntil: number | undefined;
  /** The timing for which the row was written, as one text; undefined in rows of the first version. */
  readonly timing: string | undefined;
  /** Runs that were due while nothing ran, and were skipped. */
  readonly skipped: number;
  /** Time at which a run was last put into the inbox. */
  readonly lastStarted: number | undefined;
  /** No definition uses it now. A schedule may also have no due time because it has no further slot. */
  readonly dormant: boolean;
}

export function readScheduleState(stored: JsonObject | undefined): ScheduleState {
  return {
    doneUntil: numberIn(stored, "cursor"),
    timing: textIn(stored, "timing"),
    skipped: numberIn(stored, "skipped") ?? 0,
    lastStarted: numberIn(stored, "lastStarted"),
    dormant: stored?.["resting"] === true,
  };
}

/** Stored under the names of the first version. */
export function storeScheduleState({ doneUntil, timing, skipped, lastStarted, dormant }: ScheduleState): JsonObject {
  return {
    ...(doneUntil === undefined ? {} : { cursor: doneUntil }),
    ...(timing === undefined ? {} : { timing }),
    skipped,
    ...(lastStarted === undefined ? {} : { lastStarted }),
    ...(dormant ? { resting: true } : {}),
  };
}
