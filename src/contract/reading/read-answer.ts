/**
 * Lenient reading of a network's answers: unknown fields are kept, names are tried in order, nothing is invented and nothing throws.
 * Changes since earlier answers are returned as observations.
 */
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import { HIDDEN, Secret } from "../../core/secret.ts";
import type { Secrets } from "../call.ts";
import { fieldPath, typeOf, valueAt, type FieldPath } from "./field-path.ts";
import { FIELDS, isReadableRecord, NEEDS_ID, type ReadableRecord } from "./fields.ts";
import type { RecordName } from "../operations.ts";
import type { Observation, Pins } from "./pinned-fields.ts";
import type { Profile } from "../profile/profile.ts";
import { boundedRaw, compileSpeech, holdsMoreThanId, readFields, type Speech } from "./read-fields.ts";
import type { NetworkRecord } from "../records.ts";

/** A list with at least this many items, without a total or a next page, may have been cut off. */
export const MAY_BE_CUT_OFF = 10;
/** Further items of a page are not read, and count as skipped. */
export const MAX_PAGE_ITEMS = 1_000;
/** Keys of both published prefixes are secret anywhere in an answer. */
const KEY_SHAPED = /^(?:sk-agent-|sk_live_)\S{4,}$/;
const MAX_SCRUBBED_DEPTH = 64;

export interface RecordReading {
  /** Undefined if the answer does not hold such a record. */
  readonly record: NetworkRecord | undefined;
  readonly secrets: Secrets | undefined;
  readonly drift: readonly Observation[];
}

export interface ListReading {
  /** Undefined if the answer holds no list. */
  readonly items: readonly NetworkRecord[] | undefined;
  /** Items that are not such a record. */
  readonly skipped: number;
  readonly drift: readonly Observation[];
}

interface Reader {
  readonly speech: Speech;
  readonly lists: (record: ReadableRecord) => readonly FieldPath[];
  /** Places of the record's own lists, without those tried for any record. */
  readonly ownLists: (record: ReadableRecord) => readonly FieldPath[];
  readonly singles: (record: ReadableRecord) => readonly FieldPath[];
}

const readers = new WeakMap<Profile, Reader>();

function readerOf(profile: Profile): Reader {
  const known = readers.get(profile);
  if (known !== undefined) return known;
  const places = (source: Readonly<Record<string, readonly string[] | undefined>>): ((record: ReadableRecord) => readonly FieldPath[]) => {
    const compiled = new Map(
      (Object.keys(FIELDS) as ReadableRecord[]).map((record) => [
        record,
        [...new Set([...(source[record] ?? []), ...(source["any"] ?? [])])].map(fieldPath),
      ]),
    );
    return (record) => compiled.get(record) ?? [];
  };
  const { any: _anyList, ...ownLists } = profile.lists;
  const reader = {
    speech: compileSpeech(profile),
    lists: places(profile.lists),
    ownLists: places(ownLists),
    singles: places(profile.singles),
  };
  readers.set(profile, reader);
  return reader;
}

/** Reads one record from an answer. With `pins` (of one operation), changes since earlier answers are reported. */
export function readRecord(profile: Profile, record: RecordName, body: Json | undefined, pins?: Pins): RecordReading {
  const drift: Observation[] = [];
  if (!isReadableRecord(record)) return { record: undefined, secrets: undefined, drift };
  const { speech, singles } = readerOf(profile);
  const object = placeOf(speech, record, body, singles(record), pins, drift)?.object;
  if (object === undefined) return { record: undefined, secrets: undefined, drift };
  const values = readFields(speech, record, object, pins, drift);
  return { record: asRecord(record, values, object), secrets: secretsOf(record, values), drift };
}

const WHOLE = fieldPath("$");
const inDeliveries = new WeakMap<readonly FieldPath[], readonly FieldPath[]>();

function withWhole(places: readonly FieldPath[]): readonly FieldPath[] {
  let all = inDeliveries.get(places);
  if (all === undefined) inDeliveries.set(places, (all = [WHOLE, ...places]));
  return all;
}

interface Placed {
  readonly object: JsonObject;
  /** Its fields without pins, if they were read to find it. */
  readonly values?: Readonly<Record<string, unknown>>;
}

/** Reads one record from the object of a delivery: the object itself, or at the places where answers keep such a record. */
export function readObject(profile: Profile, record: ReadableRecord, object: Json | undefined): NetworkRecord | undefined {
  const { speech, singles } = readerOf(profile);
  const found = placeOf(speech, record, object, withWhole(singles(record)), undefined, []);
  if (found === undefined) return undefined;
  return asRecord(record, found.values ?? readFields(speech, record, found.object, undefined, []), found.object);
}

/** Finds the object of an answer that reads best as the record: its own id, then most fields; ties go to the earlier place. */
function placeOf(
  speech: Speech,
  record: ReadableRecord,
  body: Json | undefined,
  places: readonly FieldPath[],
  pins: Pins | undefined,
  drift: Observation[],
): Placed | undefined {
  const pinned = pins?.place === undefined ? undefined : placeNamed(places, pins.place);
  const known = pinned === undefined ? undefined : valueAt(body, pinned);
  if (isObject(known) && !(hasOthers(body, places, pinned) && isHollow(speech, record, known, pins))) return { object: known };
  let best: (Required<Placed> & { readonly place: FieldPath; readonly score: number }) | undefined;
  for (const place of places) {
    const object = valueAt(body, place);
    if (!isObject(object)) continue;
    const values = readFields(speech, record, object, undefined, []);
    const readable = !NEEDS_ID.has(record) || values["id"] !== undefined;
    const score = readable ? Object.keys(values).length : 0;
    if (score > (best?.score ?? 0)) best = { place, object, values, score };
  }
  if (isObject(known) && (best === undefined || best.place === pinned)) return { object: known };
  if (best === undefined) {
    // Records that need no id may be empty objects; they are the outermost one.
    return !NEEDS_ID.has(record) && isObject(body) ? { object: body } : undefined;
  }
  if (pins !== undefined) {
    if (pins.place !== undefined) {
      drift.push({ severity: "breaking", kind: "winner-change", record, path: `record at ${best.place.text}`, type: "object" });
      return undefined;
    }
    pins.place = best.place.text;
  }
  return best;
}

function placeNamed(places: readonly FieldPath[], text: string): FieldPath | undefined {
  for (const place of places) if (place.text === text) return place;
  return undefined;
}

function hasOthers(body: Json | undefined, places: readonly FieldPath[], pinned: FieldPath | undefined): boolean {
  for (const place of places) if (place !== pinned && isObject(valueAt(body, place))) return true;
  return false;
}

/** True for an object with only an id where more was read before: it may be the id of the answer, with the record elsewhere in it. */
function isHollow(speech: Speech, record: ReadableRecord, object: JsonObject, pins: Pins | undefined): boolean {
  if (!NEEDS_ID.has(record) || pins === undefined || pins.fields.size < 2 || !pins.fields.has("id")) return false;
  return !holdsMoreThanId(speech, record, object);
}

/** Reads a page of records from an answer. The client finds the next page in body and headers. */
export function readList(profile: Profile, record: RecordName, body: Json | undefined, pins?: Pins): ListReading {
  const drift: Observation[] = [];
  if (!isReadableRecord(record)) return { items: undefined, skipped: 0, drift };
  const { speech, lists, ownLists } = readerOf(profile);
  // Some languages encode an empty list as null, which is accepted under the list's own name. Elsewhere null may stand for a failure.
  const isNothing = ownLists(record).some((place) => valueAt(body, place) === null);
  const list = listOf(record, body, lists(record), pins, drift, isNothing);
  if (list === undefined) return { items: undefined, skipped: 0, drift };
  const items: NetworkRecord[] = [];
  for (const item of list.slice(0, MAX_PAGE_ITEMS)) {
    if (!isObject(item)) continue;
    const read = asRecord(record, readFields(speech, record, item, pins, drift), item);
    if (read !== undefined) items.push(read);
  }
  return { items, skipped: list.length - items.length, drift };
}

function listOf(
  record: ReadableRecord,
  body: Json | undefined,
  places: readonly FieldPath[],
  pins: Pins | undefined,
  drift: Observation[],
  isNothing: boolean,
): readonly Json[] | undefined {
  let empty: readonly Json[] | undefined = isNothing ? [] : undefined;
  for (const place of places) {
    const list = valueAt(body, place);
    if (!Array.isArray(list)) continue;
    if (pins?.place !== undefined && pins.place !== place.text) {
      // An empty page under the known name wins over a list under another name. An empty list under another name alone is rejected like a
      // full one: it would prove the absence of everything.
      const known: Json | undefined = valueAt(body, fieldPath(pins.place));
      if (Array.isArray(known)) return known;
      drift.push({ severity: "breaking", kind: "winner-change", record, path: `list at ${place.text}`, type: "list" });
      return undefined;
    }
    if (list.length === 0) {
      empty ??= list;
      continue;
    }
    if (pins !== undefined) pins.place = place.text;
    return list;
  }
  if (empty === undefined && pins?.place !== undefined)
    drift.push({
      severity: "breaking",
      kind: "missing-field",
      record,
      path: `list at ${pins.place}`,
      type: typeOf(valueAt(body, fieldPath(pins.place))),
    });
  return empty;
}

/** Records whose answers may contain a key; other text is never searched for one. */
export const MAY_HOLD_SECRETS: ReadonlySet<RecordName> = new Set(["agent", "token", "webhook"]);
const SECRET_FIELDS = ["apiKey", "accessToken", "refreshToken", "webhookSecret"] as const;

function asRecord(record: ReadableRecord, values: Readonly<Record<string, unknown>>, object: JsonObject): NetworkRecord | undefined {
  if (NEEDS_ID.has(record) && values["id"] === undefined) return undefined;
  const read: Record<string, unknown> = { kind: record, ...values };
  if (MAY_HOLD_SECRETS.has(record)) for (const field of SECRET_FIELDS) delete read[field];
  if (record !== "token") read["raw"] = boundedRaw(MAY_HOLD_SECRETS.has(record) ? scrubbed(object, secretsOf(record, values)) : object);
  // The table of fields gives each the kind its schema requires; a property test holds every reading against the schemas.
  return read as NetworkRecord;
}

function secretsOf(record: ReadableRecord, values: Readonly<Record<string, unknown>>): Secrets | undefined {
  let secrets: Record<string, Secret> | undefined;
  for (const field of SECRET_FIELDS) {
    const value = values[field];
    if (typeof value === "string" && Object.hasOwn(FIELDS[record], field)) (secrets ??= {})[field] = new Secret(value);
  }
  return secrets;
}

/** Returns a body without its secrets, and without anything shaped like a key. */
export function withoutSecrets(body: Json | undefined, secrets: Secrets | undefined): Json | undefined {
  return body === undefined ? undefined : scrub(body, valuesOf(secrets), 0);
}

function scrubbed(object: JsonObject, secrets: Secrets | undefined): JsonObject {
  return scrubMembers(object, valuesOf(secrets), 0);
}

function valuesOf(secrets: Secrets | undefined): ReadonlySet<string> {
  return new Set(secrets === undefined ? [] : Object.values(secrets).map((secret: Secret) => secret.reveal()));
}

function scrub(value: Json, secrets: ReadonlySet<string>, depth: number): Json {
  if (typeof value === "string") return secrets.has(value) || KEY_SHAPED.test(value) ? HIDDEN : value;
  if (depth > MAX_SCRUBBED_DEPTH) return null;
  if (Array.isArray(value)) return value.map((item: Json) => scrub(item, secrets, depth + 1));
  return isObject(value) ? scrubMembers(value, secrets, depth) : value;
}

function scrubMembers(object: JsonObject, secrets: ReadonlySet<string>, depth: number): JsonObject {
  const clean: Record<string, Json | undefined> = {};
  for (const [key, item] of Object.entries(object)) clean[key] = item === undefined ? undefined : scrub(item, secrets, depth + 1);
  return clean;
}
