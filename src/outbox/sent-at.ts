/** When an intent was sent, as far as anybody knows. Pure. */
import { UNDATED, type Intent } from "./intent.ts";

/** When it was sent or, unsent, decided, in ms since the epoch; `UNDATED` where nobody knows. */
export function dateOf({ sentAt, createdAt }: Pick<Intent, "sentAt" | "createdAt">): number {
  return sentAt ?? createdAt;
}

/** When it was sent, where it was and the time is known. */
export function knownSentAt({ sentAt }: Pick<Intent, "sentAt">): number | undefined {
  return sentAt === UNDATED ? undefined : sentAt;
}

/** When it last went on: settled, else sent, else decided. */
export function lastWentOnAt(intent: Pick<Intent, "settledAt" | "sentAt" | "createdAt">): number {
  return intent.settledAt ?? knownSentAt(intent) ?? intent.createdAt;
}
