/** The error of a store that can no longer be written: nothing may leave, and only a restart reads the truth. */
import { Fatal } from "../core/errors.ts";

export function isStoreLost(error: unknown): error is Fatal {
  return error instanceof Fatal && error.code === "store_lost";
}
