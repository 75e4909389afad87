/** Texts and objects of one specialist, as the brakes on conversation count them: a few bytes for each. */
import { HOUR } from "../core/units.ts";
import type { BrakeCaps, DraftIntent, RecentWords } from "../specialist/intent-draft.ts";

/** The fields of an intent that count. */
export interface Spoken {
  readonly seq: number;
  readonly operation: string;
  readonly thread: string | undefined;
  readonly author: string | undefined;
  readonly textHash: string | undefined;
  readonly createdAt: number;
  readonly createdRef: string | undefined;
}

/** An answer to a vote names the post, which belongs to someone else. */
const POSTS: readonly string[] = ["posts.create", "posts.reply"];
/** Length of the list of the last hour beyond which older entries are dropped. */
const TIDY_AFTER = 64;

export class Words {
  /** Texts in each thread, by the thread's print. */
  readonly #threads = new Map<number, number>();
  /** Last time of each text, by its print. */
  readonly #texts = new Map<number, number>();
  /** Prints of created objects. */
  readonly #made = new Set<number>();
  /** Of the last hour, oldest first. */
  #lately: { readonly seq: number; readonly at: number; readonly author: number | undefined }[] = [];

  /** Number of entries. */
  get size(): number {
    return this.#threads.size + this.#texts.size + this.#made.size + this.#lately.length;
  }

  /** Counts a text that was or may still be sent. */
  say({ seq, thread, author, textHash, createdAt }: Spoken): void {
    if (textHash === undefined) return;
    if (thread !== undefined) {
      const print = printOf(thread);
      this.#threads.set(print, (this.#threads.get(print) ?? 0) + 1);
    }
    const text = printOf(textHash);
    this.#texts.set(text, Math.max(createdAt, this.#texts.get(text) ?? 0));
    this.#lately.push({ seq, at: createdAt, author: author === undefined ? undefined : printOf(author) });
  }

  /** Removes a text that was refused or cancelled. The same text is not sent twice within the time that counts, so no earlier one is left. */
  takeBack({ seq, thread, textHash, createdAt }: Spoken): void {
    if (textHash === undefined) return;
    const left = thread === undefined ? 0 : (this.#threads.get(printOf(thread)) ?? 0) - 1;
    if (thread !== undefined && left <= 0) this.#threads.delete(printOf(thread));
    else if (thread !== undefined) this.#threads.set(printOf(thread), left);
    if (this.#texts.get(printOf(textHash)) === createdAt) this.#texts.delete(printOf(textHash));
    this.#lately = this.#lately.filter((one) => one.seq !== seq);
  }

  make({ operation, createdRef }: Spoken): void {
    if (createdRef !== undefined && POSTS.includes(operation)) this.#made.add(printOf(createdRef));
  }

  /** True if a post may be its own: a false positive is one in 10¹⁵. */
  mayHaveMade(ref: string): boolean {
    return this.#made.has(printOf(ref));
  }

  /** Counts for a draft, earlier drafts of its run included. Nothing is counted for an infinite cap. */
  recent(draft: DraftIntent, before: readonly DraftIntent[], caps: BrakeCaps, now: number): RecentWords {
    const { thread, author, textHash } = draft;
    const hourAgo = now - HOUR;
    if (this.#lately.length > TIDY_AFTER) this.#lately = this.#lately.filter(({ at }) => at > hourAgo);
    const lately = (by: number | undefined): number =>
      this.#lately.reduce((n, one) => n + (one.at > hourAgo && (by === undefined || one.author === by) ? 1 : 0), 0);
    const drafts = (matches: (one: DraftIntent) => boolean): number => before.filter(matches).length;
    const saidAt = textHash === undefined ? undefined : this.#texts.get(printOf(textHash));
    const isRepeat = saidAt !== undefined && saidAt > now - caps.sameTextWithinMs;
    return {
      inThread:
        thread === undefined || caps.repliesPerThread === Infinity
          ? 0
          : (this.#threads.get(printOf(thread)) ?? 0) + drafts((one) => one.thread === thread),
      toAuthorInHour:
        author === undefined || caps.repliesPerAuthorPerHour === Infinity
          ? 0
          : lately(printOf(author)) + drafts((one) => one.author === author),
      inHour: caps.repliesPerHour === Infinity ? 0 : lately(undefined) + before.length,
      sameText: textHash === undefined || caps.sameTextWithinMs === 0 ? 0 : (isRepeat ? 1 : 0) + drafts((one) => one.textHash === textHash),
    };
  }
}

/** A hash of 53 bits: two texts have the same once in 10¹⁵. */
function printOf(text: string): number {
  let [a, b] = [0x9e3779b9, 0x41c6ce57];
  for (let i = 0; i < text.length; i++) {
    const char = text.charCodeAt(i);
    a = Math.imul(a ^ char, 2_654_435_761);
    b = Math.imul(b ^ char, 1_597_334_677);
  }
  a = Math.imul(a ^ (a >>> 16), 2_246_822_507) ^ Math.imul(b ^ (b >>> 13), 3_266_489_909);
  b = Math.imul(b ^ (b >>> 16), 2_246_822_507) ^ Math.imul(a ^ (a >>> 13), 3_266_489_909);
  return (b >>> 0) * 2 ** 21 + (a >>> 11);
}
