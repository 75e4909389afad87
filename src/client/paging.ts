/** Lists page by page, over any `send`: bounded, and safe against a server that repeats a page or a cursor for ever. */
import type { Call, Outcome } from "../contract/call.ts";
import type { NetworkRecord } from "../contract/records.ts";
import { Refused, Retryable } from "../core/errors.ts";
import { cursorOf } from "./next-page.ts";

/** Most pages of one list, unless the caller asks for fewer. */
export const MAX_PAGES = 50;

/** One page of a list. */
export interface Page {
  /** Items without those of earlier pages: a list that grows while it is read shows its items twice. */
  readonly items: readonly NetworkRecord[];
  /** Items that could not be read. */
  readonly skipped: number;
  /**
   * The reason for the end: only `complete` proves an absence. `bound` is our limit, `repeated` means that the server began to repeat
   * itself. Undefined if more may follow.
   */
  readonly end: "complete" | "bound" | "repeated" | undefined;
  readonly outcome: Extract<Outcome, { class: "confirmed" }>;
}

/** Options of a read page by page. */
export interface PagesOptions {
  /** Default and maximum: 50. Each page is a request. */
  readonly maxPages?: number;
}

/**
 * The pages of a list, the last one with its `end`. Throws `Refused` (the network's code, or `unauthorized`) if the network refuses, and
 * `Retryable` (`page_unavailable`) if a page did not come; earlier pages stay valid.
 */
export async function* pages(
  send: (call: Call) => Promise<Outcome>,
  call: Call,
  options: PagesOptions = {},
): AsyncGenerator<Page, void, void> {
  const maxPages = Math.min(options.maxPages ?? MAX_PAGES, MAX_PAGES);
  const cursors = new Set<string>();
  const seen = new Set<string>();
  let input = call.input;
  for (let page = 1; page <= maxPages; page++) {
    const outcome = confirmed(await send({ ...call, input }), call.operation);
    const items = outcome.items ?? [];
    const fresh = freshItems(items, seen);
    const cursor = outcome.next === undefined ? undefined : cursorOf(outcome.next);
    const isRepeat = (items.length > 0 && fresh.length === 0) || (cursor !== undefined && cursors.has(cursor));
    const end = cursor === undefined ? "complete" : isRepeat ? "repeated" : page === maxPages ? "bound" : undefined;
    yield { items: fresh, skipped: outcome.skipped ?? 0, end, outcome };
    if (end !== undefined || cursor === undefined) return;
    cursors.add(cursor);
    input = { ...input, cursor };
  }
}

/** The items of a page that no earlier page had, by id; `seen` learns them. A list that ignores its paging brings none on its second page. */
export function freshItems<Item extends NetworkRecord>(items: readonly Item[], seen: Set<string>): readonly Item[] {
  return items.filter((item) => {
    const id = "id" in item ? item.id : undefined;
    if (id === undefined) return true; // items without an id cannot be compared
    if (seen.has(id)) return false;
    seen.add(id);
    return true;
  });
}

function confirmed(outcome: Outcome, operation: string): Page["outcome"] {
  switch (outcome.class) {
    case "confirmed":
      return outcome;
    case "refused":
      throw new Refused(outcome.code, `${operation}: ${outcome.message}`);
    case "unauthorized":
      throw new Refused("unauthorized", `${operation}: the network does not accept the key`);
    case "limited":
    case "pending":
      throw new Retryable("page_unavailable", `${operation}: the network answers ${outcome.class}`);
    case "never-left":
    case "unknown":
      throw new Retryable("page_unavailable", `${operation}: ${outcome.reason}`);
  }
}
