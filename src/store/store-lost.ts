/** A store that cannot be written any more: nothing may leave, and only a new start reads the truth. */
import { Fatal } from "../core/errors.ts";

export function isStoreLost(error: unknown): error is Fatal {
  return error instanceof Fatal && error.code === "store_lost";
}
