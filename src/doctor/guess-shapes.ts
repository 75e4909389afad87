/** Guesses an unknown network's shapes from a few answers: the place of the list, and the meaning of fields. */
import { fieldPath, valueAt } from "../contract/reading/field-path.ts";
import { FIELDS, type FieldKind, type ReadableRecord } from "../contract/reading/fields.ts";
import {
  readBoolean,
  readId,
  readInteger,
  readNumber,
  readReferences,
  readSeconds,
  readText,
  readTime,
  readVote,
  readWords,
} from "../contract/reading/values.ts";
import { isObject, type Json, type JsonObject } from "../core/json.ts";

const MAX_DEPTH = 4;
const MAX_PATHS = 300;
/** Longer keys are data, not names. */
const MAX_KEY_LENGTH = 64;
/** Items examined for each guess. */
const MAX_ITEMS = 50;
/** Names of lists that never hold the requested items. */
const ASIDE = /error|warning|link|meta|facet|include|notice|filter/i;

/** The path of the list in an answer: the longest list of objects at the least depth, or undefined. */
export function findList(body: Json | undefined): string | undefined {
  const lists: { readonly path: string; readonly depth: number; readonly length: number }[] = [];
  const visit = (value: Json | undefined, path: readonly string[]): void => {
    if (Array.isArray(value)) {
      if (value.every((item: Json) => isObject(item)))
        lists.push({ path: path.length === 0 ? "$" : path.join("."), depth: path.length, length: value.length });
      return;
    }
    if (!isObject(value) || path.length >= MAX_DEPTH) return;
    for (const [key, item] of Object.entries(value)) if (!ASIDE.test(key) && /^[^\s.$]+$/.test(key)) visit(item, [...path, key]);
  };
  visit(body, []);
  return lists.sort((a, b) => Number(b.length > 0) - Number(a.length > 0) || a.depth - b.depth || b.length - a.length)[0]?.path;
}

/** The path of the single object with this id among its own values, or undefined. */
export function findSingle(body: Json | undefined, idPath: string, id: string): string | undefined {
  const visit = (value: Json | undefined, path: readonly string[]): string | undefined => {
    if (!isObject(value) || path.length > MAX_DEPTH) return undefined;
    const found = valueAt(value, fieldPath(idPath));
    if (found !== undefined && found !== null && readId(found) === id) return path.length === 0 ? "$" : path.join(".");
    for (const [key, item] of Object.entries(value)) {
      const below = ASIDE.test(key) ? undefined : visit(item, [...path, key]);
      if (below !== undefined) return below;
    }
    return undefined;
  };
  return visit(body, []);
}

const WHO =
  "(?:author|user|agent|creator|created_by|owner|poster|posted_by|by|account|sender|from|writer|bot|client|employer|publisher|requester)";
const WORKER = "(?:assignee|assigned_to|assigned|worker|contractor|hired|taker|winner|freelancer)";
const NAME = "(?:handle|username|user_name|login|nick|nickname|slug|screen_name|name)";
const MONEY = "(?:reward|budget|price|pay|payment|amount|bounty|fee|credits|payout|prize)";
const ID = "(?:id|uid|uuid|guid|key|ref|pk)";

/** Names of ids of other objects: the author's, the parent's, the community's. */
const FOREIGN_ID = new RegExp(
  `^(?:${WHO}|${WORKER}|applicant|bidder|candidate|parent|thread|root|in_reply_to|reply_to|community|group|channel|board)_`,
);

/** Places that name whoever does a job, and so never its author. */
const WORKERS_PLACE = new RegExp(`^(?:[a-z]+_)?${WORKER}(?:_|$)`);

/** Patterns for the names of our fields, in lower case with underscores, best first. */
const HINTS: Readonly<Record<string, readonly string[]>> = {
  id: [
    "id",
    "_?(?:uuid|uid|guid|pk)",
    `(?:application|bid|proposal)_${ID}`,
    `(?:post|job|agent|community|webhook|hook|task|gig|item|entry|note|group|specialist|account|user)_${ID}`,
    "(?:key|ref|number|no|code)",
    `[a-z]+_${ID}`,
    "slug",
    "handle",
  ],
  authorId: [`${WHO}_${ID}`, `[a-z]+_${WHO}_${ID}`],
  authorHandle: [`${WHO}_${NAME}`, WHO, NAME],
  content: [
    "(?:content|text|body|markdown|message)",
    "(?:content|text|body|message)_[a-z]+",
    "[a-z]+_(?:content|text|body|message)",
    "(?:msg|caption|note|html|value|what|words)",
  ],
  community: [
    "(?:community|group|channel|board|forum|space|submolt|topic|room|guild|hub|club|circle|tribe|team|realm)(?:_(?:handle|slug|name|id))?",
  ],
  parentId: [`(?:parent|in_reply_to|reply_to|replied_to|thread|root)(?:_post)?(?:_${ID})?`],
  createdAtMs: [
    "(?:created|posted|published|submitted)(?:_(?:at|on|ts|time|date|ms))?",
    "(?:timestamp|ts|date|time|when|at)",
    "[a-z]+_(?:at|on|ts|time|date)",
  ],
  votes: ["(?:votes|score|likes|upvotes|points|karma)", "(?:vote|like|upvote)s?_(?:count|total|n)", "(?:n|num)_(?:votes|likes)"],
  ownVote: [
    "(?:my|own|your|viewer|user)_(?:vote|like|reaction)",
    "(?:voted|liked|upvoted)_by_(?:me|viewer)",
    "(?:viewer_)?(?:has|did)_(?:voted|liked|upvoted)",
    "(?:liked|voted|upvoted)",
  ],
  replyCount: ["(?:reply|replies|comment|comments|answers?|children)_(?:count|total|n)", "(?:n|num)_(?:replies|comments)"],
  title: ["(?:title|subject|headline|summary|name|heading)", "[a-z]+_(?:title|name)"],
  description: ["(?:description|details?|body|content|text|brief|about|spec|instructions)", "(?:summary|tagline)", "[a-z]+_description"],
  skills: ["(?:skills?|tags|requirements|capabilities|topics|abilities|needs)", "[a-z]+_(?:skills|tags)"],
  reward: [`${MONEY}`, `${MONEY}_(?:amount|value|credits|total)`, `${MONEY}_[a-z]+`],
  status: ["(?:status|state|phase|stage|progress)", "[a-z]+_(?:status|state)"],
  assigneeId: [`${WORKER}_${ID}`],
  assigneeHandle: [`${WORKER}_${NAME}`, WORKER],
  deadlineMs: ["(?:deadline|due|expires|expiry|ends|closes)(?:_(?:at|on|by|date|time|ts))?"],
  input: ["(?:input|payload|data|attachments?|materials?|dataset|files?|resources?)", "[a-z]+_(?:input|data|files?)"],
  verdict: ["(?:verdict|feedback|reason|review|remark|comment)(?:_[a-z]+)?", "[a-z]+_(?:reason|feedback|note)"],
  replies: ["(?:replies|comments|answers|children|responses|thread|discussion|kids)", "[a-z]+_(?:replies|comments|answers)"],
  handle: ["handle", "(?:username|user_name|slug|login|nick|nickname|screen_name|short_name)", "name"],
  name: ["(?:name|display_name|title|label|full_name)"],
  bio: ["(?:bio|about|description|summary|tagline|profile)"],
  tier: ["(?:tier|plan|level)"],
  trust: ["trust(?:_[a-z]+)?"],
  reputation: ["(?:reputation|karma|rep|score|rating)(?:_[a-z]+)?"],
  memberCount: ["(?:member|members|subscriber|subscribers|user|users)(?:_(?:count|total|n))?", "(?:size|population)"],
  joined: ["(?:joined|is_member|member|subscribed|is_joined)"],
  url: ["(?:url|target_url|endpoint|callback|callback_url|link|href|uri)"],
  events: ["(?:events|event_types|topics|kinds|subscriptions)"],
  active: ["(?:active|enabled|is_active)"],
  applied: ["(?:has|already|i|have)_applied(?:_by_me)?", "applied_by_me"],
  jobId: [`(?:job|task|gig|bounty|order|quest|work|mission|contract)(?:_${ID})?`],
  snippet: ["(?:snippet|excerpt|summary|description|extract|text)"],
  apiKey: ["api_(?:key|token)", "(?:key|key_value|access_key|token|secret)"],
  webhookSecret: ["(?:secret|signing_secret|signing_key|webhook_secret)"],
  accessToken: ["access_token", "(?:token|jwt|bearer)"],
  expiresInMs: ["(?:expires_in|ttl|lifetime)(?:_[a-z]+)?"],
  // Inputs of requests.
  direction: ["(?:direction|vote|value|kind|type|score|reaction|up)"],
  message: ["(?:message|cover_letter|proposal|pitch|note|comment|text|body|content|letter|motivation)"],
  deliverable: ["(?:deliverable|result|output|work|answer|submission|content|payload|data|text|body)", "(?:result|output)_[a-z]+"],
  deadline: ["(?:deadline|due|expires|expiry|ends|closes)(?:_(?:at|on|by|date|time|ts))?"],
  query: ["(?:query|q|term|terms|search|keywords?|text)"],
  secret: ["(?:secret|signing_secret|signing_key|webhook_secret)"],
  refreshToken: ["refresh_token", "(?:refresh|token)"],
  skill: ["(?:skills?|tags?|requirement|capability|topic)"],
  author: [`${WHO}(?:_(?:id|handle|name))?`],
};

export interface FieldGuess {
  readonly field: string;
  readonly path: string;
  /** Matched by its name, or only because nothing else fits. */
  readonly by: "name" | "value";
  /** Number of objects that hold it. */
  readonly seen: number;
}

/** Guesses for those `fields` of a record that the profile found in no item; `known` places are taken. */
export function guessFields(
  record: ReadableRecord,
  items: readonly JsonObject[],
  fields: readonly string[],
  known: readonly string[] = [],
): FieldGuess[] {
  const seen = flatten(items.slice(0, MAX_ITEMS));
  const taken = new Set<string>(known);
  const kinds: Readonly<Record<string, FieldKind>> = FIELDS[record];
  return fields.flatMap((field): FieldGuess[] => {
    const kind = kinds[field];
    if (kind === undefined) return [];
    const fits = [...seen].filter(
      ([path, values]) =>
        !taken.has(path) &&
        fitsKind(kind, values) &&
        (!field.startsWith("author") || !WORKERS_PLACE.test(snake(path))) &&
        (field !== "id" || isOwnId(record, path, values, items.length)) &&
        (field !== "handle" || isIdentity(values, items.length)),
    );
    const named = byName(
      HINTS[field] ?? [],
      fits.map(([path]) => path),
    );
    const path = named ?? foreignId(field, seen, taken, items.length) ?? byValue(field, fits);
    if (path === undefined) return [];
    taken.add(path);
    return [{ field, path, by: named === undefined ? "value" : "name", seen: seen.get(path)?.length ?? 0 }];
  });
}

/** Places for a field, by name, that were in every item and always empty: candidates at best, because their future content is unknown. */
export function guessEmpty(items: readonly JsonObject[], field: string, known: readonly string[] = []): readonly string[] {
  const full = flatten(items.slice(0, MAX_ITEMS));
  const empty = [...emptyPaths(items.slice(0, MAX_ITEMS))].filter((path) => !known.includes(path) && ![...full.keys()].includes(path));
  const plain = byName(HINTS[field] ?? [], empty);
  const person = byName(PERSONS[field] ?? [], empty);
  if (person === undefined) return plain === undefined ? [] : [plain];
  const inner = field.endsWith("Id") ? INNER_IDS : INNER_NAMES;
  const isPascal = /^[A-Z]/.test(person.split(".").at(-1) ?? "");
  const within = inner.map((name) => `${person}.${isPascal ? name.slice(0, 1).toUpperCase() + name.slice(1) : name}`);
  return field.endsWith("Id") ? within : [...within, person];
}

/** A name alone, such as `worker`, may later hold an object. */
const PERSONS: Readonly<Record<string, readonly string[]>> = { assigneeId: [WORKER], assigneeHandle: [WORKER] };
const INNER_IDS = ["id", "uid", "key", "uuid", "agent_id", "user_id"];
const INNER_NAMES = ["handle", "username", "name", "login", "nick", "slug"];

function emptyPaths(items: readonly JsonObject[]): ReadonlySet<string> {
  const found = new Set<string>();
  const visit = (value: Json | undefined, path: string, depth: number): void => {
    if (value === null && path !== "" && !/[\s$]/.test(path)) found.add(path);
    if (!isObject(value) || depth >= 2 || found.size >= MAX_PATHS) return;
    for (const [key, item] of Object.entries(value))
      if (key.length <= MAX_KEY_LENGTH && !key.includes(".")) visit(item, path === "" ? key : `${path}.${key}`, depth + 1);
  };
  for (const item of items) visit(item, "", 0);
  return found;
}

/** The best name for a field among some paths. */
export function pathFor(field: string, paths: readonly string[]): string | undefined {
  return byName(HINTS[field] ?? [], paths);
}

function byName(hints: readonly string[], paths: readonly string[]): string | undefined {
  for (const hint of hints) {
    const pattern = new RegExp(`^(?:[a-z]+_)?${hint}$`);
    const exact = new RegExp(`^${hint}$`);
    const hits = paths.filter((path) => exact.test(snake(path)) || (path.includes(".") && pattern.test(snake(path))));
    const best = hits.sort((a, b) => a.split(".").length - b.split(".").length || a.length - b.length)[0];
    if (best !== undefined) return best;
  }
  return undefined;
}

/** An id named like another object's: where nothing else is named like an id, and each item has one of its own. */
function foreignId(
  field: string,
  seen: ReadonlyMap<string, readonly Json[]>,
  taken: ReadonlySet<string>,
  items: number,
): string | undefined {
  if (field !== "id") return undefined;
  const own = [...seen].filter(([path, values]) => !path.includes(".") && !taken.has(path) && isIdentity(values, items));
  return byName(
    [`[a-z]+_${ID}`],
    own.map(([path]) => path),
  );
}

function byValue(field: string, fits: readonly (readonly [string, readonly Json[]])[]): string | undefined {
  if (field === "id") return fits.find(([candidate]) => !candidate.includes("."))?.[0];
  if (field !== "content") return undefined;
  const lengthOf = (values: readonly Json[]): number =>
    values.reduce<number>((sum, value) => sum + (typeof value === "string" ? value.length : 0), 0) / values.length;
  const longest = [...fits].sort((a, b) => lengthOf(b[1]) - lengthOf(a[1]))[0];
  return longest === undefined || lengthOf(longest[1]) < 20 ? undefined : longest[0];
}

/** `createdAt` and `author.handle` as `created_at` and `author_handle`. */
function snake(path: string): string {
  return path
    .replaceAll(/([a-z\d])([A-Z])/g, "$1_$2")
    .replaceAll(/[.\-\s]+/g, "_")
    .toLowerCase();
}

/** All paths to plain values and lists in some objects, with the values found there. */
function flatten(items: readonly JsonObject[]): Map<string, Json[]> {
  const found = new Map<string, Json[]>();
  const visit = (value: Json | undefined, path: string, depth: number): void => {
    if (value === undefined || value === null || /[\s$]/.test(path)) return;
    if (isObject(value)) {
      if (depth < 3)
        for (const [key, item] of Object.entries(value))
          if (key.length <= MAX_KEY_LENGTH && !key.includes(".")) visit(item, path === "" ? key : `${path}.${key}`, depth + 1);
      return;
    }
    const values = found.get(path);
    if (values !== undefined) values.push(value);
    else if (found.size < MAX_PATHS) found.set(path, [value]);
  };
  for (const item of items) visit(item, "", 0);
  return found;
}

function isOwnId(record: ReadableRecord, path: string, values: readonly Json[], items: number): boolean {
  const isForeign = record !== "agent" && record !== "community" && FOREIGN_ID.test(snake(path));
  return !isForeign && isIdentity(values, items);
}

function isIdentity(values: readonly Json[], items: number): boolean {
  const ids = values.map((value) => readId(value));
  return (
    values.length === Math.min(items, MAX_ITEMS) &&
    new Set(ids).size === values.length &&
    ids.every((id) => id !== undefined && id.length <= 128 && !/\s/.test(id))
  );
}

const READERS: { readonly [kind in FieldKind]?: (value: Json) => unknown } = {
  id: readId,
  text: readText,
  number: readNumber,
  money: readNumber,
  integer: readInteger,
  boolean: readBoolean,
  time: (value) => readTime(value, "auto"),
  words: (value) => (Array.isArray(value) ? readWords(value) : undefined),
  refs: readReferences,
  status: readText,
  vote: readVote,
  seconds: readSeconds,
  secret: readText,
};

function fitsKind(kind: FieldKind, values: readonly Json[]): boolean {
  const read = READERS[kind];
  return read !== undefined && values.every((value) => read(value) !== undefined);
}
