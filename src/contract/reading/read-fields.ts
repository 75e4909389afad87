/** Reads the fields of one record from one foreign object, by the candidates of a profile. */
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import { fieldPath, typeOf, valueAt, type FieldPath } from "./field-path.ts";
import { FIELDS, type FieldKind, type ReadableRecord } from "./fields.ts";
import { createPins, MAX_KNOWN_KEYS, type Observation, type Pin, type Pins, type Severity } from "./pinned-fields.ts";
import { textOfHtml } from "./html-text.ts";
import type { Profile } from "../profile/profile.ts";
import type { MoneyFormat } from "../profile/source.ts";
import { JOB_STATUSES, type JobStatus } from "../records.ts";
import {
  readBoolean,
  readId,
  readInteger,
  readMoney,
  readNumber,
  readReferences,
  readSeconds,
  readText,
  readTime,
  readVote,
  readWords,
  statusWord,
  type TimeFormat,
} from "./values.ts";

/** A field that was seen in this many records is reported missing after as many without it. */
const GONE_AFTER = 20;
const MAX_NESTED_POSTS = 1_000;

export interface CompiledField {
  readonly name: string;
  readonly kind: FieldKind;
  readonly candidates: readonly FieldPath[];
}

/** A profile's reading rules, compiled once. */
export interface Speech {
  readonly fields: { readonly [record in ReadableRecord]: readonly CompiledField[] };
  /** First segments of all candidates: top-level keys that are not reported as new. */
  readonly named: { readonly [record in ReadableRecord]: ReadonlySet<string> };
  /** Shapes of objects seen lately. */
  readonly shapes: { readonly [record in ReadableRecord]: Shape[] };
  readonly statuses: ReadonlyMap<string, JobStatus>;
  readonly times: TimeFormat;
  readonly money: MoneyFormat;
  readonly isHtml: boolean;
}

export function compileSpeech(profile: Pick<Profile, "records" | "statuses" | "times" | "money" | "contents">): Speech {
  const fields = (record: ReadableRecord): CompiledField[] => {
    const candidates: Readonly<Record<string, readonly string[] | undefined>> = profile.records[record] ?? {};
    return Object.entries<FieldKind>(FIELDS[record]).flatMap(([name, kind]) => {
      const paths = (candidates[name] ?? []).map(fieldPath);
      return paths.length === 0 ? [] : [{ name, kind, candidates: paths }];
    });
  };
  const compiled = mapRecords(fields);
  const named = mapRecords(
    (record) => new Set(compiled[record].flatMap((field) => field.candidates.map((path) => path.segments[0] ?? "$"))),
  );
  const statuses = JOB_STATUSES.flatMap((status) =>
    (profile.statuses[status] ?? []).map((word): [string, JobStatus] => [statusWord(word), status]),
  );
  return {
    fields: compiled,
    named,
    shapes: mapRecords(() => []),
    statuses: new Map(statuses),
    times: profile.times,
    money: profile.money,
    isHtml: profile.contents.read === "html",
  };
}

function mapRecords<T>(make: (record: ReadableRecord) => T): { [record in ReadableRecord]: T } {
  return {
    post: make("post"),
    job: make("job"),
    agent: make("agent"),
    community: make("community"),
    webhook: make("webhook"),
    stats: make("stats"),
    result: make("result"),
    application: make("application"),
    notification: make("notification"),
    token: make("token"),
  };
}

/** Reads all readable fields, in our names. Secrets are among them, as plain text. */
export function readFields(
  speech: Speech,
  record: ReadableRecord,
  object: JsonObject,
  pins: Pins | undefined,
  drift: Observation[],
  within = "",
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  const reading: ObjectReading = { speech, record, object, pins, drift, within };
  for (const field of pins === undefined ? fieldsWithin(speech, record, object) : speech.fields[record]) {
    if (field.kind === "posts" && within !== "") continue; // replies to replies are not kept
    const pin = pins?.fields.get(field.name);
    const value = pin === undefined ? readFirst(reading, field) : readPinned(reading, field, pin);
    if (value !== undefined) values[field.name] = value;
    if (value === "unknown" && field.kind === "status") report(reading, "warning", "new-status", { path: field.name, type: "string" });
  }
  if (pins !== undefined) noteNewKeys(reading, pins);
  return values;
}

/** Shapes that are kept for each record: a network's deliveries have few. */
const MAX_SHAPES = 16;

/** The keys of an object, and the fields that it may hold, each with the candidates that begin with one of them. */
interface Shape {
  readonly keys: readonly string[];
  readonly fields: readonly CompiledField[];
}

/** Without it, each object would be asked for every name of every field. */
function fieldsWithin({ fields, shapes }: Speech, record: ReadableRecord, object: JsonObject): readonly CompiledField[] {
  const known = shapes[record];
  for (const shape of known) if (hasKeys(object, shape.keys)) return shape.fields;
  const keys = Object.keys(object);
  const found = fields[record].flatMap((field) => {
    const candidates = field.candidates.filter(({ segments: [first] }) => first === undefined || keys.includes(first));
    return candidates.length === 0 ? [] : [{ ...field, candidates }];
  });
  if (known.length >= MAX_SHAPES) known.shift();
  if (keys.length <= MAX_KNOWN_KEYS) known.push({ keys, fields: found });
  return found;
}

/** True for exactly these keys in this order. */
function hasKeys(object: JsonObject, keys: readonly string[]): boolean {
  let n = 0;
  for (const key in object) if (key !== keys[n++]) return false;
  return n === keys.length;
}

/** True if a field other than the id can be read. */
export function holdsMoreThanId(speech: Speech, record: ReadableRecord, object: JsonObject): boolean {
  const reading: ObjectReading = { speech, record, object, pins: undefined, drift: [], within: "" };
  return speech.fields[record].some((field) => field.name !== "id" && readFirst(reading, field) !== undefined);
}

/** The reading of one object. */
interface ObjectReading {
  readonly speech: Speech;
  readonly record: ReadableRecord;
  readonly object: JsonObject;
  readonly pins: Pins | undefined;
  readonly drift: Observation[];
  /** The place of the object in its record. */
  readonly within: string;
}

function report(
  { drift, record, within }: ObjectReading,
  severity: Severity,
  kind: Observation["kind"],
  { path, type }: Pick<Observation, "path" | "type">,
): void {
  drift.push({ severity, kind, record, path: `${within}${path}`, type });
}

/**
 * Reading these from another place would make old events new, and would hide from a specialist which posts are its own. Posts within a post
 * have ids.
 */
const IDENTITIES: ReadonlySet<FieldKind> = new Set(["id", "refs", "secret", "posts"]);

function readFirst(reading: ObjectReading, field: CompiledField): unknown {
  const { object, pins } = reading;
  let misfit: FieldPath | undefined;
  for (const path of field.candidates) {
    const found = valueAt(object, path);
    if (field.kind === "vote" && found === null) return readVote(found);
    if (found === undefined || found === null) continue;
    const taken = take(reading, field, found);
    if (taken !== undefined) {
      const by = taken.by === undefined ? {} : { by: taken.by };
      pins?.fields.set(field.name, { path: path.text, type: typeOf(found), seen: 1, missed: 0, ...by });
      return taken.value;
    }
    misfit ??= path;
  }
  if (misfit !== undefined && pins !== undefined) noteMisfit(reading, field, misfit, pins);
  return undefined;
}

function noteMisfit(reading: ObjectReading, { name }: CompiledField, path: FieldPath, { misfits }: Pins): void {
  const where = `${name} at ${path.text}`;
  if (misfits.has(where)) return;
  misfits.add(where);
  report(reading, name === "id" ? "breaking" : "note", "type-change", { path: where, type: typeOf(valueAt(reading.object, path)) });
}

function candidateAt({ candidates }: CompiledField, text: string): FieldPath | undefined {
  for (const path of candidates) if (path.text === text) return path;
  return undefined;
}

function readPinned(reading: ObjectReading, field: CompiledField, pin: Pin): unknown {
  const { object } = reading;
  const where = `${field.name} at ${pin.path}`;
  const isIdentity = IDENTITIES.has(field.kind);
  const pinned = candidateAt(field, pin.path);
  const found = pinned === undefined ? undefined : valueAt(object, pinned);
  if (field.kind === "vote" && found === null) return readVote(found);
  if (found !== undefined && found !== null) {
    const taken = take(reading, field, found, pin.by);
    const type = typeOf(found);
    if (taken === undefined) {
      const elsewhere = take(reading, field, found)?.by;
      if (elsewhere === undefined) report(reading, isIdentity ? "breaking" : "warning", "type-change", { path: where, type });
      else report(reading, "breaking", "winner-change", { path: `${where}${elsewhere === "" ? "" : `.${elsewhere}`}`, type });
      return undefined;
    }
    if (type !== pin.type) report(reading, "warning", "type-change", { path: where, type });
    pin.type = type;
    if (taken.by !== undefined) pin.by = taken.by;
    pin.seen++;
    pin.missed = 0;
    return taken.value;
  }
  for (const path of field.candidates) {
    const other = path.text === pin.path ? undefined : valueAt(object, path);
    const taken = other === undefined || other === null ? undefined : take({ ...reading, pins: undefined, drift: [] }, field, other);
    if (taken === undefined || (field.kind === "posts" && isEmpty(taken.value))) continue;
    // Text may move; identities may not.
    report(reading, isIdentity ? "breaking" : "warning", "winner-change", { path: `${field.name} at ${path.text}`, type: typeOf(other) });
    return isIdentity ? undefined : taken.value;
  }
  pin.missed++;
  if (field.name === "id") report(reading, "breaking", "missing-field", { path: where, type: "missing" });
  else if (pin.missed === GONE_AFTER && pin.seen >= GONE_AFTER)
    report(reading, "warning", "missing-field", { path: where, type: "missing" });
  return undefined;
}

function isEmpty(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

function noteNewKeys(reading: ObjectReading, pins: Pins): void {
  const { speech, record, object } = reading;
  const first = pins.known.size === 0;
  for (const key of Object.keys(object)) {
    if (pins.known.has(key) || speech.named[record].has(key)) continue;
    if (pins.known.size >= MAX_KNOWN_KEYS) return;
    pins.known.add(key);
    // The first record is the reference; only later keys are new.
    if (!first) report(reading, "note", "new-field", { path: key.length > 64 ? "(long key)" : key, type: typeOf(object[key]) });
  }
  if (first) pins.known.add("$");
}

/** Converts a foreign value to ours; for references also returns the member that holds each id, which is the given one. */
function take(
  { speech, pins, drift }: ObjectReading,
  { name, kind }: CompiledField,
  found: Json,
  by?: string,
): { readonly value: unknown; readonly by?: string | undefined } | undefined {
  if (kind === "refs") {
    const references = readReferences(found, by);
    if (references === undefined || (references.ids.length === 0 && by !== undefined && readReferences(found)?.by !== undefined))
      return undefined;
    return { value: references.ids, by: references.by };
  }
  const value = kind === "posts" ? readNested(speech, found, pins, drift, name) : convert(speech, kind, found);
  return value === undefined ? undefined : { value };
}

function convert(speech: Speech, kind: Exclude<FieldKind, "refs" | "posts">, found: Json): unknown {
  switch (kind) {
    case "id":
      return readId(found);
    case "text":
      return readText(found);
    case "prose":
      return speech.isHtml && typeof found === "string" ? textOfHtml(found) : readText(found);
    case "secret":
      return typeof found === "string" && found.length >= 8 ? found : undefined;
    case "number":
      return readNumber(found);
    case "money":
      return readMoney(found, speech.money);
    case "integer":
      return readInteger(found);
    case "boolean":
      return readBoolean(found);
    case "time":
      return readTime(found, speech.times);
    case "seconds":
      return readSeconds(found);
    case "words":
      return readWords(found);
    case "status":
      return typeof found === "string" || typeof found === "number"
        ? (speech.statuses.get(statusWord(String(found))) ?? "unknown")
        : undefined;
    case "vote":
      return readVote(found);
    case "json":
      return found;
  }
}

function readNested(speech: Speech, found: Json, pins: Pins | undefined, drift: Observation[], field: string): unknown[] | undefined {
  if (!Array.isArray(found)) return undefined;
  const nested = pins === undefined ? undefined : (pins.nested ??= createPins());
  return found.slice(0, MAX_NESTED_POSTS).flatMap((item: Json) => {
    if (!isObject(item)) return [];
    const values = readFields(speech, "post", item, nested, drift, `${field}.`);
    return typeof values["id"] === "string" ? [{ kind: "post", ...values, raw: boundedRaw(item) }] : [];
  });
}

/** Largest size of one record's `raw`, in characters of its strings plus a few for each value. */
export const MAX_RAW_SIZE = 256 * 1_024;

/** Returns the object itself if it is small enough, else without the members that take it over `MAX_RAW_SIZE`. */
export function boundedRaw(object: JsonObject): JsonObject {
  if (sizeOf(object, MAX_RAW_SIZE) <= MAX_RAW_SIZE) return object;
  let left = MAX_RAW_SIZE;
  const kept: Record<string, Json | undefined> = {};
  for (const [key, value] of Object.entries(object)) {
    const size = key.length + sizeOf(value, left);
    if (size > left) continue;
    left -= size;
    kept[key] = value;
  }
  return kept;
}

function sizeOf(value: Json | undefined, limit: number): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null) return 8;
  let size = 2;
  for (const key of Object.keys(value)) {
    if (size > limit) return size;
    size += key.length + sizeOf((value as JsonObject)[key], limit - size);
  }
  return size;
}
