/** The log of facts: each is inserted at the end of its table, and then applied to memory. */
import type { DatabaseSync } from "node:sqlite";
import type { NewEvent } from "../../contract/event.ts";
import type { EventFields, AnswerFact, AttemptFact, ChangeFact, EventFact, Fact, RunFact, IntentFields } from "../../live/facts.ts";
import { isObject, type JsonObject } from "../../core/json.ts";
import type { Present } from "../../live/present.ts";
import { readNote } from "../failure.ts";
import type { Commits } from "./commits.ts";
import type { Value } from "./insert-rows.ts";
import type { Numbers } from "./numbers.ts";
import type { ChangeRecorder } from "./row-changes.ts";

/** Called with each fact after it is applied: for oracles. */
export type Observe = (fact: Fact, present: Present) => void;

export interface FactLog {
  /** The number of the next fact. */
  readonly next: number;
  /** Adds a decided fact with the next number; it is committed with everything else of this turn. */
  add(fact: Fact): void;
  /** Adds an event if it is new. With the delivery that reported it and has no row of its own. */
  addEvent(event: NewEvent, at: number, begun: boolean, delivery?: string): EventFact | undefined;
}

/** The changed fields as JSON; null for undefined, because that replaces a value too. */
export function changeText(set: Partial<EventFields> | Partial<IntentFields>): string {
  return JSON.stringify(set, (_name, value: unknown) => (value === undefined ? null : value));
}

/** True if the change of a confirmed intent follows from its answer alone. */
function isStraight(set: Partial<IntentFields>, at: number): boolean {
  const { state, createdRef: _ref, settledAt, code, message, ...rest } = set;
  return state === "confirmed" && settledAt === at && code === undefined && message === undefined && Object.keys(rest).length === 0;
}

export interface LogParts {
  readonly present: Present;
  readonly commits: Commits;
  readonly numbers: Numbers;
  readonly observe?: Observe | undefined;
  readonly recorder?: FactRecorder | undefined;
}

/** Records the facts that are added. */
type FactRecorder = Pick<ChangeRecorder, "inserting">;

/** Items of lists as JSON: one that thousands of specialists are told of is written once. Most garbage collections keep them all. */
const texts = new WeakMap<JsonObject, string>();
/** Characters of a text that is kept. */
const MAX_KEPT = 16_384;

function textOfItem(item: JsonObject): string {
  const text = texts.get(item) ?? JSON.stringify(item);
  if (text.length <= MAX_KEPT) texts.set(item, text);
  return text;
}

export function createLog(db: DatabaseSync, { present, commits, numbers, observe, recorder }: LogParts): FactLog {
  const insert = createInserts(db, recorder);
  const take = <One extends Fact>(fact: One): One => {
    present.apply(fact);
    observe?.(fact, present);
    return fact;
  };
  const addOne = (fact: Fact): void => {
    insert.one(fact);
    take(fact);
  };
  const addNew = (fact: EventFact): EventFact | undefined => (insert.event(fact) ? take(fact) : undefined);
  return {
    get next() {
      return numbers.fact(present.last);
    },
    add: (fact) => commits.add(addOne, fact),
    addEvent(event, at, begun, delivery) {
      const { specialist, id, kind, thread, payload, via, hops } = event;
      const seq = numbers.fact(present.last);
      const text = via === "poll" && isObject(payload) ? textOfItem(payload) : JSON.stringify(payload);
      return commits.add(addNew, { fact: "event", seq, at, specialist, id, kind, thread, payload: text, via, hops, begun, delivery });
    },
  };
}

/** One insert for each kind of fact. */
function createInserts(db: DatabaseSync, recorder: FactRecorder | undefined) {
  const into = (table: string, columns: readonly string[], end = ""): ((...values: readonly Value[]) => boolean) => {
    const statement = db.prepare(`INSERT INTO main.${table} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")}) ${end}`);
    const record = recorder?.inserting(table, columns);
    return (...values) => {
      const isNew = statement.run(...values).changes === 1;
      if (isNew) record?.(values);
      return isNew;
    };
  };
  const event = into(
    "event",
    ["seq", "specialist", "id", "kind", "thread", "payload", "via", "hops", "begun", "delivery", "created_at"],
    "ON CONFLICT (specialist, id) DO NOTHING",
  );
  const run = into("run", ["seq", "event", "specialist", "at", "intents"]);
  const attempt = into("attempt", ["seq", "intent", "specialist", "key_id", "operation", "target", "lane", "cost", "at", "deadline_at"]);
  const answer = into("answer", ["seq", "attempt", "at", "outcome", "status", "ref", "note", "counted_at", "change"]);
  const change = into("change", ["seq", "kind", "subject", "at", "change", "failed_at"]);

  const addEvent = (f: EventFact): boolean =>
    event(f.seq, f.specialist, f.id, f.kind, f.thread ?? null, f.payload, f.via, f.hops, f.begun ? 1 : 0, f.delivery ?? null, f.at);
  const addRun = (f: RunFact): boolean =>
    run(f.seq, f.event, f.specialist, f.at, f.intents.length === 0 ? null : JSON.stringify(f.intents));
  const addAttempt = (f: AttemptFact): boolean =>
    attempt(f.seq, f.intent ?? null, f.specialist, f.key, f.operation, f.target ?? null, f.lane, f.cost, f.at, f.deadlineAt);
  const addAnswer = (f: AnswerFact): boolean => {
    const text = f.set === undefined ? null : isStraight(f.set, f.at) ? "" : changeText(f.set);
    const ref = f.set?.createdRef ?? null;
    return answer(f.seq, f.attempt, f.at, f.outcome, f.status ?? null, ref, f.note ?? null, f.countedAt ?? null, text);
  };
  const addChange = (f: ChangeFact): boolean => {
    const failedAt = f.of === "event" ? readNote(f.set.note).failure?.at : undefined;
    return change(f.seq, f.of === "event" ? 0 : 1, f.subject, f.at, changeText(f.set), failedAt ?? null);
  };
  return {
    event: addEvent,
    one(fact: Fact): boolean {
      switch (fact.fact) {
        case "event":
          return addEvent(fact);
        case "run":
          return addRun(fact);
        case "attempt":
          return addAttempt(fact);
        case "answer":
          return addAnswer(fact);
        case "change":
          return addChange(fact);
      }
    },
  };
}
