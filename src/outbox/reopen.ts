/** Reads parked actions back again once another one of their kind is confirmed: that one can prove that reading back works. */
import type { Member } from "../gateway/member.ts";
import type { OutboxDependencies } from "./outbox-dependencies.ts";
import type { Intent } from "./intent.ts";

/** Most actions that are read back again at once. */
const MAX_REOPENED = 20;
const UNPROVEN = "absent_unproven";

/** Called when a read-back parks an action. One that a control has already failed to prove is left to a person. */
export function noteParked(
  { outbox }: OutboxDependencies,
  member: Member,
  { operation }: Intent,
  code: string | undefined,
  missed: number,
): void {
  if (code === UNPROVEN) outbox.unproven.of(member).set(operation, missed === 0);
}

/** Called when an action is confirmed. Asks the store once for each operation and process, and after each parked action. */
export function reopenUnproven(parts: OutboxDependencies, member: Member, operation: string): Promise<void> | undefined {
  const wanted = parts.outbox.unproven.of(member);
  if (wanted.get(operation) === false) return undefined;
  wanted.set(operation, false);
  return reopen(parts, member, operation);
}

async function reopen({ store, clock, wake }: OutboxDependencies, member: Member, operation: string): Promise<void> {
  const parked = await store.intents({ specialist: member.specialist.handle, operation, states: ["parked"], limit: MAX_REOPENED });
  const now = clock.now();
  const change = {
    state: "in_doubt",
    nextAt: now,
    code: "not_seen_yet",
    message: "read back again: another action can prove that it works",
  } as const;
  for (const { seq, code } of parked) if (code === UNPROVEN) await store.moveIntent({ seq, by: "reopening", change, now });
  if (parked.length > 0) wake(member, "doubts");
}
