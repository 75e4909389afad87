/** Reads of a handler: charged like any request, stored with the run, and suspending it if the quota has no room. */
import { Retryable } from "../core/errors.ts";
import { asJson } from "../core/json.ts";
import { SECOND } from "../core/units.ts";
import type { HandlerRead, ReadCall } from "../specialist/run-request.ts";
import type { Member } from "../gateway/member.ts";
import type { Clock } from "../core/clock.ts";
import type { Breakers } from "../gateway/network-breakers.ts";
import type { Profile } from "../contract/profile/profile.ts";
import type { Gateway } from "../gateway/gateway.ts";
import { endOfRefusal } from "../gateway/end-of-refusal.ts";
import { isKeysFault, readError, readResult, shownFrom } from "../gateway/read-result.ts";
import { refuseSecrets } from "../gateway/secret-refusal.ts";
import type { Scrubber } from "../core/scrubber.ts";

/** Dependencies of a handler's read. */
export interface ReadDependencies {
  readonly clock: Clock;
  readonly gateway: Gateway;
  readonly breakers: Breakers;
  /** Knows every secret: none leaves in the target of a read. */
  readonly scrubber: Scrubber;
  readonly profile: Profile;
}

export interface ReadFor {
  readonly signal: AbortSignal;
  /** Start of the event's first handling: reads may not show its object yet. */
  readonly since: number;
  /** The id of the event. */
  readonly event?: string | undefined;
}

/** Delay after a 429 or 401: the gateway then states the wait. */
const ASK_GATEWAY_MS = SECOND;

/** Throws `Refused` if the network or a rule refuses this read for good, `Retryable` if no complete answer came. */
export async function readFor(
  parts: ReadDependencies,
  member: Member,
  call: ReadCall,
  { signal, since, event }: ReadFor,
): Promise<HandlerRead> {
  refuseSecrets(parts.scrubber, `${call.operation}: the target`, call.target);
  const result = readResult(await parts.gateway.read(member, call, { signal, event }));
  switch (result.kind) {
    case "value": {
      const { items, record, body } = result.value;
      if (items !== undefined) return { value: items.map(asJson) };
      return { value: record === undefined ? (body ?? null) : asJson(record) };
    }
    case "wait":
      return { suspendedUntil: result.until, reason: result.message };
    case "gone":
    case "refused": {
      const at = result.kind === "gone" ? shownFrom(result, since, parts) : undefined;
      if (at !== undefined)
        throw new Retryable(result.code, `${call.operation}: ${result.message}; what is new may not be shown yet`, { retryAt: at });
      const end = endOfRefusal(parts, member, call.operation, result);
      if (end.kind === "stop") return { suspendedUntil: end.until, reason: end.message };
      if (end.kind === "unknown") throw new Retryable(result.code, `${call.operation}: ${result.message}`);
      throw readError(result, call.operation);
    }
    case "failed":
      if (isKeysFault(result)) return { suspendedUntil: parts.clock.now() + ASK_GATEWAY_MS, reason: result.message };
      throw readError(result, call.operation);
  }
}
