/** Handlings in SQLite: steps, the specialist's own value, and the transaction that ends a run. */
import type { NewEvent } from "../../contract/event.ts";
import type { DatabaseSync } from "node:sqlite";
import { Refused } from "../../core/errors.ts";
import type { Handle } from "../../core/ids.ts";
import type { JsonObject } from "../../core/json.ts";
import { HOUR } from "../../core/units.ts";
import { DRY_RUN } from "../../outbox/intent.ts";
import type { FinishedRun, RunStore } from "../runs.ts";
import type { Commits } from "./commits.ts";
import type { InsertEvent } from "./inbox.ts";
import type { ControlTable } from "./controls.ts";
import { RESTORED_CODE, RESTORED_MESSAGE, type RestoreDetection, type RestoredTable } from "./restore-detection.ts";
import { maybeText, numberOf, objectOf, type Row } from "./rows.ts";
import type { DraftIntent, IntentRefusal, RecentWords, StoredIntent } from "../../specialist/intent-draft.ts";

export interface RunTables {
  readonly insertEvent: InsertEvent;
  readonly guardian: ControlTable;
  readonly restored: RestoredTable;
}

export function createRuns(db: DatabaseSync, commits: Commits, { insertEvent, guardian, restored }: RunTables): RunStore {
  const state = db.prepare("SELECT state FROM specialist WHERE handle = ?");
  const saveState = db.prepare(`
    INSERT INTO specialist (handle, state, updated_at) VALUES (?1, ?2, ?3)
    ON CONFLICT (handle) DO UPDATE SET state = ?2, updated_at = ?3`);
  const step = db.prepare("INSERT INTO step (event_seq, name, value) VALUES (?, ?, ?) ON CONFLICT DO NOTHING");
  const done = db.prepare(
    "UPDATE event SET state = 'done', crashes = 0, done_at = ? WHERE seq = ? AND specialist = ? AND state = 'running'",
  );
  const begun = db.prepare("UPDATE event SET state = 'running', began_at = ?1 WHERE specialist = ?2 AND id = ?3 RETURNING seq");
  const forget = db.prepare("DELETE FROM step WHERE event_seq = ?");
  const words = createRecentWords(db);
  const insert = createInsertIntent(db);
  const earlier = db.prepare("SELECT created_ref FROM intent WHERE id = ? AND state = 'confirmed'");
  // An answer to a vote names the post that was voted on, which is somebody else's. And where
  // posts, jobs and applications are each counted from 1, an id alone does not say what it is of.
  const own = db.prepare(
    "SELECT 1 FROM intent WHERE specialist = ? AND created_ref = ? AND operation IN ('posts.create', 'posts.reply') LIMIT 1",
  );

  /** An intent of an earlier run may have come to be already. */
  const resolved = (draft: DraftIntent): DraftIntent => {
    if (draft.targetIntent === undefined || draft.target !== undefined) return draft;
    const row = earlier.get(draft.targetIntent);
    const ref = row === undefined ? undefined : maybeText(row, "created_ref");
    return ref === undefined ? draft : { ...draft, target: ref };
  };
  /** Its own words are known by their id also where the network does not say who wrote them. */
  const ownPost = (run: FinishedRun, draft: DraftIntent): IntentRefusal | undefined =>
    draft.operation === "posts.reply" && draft.target !== undefined && own.get(run.specialist, draft.target) !== undefined
      ? { code: "own_post", message: "a specialist does not answer itself" }
      : undefined;

  const finish = (run: FinishedRun, ordered = false): readonly StoredIntent[] => {
    if (done.run(run.now, run.seq, run.specialist).changes !== 1)
      throw new Refused("run_superseded", `event ${run.seq} of ${run.specialist} is not being handled by this run any more`);
    forget.run(run.seq);
    if (run.state !== undefined) saveState.run(run.specialist, JSON.stringify(run.state), run.now);
    const refused = new Set<string>();
    // What a person orders is new.
    const doubt = ordered || run.intents.length === 0 ? undefined : restored.doubtful(run.seq, run.now);
    return run.intents.map((draft) => {
      const verdict: IntentRefusal | undefined =
        draft.refusal ??
        ownPost(run, draft) ??
        (draft.targetIntent !== undefined && refused.has(draft.targetIntent)
          ? { code: "depends_on_refused", message: "what it was about has been refused" }
          : undefined) ??
        (draft.textHash === undefined ? undefined : run.brake(draft, words(run, draft)));
      if (verdict !== undefined) {
        refused.add(draft.id);
        const receipt = run.report(draft, verdict);
        if (receipt !== undefined) insertEvent(receipt, run.now);
      }
      const stored = insert(run, resolved(draft), verdict, draft.effect === "idempotent" ? undefined : doubt);
      if (stored.state === "proposed" && draft.review !== undefined)
        guardian.ask({ intent: draft.id, ...draft.review, askedAt: run.now }, run.specialist);
      return stored;
    });
  };

  const record = (event: NewEvent, run: Omit<FinishedRun, "seq">): readonly StoredIntent[] => {
    const row = insertEvent(event, run.now) ? begun.get(run.now, event.specialist, event.id) : undefined;
    if (row === undefined) throw new Refused("run_superseded", `event ${event.id} of ${event.specialist} is known already`);
    return finish({ ...run, seq: numberOf(row, "seq") }, true);
  };

  return {
    async loadState(specialist: Handle): Promise<JsonObject> {
      const row = state.get(specialist);
      return row === undefined ? {} : objectOf(row, "state");
    },
    saveStep: (seq, name, value) => commits.hard(() => void step.run(seq, name, JSON.stringify(value))),
    // Nothing of a run leaves before an admission, which is on disk together with all that came before it.
    finishRun: (run) => commits.soft(() => finish(run)),
    recordRun: (event, run) => commits.hard(() => record(event, run)),
  };
}

function createInsertIntent(db: DatabaseSync) {
  const insert = db.prepare(`
    INSERT INTO intent (id, specialist, event_seq, ordinal, operation, target, target_intent, input, effect, lane, thread, author,
      text_hash, conflict_key, hops, label, data, state, expires_at, code, message, created_at, settled_at, ever_unknown, sent_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`);
  return (run: FinishedRun, draft: DraftIntent, refusal: IntentRefusal | undefined, doubt: RestoreDetection | undefined): StoredIntent => {
    const stored = firstState(draft, refusal, doubt);
    const why = refusal ?? (doubt === undefined ? undefined : { code: RESTORED_CODE, message: RESTORED_MESSAGE });
    insert.run(
      draft.id,
      run.specialist,
      run.seq,
      draft.ordinal,
      draft.operation,
      draft.target ?? null,
      draft.targetIntent ?? null,
      JSON.stringify(draft.input),
      draft.effect,
      draft.lane,
      draft.thread ?? null,
      draft.author ?? null,
      draft.textHash ?? null,
      draft.conflictKey,
      draft.hops,
      draft.label ?? null,
      draft.data === undefined ? null : JSON.stringify(draft.data),
      stored,
      expiryOf(draft),
      why?.code ?? null,
      why?.message ?? null,
      run.now,
      refusal === undefined ? null : run.now,
      doubt === undefined || refusal !== undefined ? 0 : 1,
      doubt === undefined || refusal !== undefined ? null : doubt.from,
    );
    return { id: draft.id, state: stored, ...why };
  };
}

/** In doubt from the start is what a store that was put back from a copy may have sent; what waits for something is so later. */
function firstState(draft: DraftIntent, refusal: IntentRefusal | undefined, doubt: RestoreDetection | undefined): StoredIntent["state"] {
  if (refusal !== undefined) return "refused";
  if (draft.review !== undefined) return "proposed";
  const waits = draft.targetIntent !== undefined && draft.target === undefined;
  return doubt === undefined || waits ? "ready" : "in_doubt";
}

/**
 * Our own words that were or may still be said: refused and cancelled ones do not count, save those that only a dry run withheld.
 * Counts stop just past their cap, so that a talkative specialist costs no more than a quiet one.
 */
function createRecentWords(db: DatabaseSync) {
  const count = (where: string) =>
    db.prepare(`
      SELECT count(*) AS n FROM (
        SELECT 1 FROM intent WHERE specialist = ? AND ${where} AND text_hash IS NOT NULL
          AND (state NOT IN ('refused', 'cancelled') OR code = '${DRY_RUN}') LIMIT 0 + ?)`);
  const inThread = count("thread = ?");
  const toAuthor = count("author = ? AND created_at > ?");
  const inHour = count("created_at > ?");
  const sameText = count("text_hash = ? AND created_at > ?");
  const number = (row: Row | undefined): number => (row === undefined ? 0 : numberOf(row, "n"));
  const past = (cap: number): number => Math.min(cap, 1_000_000) + 1;
  return (run: FinishedRun, draft: DraftIntent): RecentWords => {
    const { specialist, now, caps } = run;
    const hourAgo = now - HOUR;
    const { thread, author, textHash } = draft;
    return {
      inThread:
        thread === undefined || caps.repliesPerThread === Infinity
          ? 0
          : number(inThread.get(specialist, thread, past(caps.repliesPerThread))),
      toAuthorInHour:
        author === undefined || caps.repliesPerAuthorPerHour === Infinity
          ? 0
          : number(toAuthor.get(specialist, author, hourAgo, past(caps.repliesPerAuthorPerHour))),
      inHour: caps.repliesPerHour === Infinity ? 0 : number(inHour.get(specialist, hourAgo, past(caps.repliesPerHour))),
      sameText:
        textHash === undefined || caps.sameTextWithinMs === 0
          ? 0
          : number(sameText.get(specialist, textHash, now - caps.sameTextWithinMs, 1)),
    };
  };
}

/** A question that the Guardian has not answered in time is withdrawn. */
function expiryOf({ expiresAt, review }: DraftIntent): number | null {
  const times = [expiresAt, review?.expiresAt].filter((at) => at !== undefined);
  return times.length === 0 ? null : Math.min(...times);
}
