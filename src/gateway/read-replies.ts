/** Completes a post by the list of its replies, on a network that shows them beside it. */
import type { Call } from "../contract/call.ts";
import type { Post } from "../contract/records.ts";
import { cursorOf } from "../client/next-page.ts";
import { freshItems } from "../client/paging.ts";
import { defined } from "../core/defined.ts";
import type { GatewayAnswer } from "./gateway-answer.ts";

/** Most pages of one post's replies; further ones make the post incomplete, so that it proves the absence of nothing. */
const MAX_PAGES = 10;

/** The post with its replies, each page a read of its own. The answer to a page that did not come is the answer to all. */
export async function withReplies(
  answer: GatewayAnswer,
  { operation, target }: { readonly operation: string; readonly target: string | undefined },
  read: (call: Call) => Promise<GatewayAnswer>,
): Promise<GatewayAnswer> {
  if (answer.kind !== "answered" || answer.outcome.class !== "confirmed" || answer.outcome.record?.kind !== "post") return answer;
  const replies: Post[] = [];
  const seen = new Set<string>();
  let cursor: string | undefined;
  let unread = 0;
  for (let page = 0; page < MAX_PAGES; page++) {
    const next = await read({ operation, ...defined({ target }), input: defined({ cursor }) });
    if (next.kind !== "answered" || next.outcome.class !== "confirmed") return next;
    const { items = [], skipped = 0, lacksMoved, next: place } = next.outcome;
    const fresh = freshItems(items, seen);
    replies.push(...fresh.filter((item) => item.kind === "post"));
    unread += skipped + (lacksMoved ? 1 : 0);
    cursor = place === undefined || fresh.length === 0 ? undefined : cursorOf(place);
    if (cursor === undefined) break;
  }
  const isWhole = cursor === undefined && unread === 0;
  const { record } = answer.outcome;
  const whole: Post = { ...record, replies, replyCount: isWhole ? replies.length : Math.max(record.replyCount ?? 0, replies.length + 1) };
  return { ...answer, outcome: { ...answer.outcome, record: whole } };
}
