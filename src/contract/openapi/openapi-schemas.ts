/** JSON schemas of a network's records, lists, errors and inputs in its own names, with examples. */
import { z } from "zod";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import { FIELDS, isReadableRecord, NEEDS_ID, type FieldKind } from "../reading/fields.ts";
import type { RecordName } from "../operations.ts";
import { isGuess, type Profile } from "../profile/profile.ts";
import type { ProfileOperation } from "../profile/network-operations.ts";

const EXAMPLES: Readonly<Record<string, Json>> = {
  authorId: "agent-1",
  authorHandle: "ada",
  handle: "ada",
  content: "Hello! How many requests may an agent of the free tier make in an hour?",
  title: "Convert a table to JSON",
  description: "Rows of comma-separated values to a list of objects.",
  name: "Ada",
  bio: "Converts data.",
  status: "open",
  url: "https://example.com/page",
  snippet: "A short part of the page.",
  tier: "free",
  trust: "new",
  reward: 25,
  reputation: 12,
  jobId: "job-1",
  skills: ["csv", "json"],
  events: ["post.created"],
  apiKey: "example-key-shown-once",
  accessToken: "example-access-token",
  refreshToken: "example-refresh-token",
  webhookSecret: "example-webhook-secret",
  community: "data",
};

const BY_KIND: {
  readonly [kind in FieldKind]: { readonly type?: string; readonly items?: JsonObject; readonly format?: string; readonly example: Json };
} = {
  id: { type: "string", example: "x-1" },
  text: { type: "string", example: "Some text." },
  prose: { type: "string", example: "Some text." },
  number: { type: "number", example: 3 },
  money: { type: "number", example: 3 },
  integer: { type: "integer", example: 2 },
  boolean: { type: "boolean", example: true },
  time: { type: "string", format: "date-time", example: "2026-01-05T09:00:00Z" },
  seconds: { type: "integer", example: 600 },
  words: { type: "array", items: { type: "string" }, example: ["csv"] },
  refs: { type: "array", items: { type: "string" }, example: ["agent-2"] },
  status: { type: "string", example: "open" },
  vote: { example: 1 },
  json: { example: { rows: "a,b\n1,2" } },
  posts: { type: "array", items: { type: "object" }, example: [] },
  secret: { type: "string", example: "example-secret" },
};

/** Fields left out of the examples, which are a top-level post and a job that nobody has taken yet. */
const NOT_IN_EXAMPLES: ReadonlySet<string> = new Set(["parentId", "assigneeId", "assigneeHandle", "verdict"]);

/** Fields left out of lists: only the answer that creates a key shows it. */
const NOT_IN_LISTS: ReadonlySet<FieldKind> = new Set(["secret", "posts", "json"]);

/** Schema of one record, with each field at the profile's first candidate. */
export function recordSchema(profile: Profile, record: RecordName, inList = false): JsonObject {
  if (!isReadableRecord(record)) return { type: "object" };
  const root: Node = new Map();
  const candidates: Readonly<Record<string, readonly string[] | undefined>> = profile.records[record] ?? {};
  for (const [field, kind] of Object.entries<FieldKind>(FIELDS[record])) {
    const place = candidates[field]?.[0];
    if (place === undefined || (inList && NOT_IN_LISTS.has(kind))) continue;
    put(root, place.split("."), fieldSchema(profile, record, field, kind));
  }
  const id = NEEDS_ID.has(record) ? candidates["id"]?.[0]?.split(".")[0] : undefined;
  return { ...nodeSchema(root), ...(id === undefined ? {} : { required: [id] }) };
}

type Node = Map<string, Node | JsonObject>;

function put(node: Node, [first = "", ...rest]: readonly string[], schema: JsonObject): void {
  if (rest.length === 0) {
    if (!node.has(first)) node.set(first, schema);
    return;
  }
  const below = node.get(first);
  const child: Node = below instanceof Map ? below : new Map();
  node.set(first, child);
  put(child, rest, schema);
}

function nodeSchema(node: Node): JsonObject {
  return {
    type: "object",
    properties: Object.fromEntries([...node].map(([name, item]) => [name, item instanceof Map ? nodeSchema(item) : item])),
  };
}

function fieldSchema(profile: Profile, record: RecordName, field: string, kind: FieldKind): JsonObject {
  const { example, ...schema } = BY_KIND[kind];
  const shown = kind === "id" && field === "id" ? `${record}-1` : kind === "time" ? timeExample(profile) : (EXAMPLES[field] ?? example);
  const type = kind === "time" && typeof shown === "number" ? { type: "integer" } : schema;
  const assumed = isGuess(profile, `records.${record}.${field}`) ? { "x-assumed": true } : {};
  return { ...assumed, ...type, ...(NOT_IN_EXAMPLES.has(field) ? {} : { examples: [shown] }) };
}

function timeExample(profile: Profile): Json {
  const at = Date.UTC(2026, 0, 5, 9);
  return profile.times === "seconds" ? at / 1_000 : profile.times === "milliseconds" ? at : new Date(at).toISOString();
}

/** Schema of a page, in the profile's first envelope. */
export function listSchema(profile: Profile, record: RecordName): JsonObject {
  const own = isReadableRecord(record) ? profile.lists[record]?.[0] : undefined;
  const place = own ?? profile.lists["any"]?.[0] ?? "$";
  const items: JsonObject = { type: "array", items: recordSchema(profile, record, true) };
  if (place === "$") return items;
  const root: Node = new Map();
  put(root, place.split("."), items);
  const next = profile.paging.next[0];
  if (profile.paging.style === "cursor" && next !== undefined)
    put(root, next.split("."), { "x-assumed": true, type: ["string", "null"], examples: [null] });
  const assumed = isGuess(profile, `lists.${record}`) ? { "x-assumed": true } : {};
  return { ...assumed, ...nodeSchema(root), required: [place.split(".")[0] ?? place] };
}

export function errorSchema(profile: Profile): JsonObject {
  const root: Node = new Map();
  const { code, message } = profile.errors;
  if (code[0] !== undefined) put(root, code[0].split("."), { type: "string", examples: ["not_found"] });
  if (message[0] !== undefined) put(root, message[0].split("."), { type: "string", examples: ["There is no such object."] });
  return { ...(isGuess(profile, "errors") ? { "x-assumed": true } : {}), ...nodeSchema(root) };
}

/** Schemas of an operation's inputs, with the network's values where the profile maps them. */
export function inputSchemas(operation: ProfileOperation): Record<string, JsonObject> {
  return Object.fromEntries(
    Object.entries(operation.input.shape).map(([name, type]) => {
      const words = operation.values[name];
      return [name, words === undefined ? inputSchema(type) : { enum: Object.values(words) }];
    }),
  );
}

/** The schema of one input. */
export function inputSchema(type: z.core.$ZodType): JsonObject {
  const { $schema: _, ...schema } = z.toJSONSchema(type, { io: "input" });
  const text = JSON.stringify(schema);
  // Only "any JSON" is recursive; its references would point nowhere inside a larger document.
  const plain: unknown = text.includes('"$ref"') ? {} : JSON.parse(text);
  return isObject(plain) ? plain : {};
}
