/** The fate of actions that pile up behind a limit, as their options say. */
import type { Clock } from "../core/clock.ts";
import type { Announcer } from "../core/events.ts";
import type { Member } from "../gateway/member.ts";
import { announceIntent } from "../outbox/announce.ts";
import { SUPERSEDED } from "../outbox/intent.ts";
import type { DraftIntent, StoredIntent } from "../specialist/intent-draft.ts";
import type { Specialist } from "../specialist/specialist.ts";
import type { IntentKind } from "../store/outbox.ts";
import type { Store } from "../store/store.ts";

/** Refuses an action that is to be dropped while an earlier one of its kind waits. */
export function withoutPile({ store }: { readonly store: Store }, specialist: Specialist, draft: DraftIntent): DraftIntent {
  if (draft.pileUp !== "drop" || draft.refusal !== undefined || !store.hasWaiting(kindOf(specialist, draft))) return draft;
  return { ...draft, refusal: { code: "piled_up", message: `an earlier ${draft.operation} of its kind still waits to be sent` } };
}

/** Cancels the actions of other events that wait, if only the newest of their kind is to. */
export function supersede(
  { store, clock, announcer }: { readonly store: Store; readonly clock: Clock; readonly announcer: Announcer },
  member: Member,
  event: number,
  { draft, stored }: { readonly draft: DraftIntent | undefined; readonly stored: StoredIntent },
): void {
  if (draft?.pileUp !== "newest" || stored.state === "refused") return;
  const now = clock.now();
  for (const older of store.supersede(kindOf(member.specialist, draft), event, now))
    announceIntent(announcer, member, older, SUPERSEDED, now);
}

function kindOf({ handle }: Specialist, { operation, target, label }: DraftIntent): IntentKind {
  return { specialist: handle, operation, target, label };
}
