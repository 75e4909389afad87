/** What a look at a followed object brought. */
import type { NewEvent } from "../contract/event.ts";
import type { JsonObject } from "../core/json.ts";

export interface WatchChange {
  readonly state: string;
  readonly data: JsonObject;
  /** No longer followed. */
  readonly ended: boolean;
  readonly events: readonly NewEvent[];
  /** Whether anything had changed: what speeds polling up. */
  readonly news: boolean;
}
