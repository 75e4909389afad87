/** The present as comparable records, to compare memory with rows. */
import type { Lane } from "../contract/operations.ts";
import { isUnchanged } from "./live-event.ts";
import { isLive, isPlain } from "./live-intent.ts";
import type { Handle } from "../core/ids.ts";
import type { NumberQueue } from "./number-queue.ts";
import { MOST_INTENTS, type Present } from "./present.ts";

/** Records by name; undefined for one whose number says everything. */
export type Picture = ReadonlyMap<string, object | undefined>;

/** Fields that only one process knows, or that only the row keeps. */
const LEFT_OUT: ReadonlySet<string> = new Set(["isStored", "isClaimed", "hasSteps", "payload"]);
const NONE: ReadonlySet<string> = new Set();

/** Everything that a start has to find again. */
export function pictureOf(present: Present): Picture {
  const records = new Map<string, object | undefined>();
  for (const event of present.events.values()) {
    if (event.state === "parked") continue; // in its row only
    if (isUnchanged(event)) records.set(`event ${event.seq} of ${event.specialist}`, undefined);
    else records.set(`event ${event.seq}`, event);
  }
  for (const specialist of present.specialists()) {
    const { queue = [], intents, waiting } = present.of(specialist);
    for (const seq of queue) records.set(`event ${seq} of ${specialist}`, undefined);
    if (intents.size > 0 || waiting !== undefined) addIntents(records, present, specialist);
  }
  for (const attempt of present.attempts.values()) records.set(`attempt ${attempt.seq}`, attempt);
  return records;
}

/** Of many plain intents only the numbers, since it depends on the process which of them are queued. */
function addIntents(records: Map<string, object | undefined>, present: Present, specialist: Handle): void {
  const { intents, waiting = new Map<Lane, NumberQueue>() } = present.of(specialist);
  const plain = [...waiting.values()].flatMap((queue) => [...queue]);
  for (const intent of intents.values()) {
    if (!isLive(intent)) continue;
    records.set(`intent ${intent.seq}`, intent);
    if (isPlain(intent, present.intents)) plain.push(intent.seq);
  }
  if (plain.length <= MOST_INTENTS) return;
  for (const seq of plain) {
    records.delete(`intent ${seq}`);
    records.set(`intent ${seq} of ${specialist}`, undefined);
  }
}

/** Returns a line for each record that only one has, or that differs. A field that is undefined equals one that is not there. */
export function differing(rows: Picture, memory: Picture): readonly string[] {
  const lines: string[] = [];
  for (const [name, record] of rows) {
    if (!memory.has(name)) lines.push(`only in rows: ${name}${textOf(record)}`);
    else if (!isSame(record, memory.get(name), LEFT_OUT)) lines.push(`${name}: rows${textOf(record)}, memory${textOf(memory.get(name))}`);
  }
  for (const [name, record] of memory) if (!rows.has(name)) lines.push(`only in memory: ${name}${textOf(record)}`);
  return lines;
}

function isSame(one: unknown, other: unknown, leftOut = NONE): boolean {
  if (Object.is(one, other)) return true;
  if (typeof one !== "object" || typeof other !== "object" || one === null || other === null) return false;
  for (const name in one) if (!leftOut.has(name) && !isSame(Reflect.get(one, name), Reflect.get(other, name))) return false;
  for (const name in other) if (!(name in one) && !leftOut.has(name) && Reflect.get(other, name) !== undefined) return false;
  return true;
}

function textOf(record: object | undefined): string {
  if (record === undefined) return "";
  return ` ${JSON.stringify(Object.fromEntries(Object.entries(record).filter(([name]) => !LEFT_OUT.has(name))))}`;
}
