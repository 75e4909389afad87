/** Applies a decision of the network's Guardian: it resolves the intent that waited for it. */
import { createdIdIn, objectOf, referenceOf, type Meaning } from "./interpret.ts";
import type { Intent, IntentChange, TargetOf } from "../outbox/intent.ts";
import { announceIntent } from "../outbox/announce.ts";
import { follow } from "../outbox/follow-up.ts";
import type { Member } from "../gateway/member.ts";
import type { WebhookDependencies } from "./webhook-dependencies.ts";

/** Pending intents searched for the one decided on. */
const MAX_PENDING = 100;

type Decided = Extract<Meaning, { readonly kind: "decision" }>;

/** Returns the result of the delivery: one that fits no single intent is kept for a person. */
export async function decidePending(
  parts: WebhookDependencies,
  member: Member,
  { decision, body, word }: Decided,
): Promise<{ readonly state: "done" | "parked"; readonly note?: string }> {
  const { store, clock, profile, announcer } = parts;
  const object = objectOf(body, profile.webhooks, word);
  const reference = referenceOf(profile, object);
  const intent = intentFor(await pendingOf(parts, member), reference, body);
  if (intent === undefined) return { state: "parked", note: `${word}: no single action of ours waits for it` };
  const change: IntentChange<TargetOf<"remote-approval">> =
    decision === "rejected"
      ? { state: "refused", code: "approval_rejected", message: "the network's Guardian rejected it" }
      : { state: "confirmed", ...createdRef(createdIdIn(object)) };
  const now = clock.now();
  const { events, watches } = follow(member, intent, change, now);
  if (await store.moveIntent({ seq: intent.seq, by: "remote-approval", change, now, events, watches })) {
    announceIntent(announcer, member, intent, change, now);
    parts.wake(member, "events");
    parts.wake(member, "intents");
  }
  return { state: "done" };
}

function pendingOf({ store }: WebhookDependencies, member: Member): Promise<readonly Intent[]> {
  return store.intents({ specialist: member.specialist.handle, states: ["pending"], limit: MAX_PENDING });
}

/** Matches by the reference in the intent's answer; without one only if a single intent is possible. */
function intentFor(pending: readonly Intent[], reference: string | undefined, body: object): Intent | undefined {
  const referred = reference === undefined ? undefined : pending.find(({ message }) => message?.includes(`(${reference})`) === true);
  if (referred !== undefined) return referred;
  const text = JSON.stringify(body);
  const named = pending.filter(
    ({ operation, target }) => text.includes(`"${operation}"`) && (target === undefined || text.includes(`"${target}"`)),
  );
  const candidates = named.length > 0 ? named : pending;
  return candidates.length === 1 ? candidates[0] : undefined;
}

function createdRef(id: string | undefined): { readonly createdRef?: string } {
  return id === undefined ? {} : { createdRef: id };
}
