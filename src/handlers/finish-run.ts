/** The end of a handling that decided: checked for secrets, then stored in one transaction. */
import type { Clock } from "../core/clock.ts";
import type { Scrubber } from "../core/scrubber.ts";
import type { Member } from "../gateway/member.ts";
import { refuseSecrets } from "../gateway/secret-refusal.ts";
import { draftReceipt, receiptEvent } from "../outbox/receipts.ts";
import { brake } from "../specialist/brakes.ts";
import type { StoredIntent } from "../specialist/intent-draft.ts";
import type { RunResult } from "../specialist/run.ts";
import type { ClaimedEvent } from "../store/inbox.ts";
import type { Store } from "../store/store.ts";
import { withoutPile } from "./pile-up.ts";

/** A run that wants a secret stored has failed. The inputs of its actions were checked when it decided on them. */
export function withoutSecrets({ scrubber }: { readonly scrubber: Scrubber }, result: RunResult): RunResult {
  if (result.kind !== "finished") return result;
  try {
    if (result.state !== undefined) refuseSecrets(scrubber, "act.state", result.state);
    for (const { operation, target, label, data } of result.intents) {
      const beside = label === undefined && data === undefined ? target : [target ?? null, label ?? null, data ?? null];
      if (beside !== undefined) refuseSecrets(scrubber, `${operation}: its target or what goes with it`, beside);
    }
    return result;
  } catch (error) {
    return { kind: "failed", error };
  }
}

/** Ends a run in one transaction: its actions are stored as ready, as waiting for approval, or with the reason for a refusal. */
export function finishRun(
  parts: { readonly store: Store; readonly clock: Clock },
  { specialist }: Member,
  { seq }: ClaimedEvent,
  { state, intents }: Extract<RunResult, { readonly kind: "finished" }>,
): readonly StoredIntent[] {
  return parts.store.finishRun({
    seq,
    specialist: specialist.handle,
    now: parts.clock.now(),
    state,
    intents: intents.map((draft) => withoutPile(parts, specialist, draft)),
    caps: specialist.brakes,
    brake: (draft, words) => brake(draft, words, specialist.brakes),
    report: (draft, refusal) => receiptEvent(specialist, "intent.refused", draftReceipt(draft, refusal), draft.hops),
  });
}
