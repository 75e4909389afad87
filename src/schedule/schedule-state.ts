/** How far a schedule is, as its row keeps it: read once, whoever wrote it, and written once. */
import { numberIn, textIn, type JsonObject } from "../core/json.ts";

export interface ScheduleState {
  /** Its times up to this moment are dealt with. Undefined where that is not known. */
  readonly doneUntil: number | undefined;
  /** The times that the row was written for, as one text; undefined in rows of the first version. */
  readonly timing: string | undefined;
  /** Runs that were due while nothing ran, and were left out. */
  readonly skipped: number;
  /** When a run was last put into the inbox. */
  readonly lastStarted: number | undefined;
  /** No definition asks for it now. A schedule may also never be due because it is over. */
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

/** Under the names that the first version gave them. */
export function storeScheduleState({ doneUntil, timing, skipped, lastStarted, dormant }: ScheduleState): JsonObject {
  return {
    ...(doneUntil === undefined ? {} : { cursor: doneUntil }),
    ...(timing === undefined ? {} : { timing }),
    skipped,
    ...(lastStarted === undefined ? {} : { lastStarted }),
    ...(dormant ? { resting: true } : {}),
  };
}
