/** The error of a store that can no longer be written: nothing may leave, and only a restart reads the truth. */
import { Fatal } from "../core/errors.ts";

export interface LostStore {
  readonly error: Fatal;
  /** The time at which it was lost. */
  readonly since: number;
}

export function isStoreLost(error: unknown): error is Fatal {
  return error instanceof Fatal && error.code === "store_lost";
}
