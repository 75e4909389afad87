/** The error of a store that can no longer be written: nothing may leave, and only a restart reads the truth. */
import { defined } from "../core/defined.ts";
import { Fatal } from "../core/errors.ts";

export interface LostStore {
  readonly error: Fatal;
  /** The time at which it was lost. */
  readonly since: number;
}

/** The loss for people, with the remedy of its reason: a restart mends no damaged file. */
export function lossShown({ error, since }: LostStore, message = error.message) {
  return { message, since, ...defined({ hint: error.details.hint }) };
}

export function isStoreLost(error: unknown): error is Fatal {
  return error instanceof Fatal && error.code === "store_lost";
}
