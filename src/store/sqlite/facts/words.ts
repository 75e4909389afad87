/** What specialists have said and made: counted in rows, and in memory for as long as there is no row of it. */
import type { DatabaseSync } from "node:sqlite";
import type { Handle } from "../../../core/ids.ts";
import { HOUR } from "../../../core/units.ts";
import type { Present } from "../../../live/present.ts";
import type { DraftIntent, RecentWords } from "../../../specialist/intent-draft.ts";
import type { FinishedRun } from "../../runs.ts";
import { numberOf, type Row } from "../rows.ts";

export interface Words {
  /** Our own words that were or may still be said, those of this run included: refused and cancelled ones do not count. */
  recent(run: FinishedRun, draft: DraftIntent, said: readonly DraftIntent[]): RecentWords;
  /** Whether a post is the specialist's own. */
  made(specialist: Handle, ref: string): boolean;
}

/** An answer to a vote names the post that was voted on, which is somebody else's. */
const OWN = ["posts.create", "posts.reply"];
const UNSAID = ["refused", "cancelled"];

/** What the four questions look at. */
interface Counted {
  readonly thread?: string | undefined;
  readonly author?: string | undefined;
  readonly textHash?: string | undefined;
  readonly createdAt: number;
}

export function createWords(db: DatabaseSync, present: Present): Words {
  const count = (where: string) =>
    db.prepare(`
      SELECT count(*) AS n FROM (
        SELECT 1 FROM main.intent WHERE specialist = ? AND ${where} AND text_hash IS NOT NULL AND state NOT IN ('refused', 'cancelled') LIMIT 0 + ?)`);
  const inThread = count("thread = ?");
  const toAuthor = count("author = ? AND created_at > ?");
  const inHour = count("created_at > ?");
  const sameText = count("text_hash = ? AND created_at > ?");
  const past = (cap: number): number => Math.min(cap, 1_000_000) + 1;
  const own = db.prepare(
    "SELECT 1 FROM main.intent WHERE specialist = ? AND created_ref = ? AND operation IN ('posts.create', 'posts.reply') LIMIT 1",
  );

  return {
    recent({ specialist, now, caps }, { thread, author, textHash }, said) {
      const hourAgo = now - HOUR;
      const textSince = now - caps.sameTextWithinMs;
      const memory = inMemory(present, specialist, said, now);
      const total = (cap: number, matches: (one: Counted) => boolean, rows: (limit: number) => Row | undefined): number => {
        if (cap === Infinity) return 0;
        const unsaid = memory.unsaid.filter(matches).length;
        const row = rows(past(cap) + unsaid);
        return (row === undefined ? 0 : numberOf(row, "n")) - unsaid + memory.said.filter(matches).length;
      };
      return {
        inThread: total(
          thread === undefined ? Infinity : caps.repliesPerThread,
          (one) => one.thread === thread,
          (limit) => inThread.get(specialist, thread ?? null, limit),
        ),
        toAuthorInHour: total(
          author === undefined ? Infinity : caps.repliesPerAuthorPerHour,
          (one) => one.author === author && one.createdAt > hourAgo,
          (limit) => toAuthor.get(specialist, author ?? null, hourAgo, limit),
        ),
        inHour: total(
          caps.repliesPerHour,
          (one) => one.createdAt > hourAgo,
          (limit) => inHour.get(specialist, hourAgo, limit),
        ),
        sameText: total(
          textHash === undefined || caps.sameTextWithinMs === 0 ? Infinity : 1,
          (one) => one.textHash === textHash && one.createdAt > textSince,
          (limit) => sameText.get(specialist, textHash ?? null, textSince, limit),
        ),
      };
    },
    made(specialist, ref) {
      for (const intent of present.of(specialist).intents.values())
        if (intent.createdRef === ref && OWN.includes(intent.operation)) return true;
      return own.get(specialist, ref) !== undefined;
    },
  };
}

/** Said and without a row; and those whose row says so, but which were refused or cancelled since. */
function inMemory(present: Present, specialist: Handle, drafts: readonly DraftIntent[], now: number) {
  const said: Counted[] = drafts.map(({ thread, author, textHash }) => ({ thread, author, textHash, createdAt: now }));
  const unsaid: Counted[] = [];
  for (const intent of present.of(specialist).intents.values()) {
    if (intent.textHash === undefined) continue;
    const isUnsaid = UNSAID.includes(intent.state);
    if (!intent.isStored && !isUnsaid) said.push(intent);
    else if (intent.isStored && isUnsaid) unsaid.push(intent);
  }
  return { said, unsaid };
}
