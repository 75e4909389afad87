/** Handlings over facts: steps, the specialist's own value, and the fact that ends a run with all its intents. */
import type { DatabaseSync } from "node:sqlite";
import type { NewEvent } from "../../contract/event.ts";
import { Refused } from "../../core/errors.ts";
import type { Handle } from "../../core/ids.ts";
import type { JsonObject } from "../../core/json.ts";
import { DAY } from "../../core/units.ts";
import type { IntentSeed } from "../../live/facts.ts";
import type { Present } from "../../live/present.ts";
import type { DraftIntent, IntentRefusal, StoredIntent } from "../../specialist/intent-draft.ts";
import type { FinishedRun, RunStore } from "../runs.ts";
import type { Commits } from "./commits.ts";
import type { ControlTable } from "./control-table.ts";
import { OPEN } from "./fold.ts";
import { RESTORED_CODE, RESTORED_MESSAGE, type RestoreDetection, type RestoredTable } from "./restore-detection.ts";
import { objectOf } from "./columns.ts";
import type { InsertEvent } from "./inbox.ts";
import type { IntentRows } from "./intent-rows.ts";
import type { FactLog } from "./fact-log.ts";
import type { SpokenWords } from "./spoken-words.ts";

export interface RunParts {
  readonly present: Present;
  readonly commits: Commits;
  readonly log: FactLog;
  readonly intents: IntentRows;
  readonly words: SpokenWords;
  readonly insertEvent: InsertEvent;
  readonly guardian: ControlTable;
  readonly restored: RestoredTable;
}

/** Bounds of the specialists' own values that are kept in memory. */
const MAX_STATES = 10_000;
const MAX_STATE_LENGTH = 4_096;

/** An event that ends this late after it came gets a row that keeps its identity: facts are pruned by the time they came. */
const LATE_MS = DAY;

interface Decided {
  readonly seed: IntentSeed;
  readonly stored: StoredIntent;
  readonly review: DraftIntent["review"];
  readonly receipt: NewEvent | undefined;
}

export function createRuns(
  db: DatabaseSync,
  { present, commits, log, intents, words, insertEvent, guardian, restored }: RunParts,
): RunStore {
  const state = createStates(db);
  const step = db.prepare("INSERT INTO step (event_seq, name, value) VALUES (?, ?, ?) ON CONFLICT DO NOTHING");
  const forget = db.prepare("DELETE FROM step WHERE event_seq = ?");
  const late = db.prepare(`INSERT OR REPLACE INTO main.open (kind, seq, state) VALUES (${OPEN.late}, ?, ?)`);
  const decide = createDecide({ present, intents, words });

  /** The rows of a run beside its fact: most runs have none. */
  const writeBeside = (
    run: FinishedRun,
    decided: readonly Decided[],
    { hasSteps, isLate }: { readonly hasSteps: boolean; readonly isLate: boolean },
  ): void =>
    commits.add(() => {
      if (hasSteps) forget.run(run.seq);
      if (isLate) late.run(run.seq, JSON.stringify({ at: run.now }));
      if (run.state !== undefined) state.save(run.specialist, run.state, run.now);
      for (const { stored, review } of decided)
        if (review !== undefined) guardian.ask({ intent: stored.id, ...review, askedAt: run.now }, run.specialist);
    });

  const finish = (run: FinishedRun, isOrdered = false): readonly StoredIntent[] => {
    const event = present.events.get(run.seq);
    if (event?.isClaimed !== true || event.specialist !== run.specialist)
      throw new Refused("run_superseded", `event ${run.seq} of ${run.specialist} is no longer handled by this run`);
    // A person's order is new.
    const doubt = isOrdered || run.intents.length === 0 ? undefined : restored.doubtful(run.seq, run.now);
    const decided = decide(run, doubt);
    const isLate = run.now - event.createdAt > LATE_MS;
    if (event.hasSteps || isLate || run.state !== undefined || decided.some(({ review }) => review !== undefined))
      writeBeside(run, decided, { hasSteps: event.hasSteps, isLate });
    const { specialist, seq, now } = run;
    log.add({ seq: log.next, fact: "run", event: seq, specialist, at: now, intents: decided.map(({ seed }) => seed) });
    for (const { receipt } of decided) if (receipt !== undefined) insertEvent(receipt, now);
    return decided.map(({ stored }) => stored);
  };

  return {
    loadState: (specialist) => state.load(specialist),
    async saveStep(seq, name, value) {
      commits.add(() => void step.run(seq, name, JSON.stringify(value)));
      const event = present.events.get(seq);
      if (event !== undefined) event.hasSteps = true;
      await commits.synced();
    },
    // Nothing of a run leaves before an admission, which reaches the disk together with all earlier writes.
    finishRun: (run) => finish(run),
    async recordRun(event, run) {
      const fact = log.addEvent(event, run.now, true);
      const live = fact === undefined ? undefined : present.events.get(fact.seq);
      if (live === undefined) throw new Refused("run_superseded", `event ${event.id} of ${event.specialist} exists already`);
      live.isClaimed = true;
      const stored = finish({ ...run, seq: live.seq }, true);
      await commits.synced();
      return stored;
    },
  };
}

/** Returns the result of each draft, and changes nothing. */
type Decide = (run: FinishedRun, doubt: RestoreDetection | undefined) => readonly Decided[];

function createDecide({ present, intents, words }: Pick<RunParts, "present" | "intents" | "words">): Decide {
  /** The intent of an earlier run may have created its object already. */
  const resolved = (draft: DraftIntent, drafts: readonly DraftIntent[]): DraftIntent => {
    const { targetIntent } = draft;
    if (targetIntent === undefined || draft.target !== undefined || drafts.some(({ id }) => id === targetIntent)) return draft;
    const earlier = present.byId(targetIntent) ?? intents.byId(targetIntent);
    return earlier?.state === "confirmed" && earlier.createdRef !== undefined ? { ...draft, target: earlier.createdRef } : draft;
  };
  /** Recognises its own posts by id, also if the network does not name the author. */
  const ownPost = ({ specialist }: { readonly specialist: Handle }, { operation, target }: DraftIntent): IntentRefusal | undefined =>
    operation === "posts.reply" && target !== undefined && words.made(specialist, target)
      ? { code: "own_post", message: "a specialist does not answer itself" }
      : undefined;

  return (run: FinishedRun, doubt: RestoreDetection | undefined): readonly Decided[] => {
    const refused = new Set<string>();
    const said: DraftIntent[] = [];
    const doubtOf = (draft: DraftIntent): RestoreDetection | undefined => (draft.effect === "idempotent" ? undefined : doubt);
    return run.intents.map((draft) => {
      const refusal =
        draft.refusal ??
        ownPost(run, draft) ??
        (draft.targetIntent !== undefined && refused.has(draft.targetIntent)
          ? { code: "depends_on_refused", message: "the creation of its target was refused" }
          : undefined) ??
        (draft.textHash === undefined ? undefined : run.brake(draft, words.recent(run, draft, said)));
      if (refusal !== undefined) refused.add(draft.id);
      else if (draft.textHash !== undefined) said.push(draft);
      const seed = seedOf(resolved(draft, run.intents), refusal, doubtOf(draft));
      const { state } = seed;
      return {
        seed,
        stored: { id: draft.id, state, ...reasonOf(refusal, doubtOf(draft)) },
        review: state === "proposed" ? draft.review : undefined,
        receipt: refusal === undefined ? undefined : run.report(draft, refusal),
      };
    });
  };
}

/** An intent that a restored store may have sent starts in doubt; one that waits becomes so later. */
function seedOf(draft: DraftIntent, refusal: IntentRefusal | undefined, doubt: RestoreDetection | undefined): IntentSeed {
  const { review, expiresAt: asked } = draft;
  const waits = draft.targetIntent !== undefined && draft.target === undefined;
  const state = refusal !== undefined ? "refused" : review !== undefined ? "proposed" : doubt === undefined || waits ? "ready" : "in_doubt";
  const times = [asked, review?.expiresAt].filter((at) => at !== undefined); // a question without an answer by then is withdrawn
  const reason = reasonOf(refusal, doubt);
  const isDoubtful = doubt !== undefined && refusal === undefined;
  return {
    id: draft.id,
    ordinal: draft.ordinal,
    operation: draft.operation,
    target: draft.target,
    targetIntent: draft.targetIntent,
    input: draft.input,
    effect: draft.effect,
    lane: draft.lane,
    thread: draft.thread,
    author: draft.author,
    textHash: draft.textHash,
    conflictKey: draft.conflictKey,
    hops: draft.hops,
    label: draft.label,
    data: draft.data,
    expiresAt: times.length === 0 ? undefined : Math.min(...times),
    state,
    code: reason?.code,
    message: reason?.message,
    everUnknown: isDoubtful ? true : undefined,
    sentAt: isDoubtful ? doubt.from : undefined,
  };
}

function reasonOf(refusal: IntentRefusal | undefined, doubt: RestoreDetection | undefined): IntentRefusal | undefined {
  return refusal ?? (doubt === undefined ? undefined : { code: RESTORED_CODE, message: RESTORED_MESSAGE });
}

/** The specialists' own values: rows, with copies of those in use. */
function createStates(db: DatabaseSync) {
  const read = db.prepare("SELECT state FROM specialist WHERE handle = ?");
  const write = db.prepare(`
    INSERT INTO specialist (handle, state, updated_at) VALUES (?1, ?2, ?3)
    ON CONFLICT (handle) DO UPDATE SET state = ?2, updated_at = ?3`);
  const texts = new Map<Handle, string>();
  const keep = (specialist: Handle, text: string): void => {
    texts.delete(specialist);
    if (text.length > MAX_STATE_LENGTH) return;
    if (texts.size >= MAX_STATES) texts.clear();
    texts.set(specialist, text);
  };
  return {
    load(specialist: Handle): JsonObject {
      const known = texts.get(specialist);
      if (known !== undefined) return JSON.parse(known) as JsonObject;
      const row = read.get(specialist);
      const value = row === undefined ? {} : objectOf(row, "state");
      keep(specialist, JSON.stringify(value));
      return value;
    },
    save(specialist: Handle, value: JsonObject, now: number): void {
      const text = JSON.stringify(value);
      write.run(specialist, text, now);
      keep(specialist, text);
    },
  };
}
