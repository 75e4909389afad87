/** The runtime behind a Guardian. */
import type { Handle } from "../core/ids.ts";
import type { Runtime } from "../runtime/runtime.ts";

/** A runtime at work. `has` is true for a specialist of its store: of a fleet, it knows breakers of others as they were when it began. */
export interface Live {
  readonly runtime: Runtime;
  readonly startedAt: number;
  readonly baseUrl: string;
  readonly has?: (specialist: Handle) => boolean;
}
