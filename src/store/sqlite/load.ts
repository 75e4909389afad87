/** Loads the present state at the start: the rows of the last fold, and the facts after it. */
import type { DatabaseSync } from "node:sqlite";
import type { OutcomeClass } from "../../contract/call.ts";
import type { Via } from "../../contract/event.ts";
import { Fatal } from "../../core/errors.ts";
import { asEventId, asHandle, asKeyId, type Handle } from "../../core/ids.ts";
import { isObject } from "../../core/json.ts";
import { liveEvent, type LiveEvent } from "../../live/live-event.ts";
import type {
  EventFields,
  AnswerFact,
  AttemptFact,
  ChangeFact,
  EventFact,
  Fact,
  IntentSeed,
  RunFact,
  IntentFields,
} from "../../live/facts.ts";
import { Present } from "../../live/present.ts";
import { laneOf } from "./quota-statements.ts";
import { maybeNumber, maybeText, numberOf, textOf, type Row } from "./columns.ts";
import { OPEN, UNCHANGED } from "./fold.ts";
import { createIntentRows, type IntentRows } from "./intent-rows.ts";

/** Intents read between two looks at how many of them have to be in memory. */
const INTENTS_AT_ONCE = 1_024;

export interface Loaded {
  readonly present: Present;
  /** Answers that no cell of the quota contains yet. */
  readonly uncounted: readonly { readonly attempt: AttemptFact; readonly countedAt: number }[];
}

/** Loads the present state. Changes no row. */
export function load(rows: FactRows): Loaded {
  const present = new Present();
  const { seq: mark, quota } = rows.mark();
  present.last = Math.max(mark, quota);
  for (const { seq, specialist, isUnchanged } of rows.waitingEvents()) {
    const event = isUnchanged && present.queued(seq, specialist) ? undefined : rows.openEvent(seq);
    if (event !== undefined) present.putEvent(event);
  }
  let loaded = 0;
  for (const intent of rows.intents.live()) {
    // Between two runs, since a run's intents stay together.
    if (intent.ordinal === 0 && ++loaded % INTENTS_AT_ONCE === 0) present.queueIntents(intent.specialist);
    present.putIntent(intent);
  }
  for (const attempt of rows.openAttempts()) present.putAttempt({ ...attempt, isStored: true });
  const uncounted: Loaded["uncounted"][number][] = [];
  for (const fact of inOrder(rows.factsAfter(mark))) {
    recall(fact, present, rows);
    if (fact.fact === "answer" && fact.countedAt !== undefined && fact.seq > quota) {
      const attempt = present.attempts.get(fact.attempt);
      if (attempt !== undefined) uncounted.push({ attempt, countedAt: fact.countedAt });
    }
    present.apply(fact);
    if (fact.fact === "event") expectSteps(present.events.get(fact.seq));
    if (fact.fact === "run") markStored(fact, present, rows);
  }
  return { present, uncounted };
}

/** A handler may have begun with it, and its steps are rows that no fact tells of. */
function expectSteps(event: LiveEvent | undefined): void {
  if (event !== undefined) event.hasSteps = true;
}

/** Settled intents get their rows before the mark moves: they count by these, and not twice. */
function markStored(run: RunFact, present: Present, rows: FactRows): void {
  for (const { id } of run.intents) {
    const intent = present.byId(id);
    if (intent !== undefined) intent.isStored = rows.intents.has(intent.seq);
  }
}

/** Puts back an event or intent that was settled or parked at the mark and was changed since. */
function recall(fact: Fact, present: Present, rows: FactRows): void {
  if (fact.fact !== "change" && fact.fact !== "attempt") return;
  if (fact.fact === "change" && fact.of === "event") {
    if (!present.events.has(fact.subject)) recallEvent(fact.subject, present, rows);
    return;
  }
  const seq = fact.fact === "change" ? fact.subject : fact.intent;
  const intent = seq === undefined || present.intents.has(seq) ? undefined : rows.intents.one(seq);
  if (intent !== undefined && intent.last < fact.seq) present.putIntent(intent);
}

/** An event that was parked at the mark, or one that was queued. */
function recallEvent(seq: number, present: Present, rows: FactRows): void {
  const open = rows.openEvent(seq);
  const specialist = (open ?? rows.newEvent(seq))?.specialist;
  for (const older of specialist === undefined ? [] : present.unqueueUpTo(specialist, seq)) {
    const event = rows.newEvent(older);
    expectSteps(event);
    if (event !== undefined) present.putEvent(event);
  }
  if (open !== undefined && !present.events.has(seq)) present.putEvent(open);
}

/** Merges the facts of five tables by number. */
function* inOrder(tables: readonly Iterator<Fact>[]): Generator<Fact> {
  const heads = tables.map((table) => ({ table, head: table.next() }));
  for (;;) {
    let first: (typeof heads)[number] | undefined;
    for (const one of heads)
      if (
        one.head.done !== true &&
        (first?.head.done === true || first === undefined || one.head.value.seq < (first.head.value as Fact).seq)
      )
        first = one;
    if (first === undefined || first.head.done === true) return;
    yield first.head.value;
    first.head = first.table.next();
  }
}

export type FactRows = ReturnType<typeof createRows>;
export type OpenRows = Pick<FactRows, "openEvent" | "newEvent" | "parkedEvents">;

export function createRows(db: DatabaseSync) {
  const mark = db.prepare("SELECT seq, quota FROM main.mark WHERE one = 1");
  const joined = `FROM main.open AS o JOIN main.event AS e ON e.seq = o.seq WHERE o.kind = ${OPEN.event}`;
  const state = "json_extract(o.state, '$.state')";
  const waiting = db.prepare(
    `SELECT o.seq, e.specialist, o.state = '${UNCHANGED}' AS unchanged ${joined} AND coalesce(${state}, 'ready') = 'ready' ORDER BY o.seq`,
  );
  const parked = db.prepare(`SELECT e.*, o.state AS open_state ${joined} AND ${state} = 'parked' ORDER BY o.seq`);
  const openEvent = db.prepare(`SELECT e.*, o.state AS open_state ${joined} AND o.seq = ?`);
  const newEvent = db.prepare("SELECT * FROM main.event WHERE seq = ?");
  const openAttempts = db.prepare(
    `SELECT a.* FROM main.open AS o JOIN main.attempt AS a ON a.seq = o.seq WHERE o.kind = ${OPEN.attempt} ORDER BY o.seq`,
  );
  const after = (table: string) => db.prepare(`SELECT * FROM main.${table} WHERE seq > ? ORDER BY seq`);
  const [event, run, attempt, answer, change] = [after("event"), after("run"), after("attempt"), after("answer"), after("change")];
  const intents: IntentRows = createIntentRows(db);
  return {
    intents,
    mark(): { readonly seq: number; readonly quota: number } {
      const row = mark.get() ?? { seq: 0, quota: 0 };
      return { seq: numberOf(row, "seq"), quota: numberOf(row, "quota") };
    },
    *waitingEvents(): Generator<{ readonly seq: number; readonly specialist: Handle; readonly isUnchanged: boolean }> {
      for (const row of waiting.iterate())
        yield { seq: numberOf(row, "seq"), specialist: asHandle(textOf(row, "specialist")), isUnchanged: row["unchanged"] === 1 };
    },
    *parkedEvents(): Generator<LiveEvent> {
      for (const row of parked.iterate()) yield storedEvent(row);
    },
    openEvent(seq: number): LiveEvent | undefined {
      const row = openEvent.get(seq);
      return row === undefined ? undefined : storedEvent(row);
    },
    /** An event as it came, in whatever state it is. */
    newEvent(seq: number): LiveEvent | undefined {
      const row = newEvent.get(seq);
      return row === undefined ? undefined : { ...liveEvent(eventFact(row)), isStored: true };
    },
    *openAttempts(): Generator<AttemptFact> {
      for (const row of openAttempts.iterate()) yield attemptFact(row);
    },
    factsAfter: (seq: number): readonly Iterator<Fact>[] => [
      map(event.iterate(seq), eventFact),
      map(run.iterate(seq), runFact),
      map(attempt.iterate(seq), attemptFact),
      map(answer.iterate(seq), answerFact),
      map(change.iterate(seq), changeFact),
    ],
  };
}

function* map(rows: Iterable<Row>, read: (row: Row) => Fact): Generator<Fact> {
  for (const row of rows) yield read(row);
}

function storedEvent(row: Row): LiveEvent {
  const { last, ...state } = read(textOf(row, "open_state"));
  const event = liveEvent(eventFact(row));
  Object.assign(event, state as Partial<EventFields>);
  if (last !== undefined) event.last = Number(last);
  event.isStored = true;
  event.hasSteps = true;
  return event;
}

function eventFact(row: Row): EventFact {
  return {
    fact: "event",
    seq: numberOf(row, "seq"),
    at: numberOf(row, "created_at"),
    specialist: asHandle(textOf(row, "specialist")),
    id: asEventId(textOf(row, "id")),
    kind: textOf(row, "kind"),
    thread: maybeText(row, "thread"),
    payload: textOf(row, "payload"),
    via: textOf(row, "via") as Via,
    hops: numberOf(row, "hops"),
    begun: numberOf(row, "begun") === 1,
    delivery: maybeText(row, "delivery"),
  };
}

function runFact(row: Row): RunFact {
  const text = maybeText(row, "intents");
  return {
    fact: "run",
    seq: numberOf(row, "seq"),
    at: numberOf(row, "at"),
    event: numberOf(row, "event"),
    specialist: asHandle(textOf(row, "specialist")),
    intents: text === undefined ? [] : (JSON.parse(text) as readonly IntentSeed[]),
  };
}

function attemptFact(row: Row): AttemptFact {
  return {
    fact: "attempt",
    seq: numberOf(row, "seq"),
    at: numberOf(row, "at"),
    intent: maybeNumber(row, "intent"),
    specialist: asHandle(textOf(row, "specialist")),
    key: asKeyId(textOf(row, "key_id")),
    operation: textOf(row, "operation"),
    target: maybeText(row, "target"),
    lane: laneOf(row["lane"]),
    cost: numberOf(row, "cost"),
    deadlineAt: numberOf(row, "deadline_at"),
  };
}

function answerFact(row: Row): AnswerFact {
  const text = maybeText(row, "change");
  const at = numberOf(row, "at");
  const ref = maybeText(row, "ref");
  const straight: Partial<IntentFields> = {
    state: "confirmed",
    settledAt: at,
    code: undefined,
    message: undefined,
    ...(ref === undefined ? {} : { createdRef: ref }),
  };
  return {
    fact: "answer",
    seq: numberOf(row, "seq"),
    at,
    attempt: numberOf(row, "attempt"),
    outcome: textOf(row, "outcome") as OutcomeClass,
    status: maybeNumber(row, "status"),
    note: maybeText(row, "note"),
    countedAt: maybeNumber(row, "counted_at"),
    set: text === undefined ? undefined : text === "" ? straight : (read(text) as Partial<IntentFields>),
  };
}

function changeFact(row: Row): ChangeFact {
  const about = { fact: "change", seq: numberOf(row, "seq"), at: numberOf(row, "at"), subject: numberOf(row, "subject") } as const;
  const set = read(textOf(row, "change"));
  return numberOf(row, "kind") === 0
    ? { ...about, of: "event", set: set as Partial<EventFields> }
    : { ...about, of: "intent", set: set as Partial<IntentFields> };
}

/** Parses a change; null means undefined. */
function read(text: string): { readonly [name: string]: unknown } {
  const value: unknown = JSON.parse(text);
  if (!isObject(value)) throw new Fatal("store_damaged", `expected a change as a JSON object, got ${text.slice(0, 40)}`);
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, field ?? undefined]));
}
