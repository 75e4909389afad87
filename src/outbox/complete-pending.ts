/** Completes an action that waits for another one of ours, such as the answer to a challenge. */
import type { Member } from "../gateway/member.ts";
import type { OutboxDependencies } from "./outbox-dependencies.ts";
import { announceIntent } from "./announce.ts";
import { follow } from "./follow-up.ts";
import { reopenUnproven } from "./reopen.ts";
import type { Intent } from "./intent.ts";

/** Pending actions searched for the one that is completed. */
const MAX_PENDING = 100;

/** Called when an action is confirmed: if it completes another, which its input names by the network's reference, that has happened too. */
export function completePending(
  parts: OutboxDependencies,
  member: Member,
  intent: Intent,
  created: string | undefined,
): Promise<void> | undefined {
  if (parts.profile.operations.get(intent.operation)?.completes === undefined) return undefined;
  return pendingOf(parts, member).then((pending) => complete(parts, member, intent, { created, pending }));
}

/** Called at the start: a process may have ended after the answer was stored and before it completed anything. */
export async function completeLeftPending(parts: OutboxDependencies, member: Member): Promise<void> {
  const completing = [...parts.profile.operations.values()].filter(({ completes }) => completes !== undefined);
  const pending = completing.length === 0 ? [] : await pendingOf(parts, member);
  if (pending.length === 0) return;
  const { handle } = member.specialist;
  for (const { name } of completing)
    for (const intent of await parts.store.intents({ specialist: handle, operation: name, states: ["confirmed"], limit: MAX_PENDING }))
      await complete(parts, member, intent, { created: intent.createdRef, pending });
}

function pendingOf({ store }: OutboxDependencies, member: Member): Promise<readonly Intent[]> {
  return store.intents({ specialist: member.specialist.handle, states: ["pending"], limit: MAX_PENDING });
}

async function complete(
  parts: OutboxDependencies,
  member: Member,
  { operation, target, input }: Intent,
  { created, pending }: { readonly created: string | undefined; readonly pending: readonly Intent[] },
): Promise<void> {
  const { store, clock, profile, announcer } = parts;
  const named = profile.operations.get(operation)?.completes ?? "target";
  const reference = named === "target" ? target : input[named];
  if (typeof reference !== "string" && typeof reference !== "number") return;
  const completed = pending.find(({ message }) => message?.endsWith(`(${reference})`) === true);
  if (completed === undefined) return;
  const change = { state: "confirmed", ...(created === undefined ? {} : { createdRef: created }) } as const;
  const now = clock.now();
  const { events, watches } = follow(member, completed, change, now);
  if (!(await store.moveIntent({ seq: completed.seq, by: "remote-approval", change, now, events, watches }))) return;
  announceIntent(announcer, member, completed, change, now);
  await reopenUnproven(parts, member, completed.operation);
  parts.wake(member, "intents");
}
