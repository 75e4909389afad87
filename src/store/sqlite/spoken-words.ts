/** Texts and objects of specialists, for the brakes: read from the rows of each once, then kept up to date in memory. */
import type { DatabaseSync } from "node:sqlite";
import type { Handle } from "../../core/ids.ts";
import { DROPPED, DRY_RUN } from "../../outbox/intent.ts";
import { sqlStates } from "./intent-states.ts";
import { isSaid } from "../../live/live-intent.ts";
import type { Present } from "../../live/present.ts";
import { Words, type Spoken } from "../../live/words.ts";
import type { FinishedRun } from "../runs.ts";
import type { DraftIntent, RecentWords } from "../../specialist/intent-draft.ts";
import { maybeText, numberOf, textOf, type Row } from "./columns.ts";

export interface SpokenWords {
  /** Own texts that were or may still be sent, those of this run included: refused and cancelled ones do not count. */
  recent(run: FinishedRun, draft: DraftIntent, before: readonly DraftIntent[]): RecentWords;
  /** True if a post is the specialist's own. */
  made(specialist: Handle, ref: string): boolean;
}

/** Bound of everything kept, over all specialists: beyond it, all is dropped and read again when needed. */
const MOST_KEPT = 1_000_000;
const NOTHING: RecentWords = { inThread: 0, toAuthorInHour: 0, inHour: 0, sameText: 0 };

export function createSpokenWords(db: DatabaseSync, present: Present): SpokenWords {
  const spoken = db.prepare(`
    SELECT seq, operation, thread, author, text_hash, created_at, created_ref, (state IN ${sqlStates(DROPPED)} AND coalesce(code, '') <> '${DRY_RUN}') AS unsaid
    FROM main.intent INDEXED BY intent_of WHERE specialist = ? AND text_hash IS NOT NULL`);
  const own = db.prepare(`
    SELECT 1 FROM main.intent INDEXED BY intent_of
    WHERE specialist = ? AND created_ref = ? AND operation IN ('posts.create', 'posts.reply') LIMIT 1`);
  const known = new Map<Handle, Words>();
  let kept = 0;

  const read = (specialist: Handle): Words => {
    const words = new Words();
    for (const row of spoken.iterate(specialist)) {
      const one = spokenRow(row);
      if (present.intents.has(one.seq)) continue; // as memory says
      if (numberOf(row, "unsaid") === 0) words.say(one);
      words.make(one);
    }
    for (const some of [present.of(specialist).intents.values(), present.settledOf(specialist)])
      for (const intent of some) {
        if (isSaid(intent)) words.say(intent);
        words.make(intent);
      }
    kept += words.size;
    if (kept > MOST_KEPT) {
      known.clear();
      kept = words.size;
    }
    known.set(specialist, words);
    return words;
  };
  const of = (specialist: Handle): Words => known.get(specialist) ?? read(specialist);
  present.onSpoken = (intent, change) => {
    const words = known.get(intent.specialist);
    if (words === undefined) return;
    if (change === "said") words.say(intent);
    else if (change === "unsaid") words.takeBack(intent);
    else words.make(intent);
    kept++;
  };

  return {
    recent(run, draft, before) {
      const { repliesPerThread, repliesPerAuthorPerHour, repliesPerHour, sameTextWithinMs } = run.caps;
      const counts = [repliesPerThread, repliesPerAuthorPerHour, repliesPerHour].some((cap) => cap !== Infinity) || sameTextWithinMs > 0;
      return counts ? of(run.specialist).recent(draft, before, run.caps, run.now) : NOTHING;
    },
    made(specialist, ref) {
      if (!of(specialist).mayHaveMade(ref)) return false;
      for (const intent of present.settledOf(specialist)) if (intent.createdRef === ref) return true;
      return own.get(specialist, ref) !== undefined;
    },
  };
}

function spokenRow(row: Row): Spoken {
  return {
    seq: numberOf(row, "seq"),
    operation: textOf(row, "operation"),
    thread: maybeText(row, "thread"),
    author: maybeText(row, "author"),
    textHash: maybeText(row, "text_hash"),
    createdAt: numberOf(row, "created_at"),
    createdRef: maybeText(row, "created_ref"),
  };
}
