/** The result of checking a watched object. */
import type { NewEvent } from "../contract/event.ts";

export interface WatchChange<Progress> {
  readonly state: string;
  readonly progress: Progress;
  /** The watch has ended. */
  readonly ended: boolean;
  readonly events: readonly NewEvent[];
  /** True if anything had changed: this speeds polling up. */
  readonly news: boolean;
}
