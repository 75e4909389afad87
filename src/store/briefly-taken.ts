/** The error of a store that no process at work has: a command has it, and ends soon. */
import { Retryable, type ErrorDetails } from "../core/errors.ts";

/** A command that needs the store waits for its turn. */
export class BrieflyTaken extends Retryable {
  constructor(message: string, details?: ErrorDetails) {
    super("store_in_use", message, details);
  }
}
