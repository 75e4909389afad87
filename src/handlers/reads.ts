/** A handler's reads: charged like any request, stored with the run, and suspending it when there is no room. */
import { Refused, Retryable } from "../core/errors.ts";
import { asJson } from "../core/json.ts";
import type { ReadCall, ReadResult } from "../specialist/run-request.ts";
import type { Member } from "../gateway/member.ts";
import type { Clock } from "../core/clock.ts";
import type { Breakers } from "../gateway/breakers.ts";
import type { Gateway } from "../gateway/gateway.ts";
import { endOfRefusal } from "../gateway/end-of-refusal.ts";
import { refuseSecrets } from "../gateway/secret-refusal.ts";
import type { Scrubber } from "../core/scrubber.ts";

/** The parts of the runtime that a read of a handler uses. */
export interface ReadDependencies {
  readonly clock: Clock;
  readonly gateway: Gateway;
  readonly breakers: Breakers;
  /** Knows every secret: none leaves in the target of a read. */
  readonly scrubber: Scrubber;
}

/** Throws `Refused` where the network or a rule says no to this read for good, `Retryable` where nothing complete came back. */
export async function readFor(parts: ReadDependencies, member: Member, call: ReadCall, signal: AbortSignal): Promise<ReadResult> {
  refuseSecrets(parts.scrubber, `${call.operation}: the target`, call.target);
  const answer = await parts.gateway.read(member, call, { signal });
  if (answer.kind === "waits") return { suspendedUntil: answer.until, reason: answer.message };
  if (answer.kind === "refused") throw new Refused(answer.code, answer.message);
  if (answer.kind === "gone") throw new Retryable("read_lost", "the read was lost");
  const { outcome } = answer;
  switch (outcome.class) {
    case "confirmed":
      if (outcome.items !== undefined) return { value: outcome.items.map(asJson) };
      return { value: outcome.record === undefined ? (outcome.body ?? null) : asJson(outcome.record) };
    case "limited":
    case "unauthorized":
      return { suspendedUntil: parts.clock.now() + 1_000, reason: `the network answered ${outcome.status}` };
    case "refused": {
      const ends = endOfRefusal(parts, member, call.operation, outcome);
      if (ends.kind === "stop") return { suspendedUntil: ends.until, reason: ends.message };
      const Class = ends.kind === "never" ? Refused : Retryable;
      throw new Class(outcome.code, `${call.operation}: ${outcome.message}`);
    }
    case "pending":
      throw new Retryable("read_pending", `${call.operation} waits for the network's Guardian`);
    case "never-left":
    case "unknown":
      throw new Retryable("read_failed", `${call.operation}: ${outcome.reason}`);
  }
}
