/** One handling on virtual time: nothing to read, nothing to fetch, and an end that the test decides. */
import { shippedProfile } from "../../src/contract/profile/profile.ts";
import { asEventId, asHandle, newIntentId } from "../../src/core/ids.ts";
import { silentLogger } from "../../src/core/log.ts";
import { seededRandom } from "../../src/core/random.ts";
import { SECOND } from "../../src/core/units.ts";
import { virtualClock, type VirtualClock } from "../../src/core/virtual-clock.ts";
import { operationRules } from "../../src/gateway/permissions.ts";
import type { SpecialistDefinition } from "../../src/specialist/definition.ts";
import type { RunRequest } from "../../src/specialist/run-request.ts";
import { createSpecialist } from "../../src/specialist/specialist.ts";

export interface Handling {
  readonly clock: VirtualClock;
  /** Ends the runtime. */
  readonly ending: AbortController;
  readonly request: RunRequest;
}

/** A handling of `scout`, whose account is `agt_1`, within 5 s. */
export function handlingOf(over: Partial<RunRequest> = {}, definition: Partial<SpecialistDefinition> = {}): Handling {
  const clock = virtualClock();
  const ending = new AbortController();
  const ids = seededRandom("ids");
  const request: RunRequest = {
    event: { id: asEventId("post.created:p1"), kind: "post.created", payload: {}, hops: 0, beganAt: clock.now() },
    steps: new Map(),
    me: { handle: asHandle("scout"), id: "agt_1" },
    state: {},
    rules: operationRules(createSpecialist({ handle: "scout", ...definition }), shippedProfile("b"), clock),
    deadlineMs: 5 * SECOND,
    read: () => Promise.reject(new Error("nothing to read")),
    saveStep: () => Promise.resolve(),
    newIntentId: () => newIntentId(ids, 0),
    fetch: () => Promise.reject(new Error("nothing to fetch")),
    clock,
    log: silentLogger(),
    signal: ending.signal,
    ...over,
  };
  return { clock, ending, request };
}
