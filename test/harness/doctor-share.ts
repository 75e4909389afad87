/** Scores a drafted profile against the true one of a served network: the share of fields that the doctor got right. */
import type { Exchange } from "../../src/client/client.ts";
import { pagingOf } from "../../src/client/next-page.ts";
import type { Call } from "../../src/contract/call.ts";
import { isOperationName, OPERATIONS } from "../../src/contract/operations.ts";
import type { ProfileOperation } from "../../src/contract/profile/network-operations.ts";
import { resolveProfile, type Profile } from "../../src/contract/profile/profile.ts";
import type { ProfileSource } from "../../src/contract/profile/source.ts";
import { parseExactJson } from "../../src/contract/reading/exact-json.ts";
import { fieldPath, valueAt } from "../../src/contract/reading/field-path.ts";
import { FIELDS, type ReadableRecord } from "../../src/contract/reading/fields.ts";
import { readList } from "../../src/contract/reading/read-answer.ts";
import { statusWord } from "../../src/contract/reading/values.ts";
import { asJson, isObject, parseJson, type Json, type JsonObject } from "../../src/core/json.ts";

export interface Scored {
  /** A place in the profile, such as `records.post.content`. */
  readonly field: string;
  readonly right: boolean;
  /** True where reads alone can show it. */
  readonly readable: boolean;
  readonly expected: string;
  readonly got: string;
}

export interface ScoreOptions {
  readonly truth: ProfileSource;
  readonly draft: Profile;
  /** A sender for a profile, with a key that the network accepts. */
  readonly connect: (profile: Profile) => (call: Call) => Promise<Exchange>;
}

const READS = ["posts", "jobs", "agents", "communities"] as const;
const RECORD = { posts: "post", jobs: "job", agents: "agent", communities: "community" } as const;

/** The network's answers, read by the true profile: which places exist is judged by them. */
interface Heard {
  readonly lists: ReadonlyMap<ReadableRecord, Json>;
  readonly objects: ReadonlyMap<ReadableRecord, readonly JsonObject[]>;
  readonly refusal: Json | undefined;
}

export async function scoreDraft({ truth, draft, connect }: ScoreOptions): Promise<readonly Scored[]> {
  const actual = resolveProfile(truth);
  const heard = await listen(actual, connect(actual));
  const { extends: _set, name: _name, guesses: _guesses, ...parts } = truth;
  return [...leaves(asJson(parts))].map(([path, expected]) => {
    const got = present(path, draft);
    return {
      field: path.join("."),
      right: isRight(path, { actual, draft, heard, expected }),
      readable: isReadable(path, actual, heard),
      expected: JSON.stringify(expected),
      got: got === undefined ? "(nothing)" : JSON.stringify(got).slice(0, 120),
    };
  });
}

/** The share of right fields, of those that a filter keeps. */
export function shareOf(
  scored: readonly Scored[],
  keep: (one: Scored) => boolean = () => true,
): { readonly right: number; readonly of: number; readonly share: number } {
  const kept = scored.filter(keep);
  const right = kept.filter((one) => one.right).length;
  return { right, of: kept.length, share: kept.length === 0 ? 1 : right / kept.length };
}

async function listen(actual: Profile, send: (call: Call) => Promise<Exchange>): Promise<Heard> {
  const lists = new Map<ReadableRecord, Json>();
  const objects = new Map<ReadableRecord, readonly JsonObject[]>();
  let refusal: Json | undefined;
  for (const noun of READS) {
    const record = RECORD[noun];
    const list = actual.operations.get(`${noun}.list`);
    if (list === undefined || list.unsupported !== undefined) continue;
    const { wire, outcome } = await send({ operation: `${noun}.list`, input: {} });
    const body = wire.kind === "answer" ? parseExactJson(wire.text) : undefined;
    if (body !== undefined) lists.set(record, body);
    const items = (readList(actual, record, body).items ?? []).flatMap((item) => ("raw" in item ? [item.raw] : []));
    const got = actual.operations.get(`${noun}.get`);
    const first = outcome.class === "confirmed" ? outcome.items?.[0] : undefined;
    const found: JsonObject[] = [...items];
    if (got !== undefined && got.unsupported === undefined && first !== undefined && "id" in first && first.id !== undefined) {
      const handle = "handle" in first ? first.handle : undefined;
      const one = await send({ operation: `${noun}.get`, target: got.targetBy === "handle" ? (handle ?? first.id) : first.id, input: {} });
      if (one.outcome.class === "confirmed" && one.outcome.record !== undefined && "raw" in one.outcome.record)
        found.push(one.outcome.record.raw);
      const none = refusal === undefined ? await send({ operation: `${noun}.get`, target: "nothing-here", input: {} }) : undefined;
      if (none?.wire.kind === "answer") refusal = parseExactJson(none.wire.text);
    }
    objects.set(record, found);
  }
  return { lists, objects, refusal };
}

/** Operations and templates are judged as wholes. */
const WHOLE: ReadonlySet<string> = new Set(["query", "body", "values", "input", "paging", "trade"]);

function leaves(value: Json, path: readonly string[] = []): Map<readonly string[], Json> {
  if (!isObject(value) || (WHOLE.has(path.at(-1) ?? "") && path[0] === "operations")) return new Map([[path, value]]);
  return new Map(Object.entries(value).flatMap(([key, item]) => (item === undefined ? [] : [...leaves(item, [...path, key])])));
}

function present(path: readonly string[], draft: Profile): Json | undefined {
  if (path[0] !== "operations") return path.reduce<Json | undefined>((at, key) => (isObject(at) ? at[key] : undefined), asJson(draft.data));
  const operation = draft.operations.get(path[1] ?? "");
  const value: unknown = operation === undefined ? undefined : Reflect.get(operation, path[2] ?? "");
  return value === undefined ? undefined : (parseJson(JSON.stringify(value)) ?? undefined);
}

interface Judged {
  readonly actual: Profile;
  readonly draft: Profile;
  readonly heard: Heard;
  readonly expected: Json;
}

function isRight(path: readonly string[], judged: Judged): boolean {
  const { actual, draft, heard, expected } = judged;
  const [section, name = "", key = ""] = path;
  const wanted = texts(expected);
  switch (section) {
    case "operations":
      return isOperationRight(actual.operations.get(name), draft.operations.get(name), key);
    case "records":
      return isFieldRight(name as ReadableRecord, key, wanted, judged);
    case "lists": {
      const body = heard.lists.get(name as ReadableRecord);
      const places = [...(draft.lists[name] ?? []), ...(draft.lists["any"] ?? [])];
      return wanted.includes(places.find((place) => Array.isArray(valueAt(body, fieldPath(place)))) ?? places[0] ?? "");
    }
    case "statuses": {
      const words = draft.statuses[name as keyof typeof draft.statuses] ?? [];
      return wanted.every((word) => words.some((one) => statusWord(one) === statusWord(word)));
    }
    case "paging": {
      const [is, was] = [draft, actual].map((profile) => pagingOf(profile, profile.operations.get("posts.list")));
      if (name !== "next") return JSON.stringify(is?.[name as "style"]) === JSON.stringify(was?.[name as "style"]);
      const body = heard.lists.get("post");
      const there = is?.next.find((place) => valueAt(body, fieldPath(place)) !== undefined) ?? is?.next[0] ?? "";
      return wanted.includes(there);
    }
    case "errors": {
      if (name === "waitUnit") return draft.errors.waitUnit === actual.errors.waitUnit;
      if (name === "failed") return wanted.every((place) => draft.errors.failed.includes(place));
      const places = draft.errors[name as "code"];
      return wanted.includes(places.find((place) => typeof valueAt(heard.refusal, fieldPath(place)) === "string") ?? places[0] ?? "");
    }
    case "limitHeaders":
      return wanted.every((header) => texts(asJson(draft.limitHeaders)[name]).includes(header));
    default:
      return JSON.stringify(present(path, draft)) === JSON.stringify(present(path, actual));
  }
}

function isFieldRight(record: ReadableRecord, field: string, wanted: readonly string[], { actual, draft, heard }: Judged): boolean {
  const objects = heard.objects.get(record) ?? [];
  const truths = new Set(Object.values(actual.records[record] ?? {}).flat());
  const exists = (place: string): boolean =>
    wanted.includes(place) ||
    (truths.has(place) && !isShippedOnly(place, actual)) ||
    objects.some((one) => isPresent(valueAt(one, fieldPath(place)), record, field));
  const places = draft.records[record]?.[field] ?? [];
  return wanted.includes(places.find(exists) ?? "");
}

/** An object is no value of a field, unless its kind says so: reading goes on to the next candidate. */
function isPresent(value: Json | undefined, record: ReadableRecord, field: string): boolean {
  const kind = (FIELDS[record] as Readonly<Record<string, string>>)[field];
  return value !== undefined && (!isObject(value) || kind === "json");
}

/** True for a place that only the shipped set names. */
function isShippedOnly(place: string, { settled }: Profile): boolean {
  return !settled.some((path) => path.endsWith(place));
}

function isOperationRight(was: ProfileOperation | undefined, is: ProfileOperation | undefined, key: string): boolean {
  if (was === undefined || is === undefined) return false;
  if (key === "unsupported") return (was.unsupported === undefined) === (is.unsupported === undefined);
  if (is.unsupported !== undefined) return false;
  const plain = (path: string): string => path.replaceAll(/:\w+|\{\w+\}/g, ":x");
  if (key === "path") return plain(was.path) === plain(is.path);
  if (key === "query" || key === "body") return covers(templateOf(is, key), templateOf(was, key));
  const [one, other] = [was, is].map((operation) => Reflect.get(operation, key) as Json | undefined);
  return isObject(one) && isObject(other) ? covers(other, one) : JSON.stringify(one) === JSON.stringify(other);
}

/** The template in force: without a stated one, each input under its own name. */
function templateOf(operation: ProfileOperation, key: "query" | "body"): Json {
  const inputs = isOperationName(operation.name) ? Object.keys(OPERATIONS[operation.name].input.shape) : [];
  return operation[key] ?? Object.fromEntries(inputs.map((input) => [input, `{${input}}`]));
}

function covers(whole: Json, part: Json): boolean {
  if (!isObject(part)) return JSON.stringify(whole) === JSON.stringify(part);
  return isObject(whole) && Object.entries(part).every(([key, value]) => value === undefined || covers(whole[key] ?? null, value));
}

function isReadable([section, name = "", key = ""]: readonly string[], actual: Profile, heard: Heard): boolean {
  switch (section) {
    case "records": {
      const objects = heard.objects.get(name as ReadableRecord) ?? [];
      const kind = (FIELDS[name as ReadableRecord] as Readonly<Record<string, string>> | undefined)?.[key];
      const places = actual.records[name as ReadableRecord]?.[key] ?? [];
      return kind !== "secret" && places.some((place) => objects.some((one) => isShown(valueAt(one, fieldPath(place)))));
    }
    case "lists":
      return heard.lists.has(name as ReadableRecord);
    case "paging":
      return true;
    case "limitHeaders":
      return name !== "retryAfter" && name !== "windowMs"; // a 429 and the documentation show them
    case "errors":
      return heard.refusal !== undefined && name !== "retryAfter" && name !== "waitUnit"; // only a 429 shows them
    default:
      return false;
  }
}

/** An empty list does not show what will be in it. */
function isShown(value: Json | undefined): boolean {
  return (value ?? null) !== null && !(Array.isArray(value) && value.length === 0);
}

function texts(value: Json | undefined): readonly string[] {
  if (typeof value === "string") return [value];
  return Array.isArray(value) ? (value as readonly Json[]).filter((one) => typeof one === "string") : [];
}
