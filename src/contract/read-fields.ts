/** Reads the fields of one record out of one foreign object, by the candidates of a profile. */
import { isObject, type Json, type JsonObject } from "../core/json.ts";
import { fieldPath, typeOf, valueAt, type FieldPath } from "./field-path.ts";
import { FIELDS, type FieldKind, type ReadableRecord } from "./fields.ts";
import { MAX_KNOWN_KEYS, type Observation, type Pin, type Pins, type Severity } from "./pins.ts";
import type { Profile } from "./profile.ts";
import { JOB_STATUSES, type JobStatus } from "./records.ts";
import {
  readBoolean,
  readId,
  readInteger,
  readNumber,
  readReferences,
  readSeconds,
  readText,
  readTime,
  readWords,
  statusWord,
  type TimeFormat,
} from "./values.ts";

/** A field is called gone after this many records without it, once it was seen in as many. */
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
  /** First segments of all candidates: top-level keys that are no news. */
  readonly named: { readonly [record in ReadableRecord]: ReadonlySet<string> };
  readonly statuses: ReadonlyMap<string, JobStatus>;
  readonly times: TimeFormat;
}

export function compileSpeech(profile: Pick<Profile, "records" | "statuses" | "times">): Speech {
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
  return { fields: compiled, named, statuses: new Map(statuses), times: profile.times };
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
    token: make("token"),
  };
}

/** The values of all fields that could be read, by our names. Secrets are among them, as plain text. */
export function readFields(
  speech: Speech,
  record: ReadableRecord,
  object: JsonObject,
  pins: Pins | undefined,
  drift: Observation[],
): Record<string, unknown> {
  const values: Record<string, unknown> = {};
  const report = (severity: Severity, kind: Observation["kind"], path: string, type: string): void =>
    void drift.push({ severity, kind, record, path, type });
  for (const field of speech.fields[record]) {
    const pin = pins?.fields.get(field.name);
    const value = pin === undefined ? readFirst(speech, field, object, pins, report) : readPinned(speech, field, object, pin, report);
    if (value !== undefined) values[field.name] = value;
    if (value === "unknown" && field.kind === "status") report("warning", "new-status", field.name, "string");
  }
  if (pins !== undefined) noteNewKeys(speech, record, object, pins, report);
  return values;
}

type Report = (severity: Severity, kind: Observation["kind"], path: string, type: string) => void;

function readFirst(speech: Speech, field: CompiledField, object: JsonObject, pins: Pins | undefined, report: Report): unknown {
  let misfit: { readonly where: string; readonly type: string } | undefined;
  for (const path of field.candidates) {
    const found = valueAt(object, path);
    if (found === undefined || found === null) continue;
    const value = convert(speech, field.kind, found);
    if (value !== undefined) {
      pins?.fields.set(field.name, { path: path.text, type: typeOf(found), seen: 1, missed: 0 });
      return value;
    }
    misfit ??= { where: `${field.name} at ${path.text}`, type: typeOf(found) };
  }
  if (misfit !== undefined && pins !== undefined && !pins.misfits.has(misfit.where)) {
    pins.misfits.add(misfit.where);
    report(field.name === "id" ? "breaking" : "note", "type-change", misfit.where, misfit.type);
  }
  return undefined;
}

function readPinned(speech: Speech, field: CompiledField, object: JsonObject, pin: Pin, report: Report): unknown {
  const where = `${field.name} at ${pin.path}`;
  const pinned = field.candidates.find((path) => path.text === pin.path);
  const found = pinned === undefined ? undefined : valueAt(object, pinned);
  if (found !== undefined && found !== null) {
    const value = convert(speech, field.kind, found);
    const type = typeOf(found);
    if (value !== undefined) {
      if (type !== pin.type) report("warning", "type-change", where, type);
      pin.type = type;
      pin.seen++;
      pin.missed = 0;
      return value;
    }
    report(field.kind === "id" ? "breaking" : "warning", "type-change", where, type);
    return undefined;
  }
  for (const path of field.candidates) {
    const other = path.text === pin.path ? undefined : valueAt(object, path);
    const value = other === undefined || other === null ? undefined : convert(speech, field.kind, other);
    if (value === undefined) continue;
    // Text that moved is still the text. An identity that moved is not taken over: old events would be new again,
    // and a specialist could no longer tell itself from others.
    const identity = field.kind === "id" || field.kind === "secret";
    report(identity ? "breaking" : "warning", "winner-change", `${field.name} at ${path.text}`, typeOf(other));
    return identity ? undefined : value;
  }
  pin.missed++;
  if (field.name === "id") report("breaking", "missing-field", where, "missing");
  else if (pin.missed === GONE_AFTER && pin.seen >= GONE_AFTER) report("warning", "missing-field", where, "missing");
  return undefined;
}

function noteNewKeys(speech: Speech, record: ReadableRecord, object: JsonObject, pins: Pins, report: Report): void {
  const first = pins.known.size === 0;
  for (const key of Object.keys(object)) {
    if (pins.known.has(key) || speech.named[record].has(key)) continue;
    if (pins.known.size >= MAX_KNOWN_KEYS) return;
    pins.known.add(key);
    // The first record is what the network is like; only what comes later is news.
    if (!first) report("note", "new-field", key.length > 64 ? "(long key)" : key, typeOf(object[key]));
  }
  if (first) pins.known.add("$");
}

function convert(speech: Speech, kind: FieldKind, found: Json): unknown {
  switch (kind) {
    case "id":
      return readId(found);
    case "text":
      return readText(found);
    case "secret":
      return typeof found === "string" && found.length >= 8 ? found : undefined;
    case "number":
      return readNumber(found);
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
    case "refs":
      return readReferences(found);
    case "status":
      return typeof found === "string" || typeof found === "number"
        ? (speech.statuses.get(statusWord(String(found))) ?? "unknown")
        : undefined;
    case "json":
      return found;
    case "posts":
      return readNested(speech, found);
  }
}

function readNested(speech: Speech, found: Json): unknown[] | undefined {
  if (!Array.isArray(found)) return undefined;
  return found.slice(0, MAX_NESTED_POSTS).flatMap((item: Json) => {
    if (!isObject(item)) return [];
    const { replies: _deeper, ...values } = readFields(speech, "post", item, undefined, []);
    return typeof values["id"] === "string" ? [{ kind: "post", ...values, raw: boundedRaw(item) }] : [];
  });
}

/** What one record's `raw` may weigh, in characters of its strings plus a few for each value. */
export const MAX_RAW_SIZE = 256 * 1_024;

/** The object itself where it is small enough, else without the members that take it over `MAX_RAW_SIZE`. */
export function boundedRaw(object: JsonObject): JsonObject {
  let left = MAX_RAW_SIZE;
  let whole = true;
  const kept: Record<string, Json | undefined> = {};
  for (const [key, value] of Object.entries(object)) {
    const size = key.length + sizeOf(value, left);
    if (size > left) whole = false;
    else {
      left -= size;
      kept[key] = value;
    }
  }
  return whole ? object : kept;
}

function sizeOf(value: Json | undefined, limit: number): number {
  if (typeof value === "string") return value.length + 2;
  if (typeof value !== "object" || value === null) return 8;
  let size = 2;
  for (const [key, item] of Object.entries(value)) {
    if (size > limit) return size;
    size += key.length + sizeOf(item, limit - size);
  }
  return size;
}
