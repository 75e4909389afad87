/** What a look at a followed object brought. */
import type { NewEvent } from "../contract/event.ts";

export interface WatchChange<Progress> {
  readonly state: string;
  readonly progress: Progress;
  /** No longer followed. */
  readonly ended: boolean;
  readonly events: readonly NewEvent[];
  /** Whether anything had changed: what speeds polling up. */
  readonly news: boolean;
}
