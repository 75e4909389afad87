/**
 * Folds: at intervals, as part of a commit, everything that facts have changed is written as rows, and the mark moves on. A start reads
 * the rows and the few facts after the mark. Work that begins and ends between two folds is written once.
 */
import type { DatabaseSync } from "node:sqlite";
import type { Handle } from "../../core/ids.ts";
import { SECOND } from "../../core/units.ts";
import type { EventFields } from "../../live/facts.ts";
import { isUnchanged, type LiveEvent } from "../../live/live-event.ts";
import { isLive, type LiveIntent } from "../../live/live-intent.ts";
import type { Present } from "../../live/present.ts";
import { createIntentRows } from "./intent-rows.ts";

/** Bounds of the facts that a start reads again. */
const FOLD_MS = 5 * SECOND;
const FOLD_FACTS = 4_096;
/**
 * Keys whose cells are written at once, between two folds too: cells of a key share a row, and those of many keys take a turn of the event
 * loop for so many rows. A fold for them would write all open work that often.
 */
const MOST_KEYS = 512;
/** Settled intents are written in slices of this size, because a fold of thousands would delay everything else. */
const SETTLED_AT_ONCE = 128;

/** State of a row of `open` whose fact says everything. */
export const UNCHANGED = "{}";
/** Kinds of rows in the table `open`. */
export const OPEN = { event: 0, attempt: 1, late: 2 } as const;

export interface Folding {
  /** Called before each commit: folds if it is due, or writes the cells of many keys. */
  atCommit(now: number): void;
  /** Writes all changes, inside a transaction the caller owns. */
  readonly fold: () => void;
  /**
   * The same as the store closes: from then on each commit folds. Whoever opens it next may begin above the mark, and would take what is
   * stored meanwhile for done.
   */
  readonly foldToEnd: () => void;
  /** Called when the quota's cells contain every fact so far. */
  countedAll(): void;
}

export interface FoldParts {
  readonly present: Present;
  /** Keys whose cells are only in memory. */
  readonly countedKeys: () => number;
  /** Writes the quota's cells. */
  readonly flushQuota: () => void;
}

export function createFolding(db: DatabaseSync, { present, countedKeys, flushQuota }: FoldParts): Folding {
  const put = db.prepare("INSERT OR REPLACE INTO main.open (kind, seq, state) VALUES (?, ?, ?)");
  const drop = db.prepare("DELETE FROM main.open WHERE kind = ? AND seq = ?");
  const mark = db.prepare("UPDATE main.mark SET seq = ? WHERE one = 1");
  const quotaMark = db.prepare("UPDATE main.mark SET quota = ? WHERE one = 1");
  const intents = createIntentRows(db);
  const { touched } = present;
  let folded = present.last;
  let foldedAt = 0;
  let isEnding = false;

  const writeEvent = (event: LiveEvent): void => {
    if (!present.events.has(event.seq)) return void drop.run(OPEN.event, event.seq); // done
    put.run(OPEN.event, event.seq, isUnchanged(event) ? UNCHANGED : openText(event));
    event.isStored = true;
    if (event.state === "parked") present.dropEvent(event);
  };

  const writeIntents = (all: readonly LiveIntent[]): void => {
    if (all.length > 0) intents.write(all);
    const specialists = new Set<Handle>();
    for (const intent of all) {
      intent.isStored = true;
      if (isLive(intent)) specialists.add(intent.specialist);
      else present.dropIntent(intent);
    }
    for (const specialist of specialists) present.queueIntents(specialist);
  };
  /** A start may read the facts of these again: they lead to the same end, or the row already contains them. */
  const writeSettled = (): void => {
    writeIntents([...touched.settled]);
    for (const intent of touched.settled) touched.intents.delete(intent);
    touched.settled.clear();
  };

  const fold = (): void => {
    for (const seq of touched.queued) put.run(OPEN.event, seq, UNCHANGED); // before those that left the queue
    for (const event of touched.events) writeEvent(event);
    writeIntents([...touched.intents]);
    touched.settled.clear();
    for (const attempt of touched.attempts) {
      const isOpen = present.attempts.has(attempt.seq);
      if (isOpen) put.run(OPEN.attempt, attempt.seq, UNCHANGED);
      else drop.run(OPEN.attempt, attempt.seq);
      attempt.isStored = isOpen;
    }
    for (const part of [touched.events, touched.queued, touched.intents, touched.attempts]) part.clear();
    flushQuota();
    mark.run(present.last);
    folded = present.last;
  };

  return {
    atCommit(now) {
      if (touched.settled.size >= SETTLED_AT_ONCE) writeSettled();
      const facts = present.last - folded;
      const isDue = isEnding || facts >= FOLD_FACTS || now - foldedAt >= FOLD_MS;
      if (facts === 0 || !isDue) return countedKeys() >= MOST_KEYS ? flushQuota() : undefined;
      foldedAt = now;
      fold();
    },
    fold,
    foldToEnd() {
      isEnding = true;
      fold();
    },
    countedAll: () => void quotaMark.run(present.last),
  };
}

function openText({ state, attempts, crashes, begun, beganAt, notBefore, note, parkedAt, last }: LiveEvent): string {
  const kept: EventFields = { state, attempts, crashes, begun, beganAt, notBefore, note, parkedAt };
  return JSON.stringify({ ...kept, last });
}
