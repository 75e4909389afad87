/** The sending time of an intent, as far as it is known. Pure. */
import { UNDATED, type Intent } from "./intent.ts";

/** The time of sending or, if unsent, of the decision, in ms since the epoch; `UNDATED` if unknown. */
export function dateOf({ sentAt, createdAt }: Pick<Intent, "sentAt" | "createdAt">): number {
  return sentAt ?? createdAt;
}

/** The time of sending, if it was sent and the time is known. */
export function knownSentAt({ sentAt }: Pick<Intent, "sentAt">): number | undefined {
  return sentAt === UNDATED ? undefined : sentAt;
}

/** The time of its latest change: completed, else sent, else decided. */
export function lastWentOnAt(intent: Pick<Intent, "settledAt" | "sentAt" | "createdAt">): number {
  return intent.settledAt ?? knownSentAt(intent) ?? intent.createdAt;
}
