/** Drafts the requests of matched operations: path, query, body, the network's values, and inputs that only this network wants. */
import { endpointPath, parseBaseAddress } from "../../contract/base-address.ts";
import { OPERATIONS } from "../../contract/operations.ts";
import type { ProfileOperation } from "../../contract/profile/network-operations.ts";
import type { Profile } from "../../contract/profile/profile.ts";
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import type { Proposal } from "../finding.ts";
import { pathFor } from "../guess-shapes.ts";
import type { ApiOperation } from "./api-operations.ts";
import { singular, type Match } from "./match-operations.ts";
import type { OpenDocument } from "./open-document.ts";
import { merged, namesIn, typeOf } from "./schema-sample.ts";

const MAX_DEPTH = 3;
const PAGING_INPUTS: readonly string[] = ["limit", "cursor"];
const BY_HANDLE = /^(?:handle|username|user_name|slug|name|login|nick|nickname|screen_name)$/;

export interface DraftingOptions {
  readonly document: OpenDocument;
  readonly profile: Profile;
  readonly baseUrl: string;
}

/** The request of one operation, where it differs from the profile. */
export function draftRequest(options: DraftingOptions, { name, operation, isDoubtful }: Match): readonly Proposal[] {
  const { document, profile } = options;
  const present = profile.operations.get(name);
  const propose = (key: string, value: Json, doubt?: string): Proposal => ({
    path: ["operations", name, key],
    value,
    ...(doubt === undefined ? { isDoubtful: false } : { isDoubtful: true, because: doubt }),
  });
  const proposals: Proposal[] = [];
  const path = pathOf(options, operation);
  const base = parseBaseAddress(options.baseUrl);
  const doubt = isDoubtful ? "the only operation of the document that fits" : undefined;
  if (present?.path === undefined || present.path === "" || !isSamePath(endpointPath(base, present.path), endpointPath(base, path)))
    proposals.push(propose("path", path, doubt));
  if (present?.path === "" || present?.method !== operation.method) proposals.push(propose("method", operation.method, doubt));
  if (present?.unsupported !== undefined && present.path !== "") proposals.push(propose("unsupported", false, doubt));
  if (name === "auth.token") return proposals; // its body carries the key, which is no input
  const inputs = Object.keys(OPERATIONS[name].input.shape).filter(
    (input) => OPERATIONS[name].list !== true || !PAGING_INPUTS.includes(input),
  );
  const target = OPERATIONS[name].target;
  const fields = operation.method === "GET" ? queryFields(document, operation) : bodyFields(document, operation.body?.schema);
  const filled = fillInputs(inputs, fields, path.includes(":") ? undefined : target);
  const key = operation.method === "GET" ? "query" : "body";
  const template = key === "query" ? withNewestFirst(filled.template, operation) : operation.body === undefined ? null : filled.template;
  if (!isAlike(template, inputs, present?.[key])) proposals.push(propose(key, template, filled.guessed ?? doubt));
  if (Object.keys(filled.values).length > 0) proposals.push(propose("values", filled.values));
  if (Object.keys(filled.extra).length > 0)
    proposals.push(propose("input", filled.extra, "the network requires what no operation of ours has"));
  if (operation.body?.encoding === "form") proposals.push(propose("encoding", "form"));
  return proposals;
}

function isSamePath(one: string, other: string): boolean {
  const plain = (path: string): string => path.replaceAll(/\{(\w+)\}/g, ":$1");
  return plain(one) === plain(other);
}

/** Returns true if an operation of the profile is this one of the document. */
export function isStatedAt(options: DraftingOptions, { method, path }: ProfileOperation, operation: ApiOperation): boolean {
  const base = parseBaseAddress(options.baseUrl);
  const placeOf = (stated: string): string => endpointPath(base, stated).replaceAll(/\{\w+\}|:\w+/g, ":");
  return method === operation.method && placeOf(path) === placeOf(pathOf(options, operation));
}

/** The path under the base address; the object acted on is `:id` or `:handle`. */
export function pathOf({ document, baseUrl }: Pick<DraftingOptions, "document" | "baseUrl">, { path }: Pick<ApiOperation, "path">): string {
  const named = path.replaceAll(/\{([^{}]*)\}/g, (_, name: string) => (BY_HANDLE.test(snake(name)) ? ":handle" : ":id"));
  const server = serverPath(document.root, baseUrl);
  if (server === undefined) return named;
  const whole = `${server}${named}`;
  const { segments } = parseBaseAddress(baseUrl);
  const kept = /^v\d+$/.test(segments.at(-1) ?? "") ? segments.slice(0, -1) : segments;
  const prefix = kept.map((segment) => `/${segment}`).join("");
  return whole.startsWith(`${prefix}/`) ? whole.slice(prefix.length) : named;
}

/** The path of the document's first server; undefined if it states none. */
function serverPath(root: JsonObject, baseUrl: string): string | undefined {
  const { servers, basePath } = root;
  const [first] = Array.isArray(servers) ? (servers as readonly Json[]) : [];
  const stated = isObject(first) ? first["url"] : basePath;
  if (typeof stated !== "string" || stated === "") return undefined;
  const url = URL.parse(stated.replace(/^\{[^{}]*\}/, ""), baseUrl);
  return url === null || url.pathname.includes("%7B") ? undefined : url.pathname.replace(/\/+$/, "");
}

interface Field {
  readonly schema: JsonObject;
  readonly required: boolean;
}

type Fields = ReadonlyMap<string, Field>;

function queryFields(document: OpenDocument, { query }: ApiOperation): Fields {
  return new Map(query.map(({ name, schema, required }) => [name, { schema: merged(document, schema) ?? {}, required }]));
}

/** Every member of a body by its path. */
function bodyFields(document: OpenDocument, schema: Json | undefined): Fields {
  const fields = new Map<string, Field>();
  const visit = (at: Json | undefined, path: string, required: boolean, depth: number): void => {
    const whole = merged(document, at);
    if (whole === undefined) return;
    const { properties } = whole;
    if (!isObject(properties) || depth >= MAX_DEPTH) {
      if (path !== "") fields.set(path, { schema: whole, required });
      return;
    }
    const needed = namesIn(whole["required"]);
    for (const [name, item] of Object.entries(properties))
      if (!/[\s.$]/.test(name)) visit(item, path === "" ? name : `${path}.${name}`, required && needed.includes(name), depth + 1);
  };
  visit(schema, "", true, 0);
  return fields;
}

interface Filled {
  readonly template: JsonObject;
  readonly values: Record<string, JsonObject>;
  readonly extra: Record<string, JsonObject>;
  /** The reason for which the template is a guess. */
  readonly guessed?: string;
}

/** A template that puts each input of ours where its name says, and asks for what else is required. */
function fillInputs(inputs: readonly string[], fields: Fields, target: string | undefined): Filled {
  const template: Record<string, Json> = {};
  const values: Record<string, JsonObject> = {};
  const extra: Record<string, JsonObject> = {};
  const free = new Map(fields);
  let guessed: string | undefined;
  const put = (path: string, value: Json): void => {
    free.delete(path);
    const names = path.split(".");
    let at = template;
    for (const name of names.slice(0, -1)) {
      const below = at[name];
      at = at[name] = isObject(below) ? (below as Record<string, Json>) : {};
    }
    at[names.at(-1) ?? ""] = value;
  };
  const objectAt = target === undefined ? undefined : targetIn(target, free);
  if (objectAt !== undefined) put(objectAt, "{target}");
  for (const input of inputs) {
    const path = free.has(input) ? input : (pathFor(input, [...free.keys()]) ?? onlyText(input, free));
    if (path === undefined) continue;
    const field = free.get(path);
    if (pathFor(input, [path]) === undefined && path !== input) guessed = `the only text of the body, for ${input}`;
    const mapped = input === "direction" && field !== undefined ? directions(field.schema) : undefined;
    if (mapped !== undefined) values[input] = mapped;
    put(path, `{${input}}`);
  }
  for (const [path, { schema, required }] of free) {
    if (!required || /idempot/i.test(path)) continue;
    const fixed = fixedValue(schema);
    const name = camel(path);
    if (fixed === undefined) extra[name] = { type: inputType(schema), required: true, ...oneOf(schema) };
    put(path, fixed ?? `{${name}}`);
  }
  return { template, values, extra, ...(guessed === undefined ? {} : { guessed }) };
}

/** Inputs that are the whole meaning of their operation. */
const MAIN_INPUTS: readonly string[] = ["content", "deliverable", "message", "query"];

function onlyText(input: string, free: Fields): string | undefined {
  const texts = [...free].filter(
    ([, { schema, required }]) => required && (typeOf(schema) ?? "string") === "string" && fixedValue(schema) === undefined,
  );
  return MAIN_INPUTS.includes(input) && texts.length === 1 ? texts[0]?.[0] : undefined;
}

/** The member that names the object acted on: `task_id`, `post`, else the first id. */
function targetIn(target: string, fields: Fields): string | undefined {
  const ids = [...fields.keys()].filter((path) => /(?:^|_)(?:id|ref|uid|uuid|key)$/.test(snake(path)));
  const named =
    ids.find((path) => snake(path).startsWith(`${target}_`)) ?? ids.find((path) => fields.get(path)?.required === true) ?? ids[0];
  return named ?? [...fields.keys()].find((path) => singular(path) === target);
}

const UP: readonly string[] = ["up", "upvote", "like", "1", "+1", "plus", "positive", "true"];
const DOWN: readonly string[] = ["down", "downvote", "dislike", "-1", "minus", "negative", "false"];

/** The network's values of a vote's direction. Undefined if they are ours. */
function directions(schema: JsonObject): JsonObject | undefined {
  const listed: readonly Json[] = Array.isArray(schema["enum"]) ? (schema["enum"] as readonly Json[]) : [];
  const of = (known: readonly string[]): Json | undefined =>
    listed.find((value) => known.includes(JSON.stringify(value).replaceAll('"', "").toLowerCase()));
  const type = typeOf(schema);
  const [up, down] = listed.length > 0 ? [of(UP), of(DOWN)] : type === "boolean" ? [true, false] : type === "string" ? [] : [1, -1];
  if (up === undefined || (up === "up" && (down === undefined || down === "down"))) return undefined;
  return { up, ...(down === undefined ? {} : { down }) };
}

/** The one value that a field may have. */
function fixedValue(schema: JsonObject): Json | undefined {
  const listed: readonly Json[] = Array.isArray(schema["enum"]) ? (schema["enum"] as readonly Json[]) : [];
  return schema["const"] ?? schema["default"] ?? (listed.length === 1 ? listed[0] : undefined);
}

function inputType(schema: JsonObject): string {
  switch (typeOf(schema)) {
    case "integer":
    case "number":
    case "boolean":
      return String(typeOf(schema));
    case "array":
      return isObject(schema["items"]) && typeOf(schema["items"]) === "string" ? "words" : "json";
    case "string":
      return "text";
    default:
      return "json";
  }
}

function oneOf(schema: JsonObject): { readonly oneOf?: readonly string[] } {
  const listed = namesIn(schema["enum"]);
  return listed.length === 0 || typeOf(schema) !== "string" ? {} : { oneOf: listed };
}

/** Polls begin at the newest, so that order is requested where a list offers it. */
function withNewestFirst(template: JsonObject, { query }: ApiOperation): JsonObject {
  const order = query.find(({ name }) => /^(?:sort|order|order_?by|sort_?by)$/i.test(name));
  const newest = namesIn(order?.schema["enum"]).find((word) =>
    /^(?:new|newest|recent|latest|-?created(?:_at)?(?:[:.-]?desc)?|date)$/i.test(word),
  );
  return order === undefined || newest === undefined || order.schema["default"] === newest
    ? template
    : { ...template, [order.name]: newest };
}

/** True if the template sends what the profile sends already. */
function isAlike(template: JsonObject | null, inputs: readonly string[], present: Json | undefined): boolean {
  const own = Object.fromEntries(inputs.map((input) => [input, `{${input}}`]));
  const same = (one: Json | undefined): boolean => sorted(one ?? null) === sorted(template);
  if (present !== undefined) return same(present);
  return same(own) || (inputs.length === 0 && (template === null || Object.keys(template).length === 0));
}

function sorted(value: Json): string {
  return isObject(value) ? JSON.stringify(Object.entries(value).toSorted(([a], [b]) => a.localeCompare(b))) : JSON.stringify(value);
}

function snake(name: string): string {
  return name
    .replaceAll(/([a-z\d])([A-Z])/g, "$1_$2")
    .replaceAll(/[-.\s]+/g, "_")
    .toLowerCase();
}

/** `expires-in_days` as `expiresInDays`, which a template can name. */
function camel(path: string): string {
  const name = snake(path).replaceAll(/_+(\w)/g, (_, letter: string) => letter.toUpperCase());
  return /^[a-z]\w*$/i.test(name) ? name : `input${name.replaceAll(/\W/g, "")}`;
}
