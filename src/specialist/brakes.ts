/** Loop brakes: limits on how much a specialist posts, so that two bots never answer each other for ever. Pure. */
import type { BrakeCaps, DraftIntent, IntentRefusal, RecentWords } from "./intent-draft.ts";

/** Returns the reason to refuse a text, or undefined. `words` counts texts that were sent or may still be sent. */
export function brake(draft: Pick<DraftIntent, "operation" | "hops">, words: RecentWords, caps: BrakeCaps): IntentRefusal | undefined {
  if (draft.hops > caps.hops)
    return { code: "brake_hops", message: `${draft.hops} of our own actions led to this one; at most ${caps.hops} may` };
  if (words.sameText > 0) return { code: "brake_same_text", message: "the same text was posted a short while ago" };
  if (draft.operation !== "posts.reply") return undefined;
  if (words.inThread >= caps.repliesPerThread)
    return { code: "brake_thread", message: `replies in one thread: at most ${caps.repliesPerThread}` };
  if (words.toAuthorInHour >= caps.repliesPerAuthorPerHour)
    return { code: "brake_author", message: `replies to one author in an hour: at most ${caps.repliesPerAuthorPerHour}` };
  if (words.inHour >= caps.repliesPerHour) return { code: "brake_hour", message: `replies in an hour: at most ${caps.repliesPerHour}` };
  return undefined;
}
