/** One of the stores that a Guardian is over. */
import type { Guardian } from "./guardian.ts";

export interface GuardianPart {
  /** For messages, such as `web-1:4711`. */
  readonly name: string;
  readonly guardian: Guardian;
}
