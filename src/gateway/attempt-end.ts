/** The end of an attempt, as the quota counts it. */
import type { Outcome } from "../contract/call.ts";
import type { AttemptEnd } from "../limits/verdict.ts";
import type { Attempt } from "../outbox/intent.ts";

export function endOf(attempt: Attempt, outcome: Outcome): AttemptEnd {
  return {
    key: attempt.keyId,
    attempt: attempt.seq,
    lane: attempt.lane,
    cost: attempt.cost,
    admittedAt: attempt.startedAt,
    deadlineAt: attempt.deadlineAt,
    ending: endingOf(outcome),
    ...(outcome.class === "limited" && outcome.retryAfterMs !== undefined ? { retryAfterMs: outcome.retryAfterMs } : {}),
    ...("limits" in outcome && outcome.limits !== undefined ? { hints: outcome.limits } : {}),
  };
}

function endingOf(outcome: Outcome): AttemptEnd["ending"] {
  if (outcome.class === "never-left" || outcome.class === "limited") return outcome.class;
  return outcome.class === "unknown" ? "lost" : "answered";
}
