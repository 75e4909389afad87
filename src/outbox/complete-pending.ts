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
  const named = parts.profile.operations.get(intent.operation)?.completes;
  if (named === undefined) return undefined;
  const reference = named === "target" ? intent.target : intent.input[named];
  return typeof reference === "string" || typeof reference === "number" ? complete(parts, member, reference, created) : undefined;
}

async function complete(parts: OutboxDependencies, member: Member, reference: string | number, created: string | undefined): Promise<void> {
  const { store, clock, announcer } = parts;
  const { handle } = member.specialist;
  const pending = await store.intents({ specialist: handle, states: ["pending"], limit: MAX_PENDING });
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
