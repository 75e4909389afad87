/** One webhook for all specialists of a Guardian: who keeps it, and whom a delivery means. */
import type { Profile } from "../contract/profile/profile.ts";
import { fieldPaths, firstAt } from "../contract/reading/field-path.ts";
import { readId } from "../contract/reading/values.ts";
import { isObject, parseJson } from "../core/json.ts";
import type { Member } from "../gateway/member.ts";
import { receiveDelivery } from "./process-deliveries.ts";
import type { VerifiedDelivery } from "./receiver/accept.ts";
import type { WebhookDependencies } from "./webhook-dependencies.ts";
import type { Handle } from "../core/ids.ts";
import { utf8 } from "./receiver/signatures.ts";

/** The specialist that keeps the webhook of all: the first that works. Undefined where each has its own. */
export function keeperOf({ webhooks }: Profile, members: readonly Member[]): Member | undefined {
  if (webhooks.recipient.length === 0) return undefined;
  return members.filter(({ retired }) => !retired).toSorted((a, b) => (a.specialist.handle < b.specialist.handle ? -1 : 1))[0];
}

/** The specialists that a delivery to one address means: that one, the named one, all if it names none, or none of ours. */
export function recipientsOf(
  { webhooks }: Profile,
  delivery: { readonly specialist: string; readonly body: Uint8Array },
  members: readonly Member[],
): readonly Member[] {
  const working = members.filter(({ retired }) => !retired);
  if (webhooks.recipient.length === 0) return working.filter(({ specialist }) => specialist.handle === delivery.specialist);
  const body = parseJson(utf8(delivery.body) ?? "");
  const named = isObject(body) ? firstAt(body, fieldPaths(webhooks.recipient), readId) : undefined;
  return named === undefined ? working : working.filter(({ specialist, accountId }) => specialist.handle === named || accountId === named);
}

/** Stores a delivery for each specialist that it means. Sent again after a full store, it is known to those who have it. */
export async function receiveForEach(
  parts: WebhookDependencies,
  delivery: VerifiedDelivery,
  members: readonly Member[],
  onAccepted: (handle: Handle) => void,
): Promise<"stored" | "known" | "full"> {
  let result: "stored" | "known" = "known";
  for (const member of recipientsOf(parts.profile, delivery, members)) {
    const { handle } = member.specialist;
    const one = await receiveDelivery(parts, member, { ...delivery, specialist: handle });
    if (one === "full") return one;
    onAccepted(handle);
    if (one === "stored") result = one;
  }
  return result;
}
