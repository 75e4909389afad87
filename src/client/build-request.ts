/** Builds method, path and body of a call by a profile; compiled once for each operation. */
import type { Call } from "../contract/call.ts";
import { endpointPath, type BaseAddress } from "../contract/base-address.ts";
import type { Profile } from "../contract/profile/profile.ts";
import { namesOwnId, type ProfileOperation } from "../contract/profile/network-operations.ts";
import { fillTemplate, OWN_ID, pathBuilder, templateFields } from "../contract/profile/template.ts";
import { htmlOfText } from "../contract/reading/html-text.ts";
import { isTrade } from "../contract/secrets.ts";
import type { Secret } from "../core/secret.ts";
import { Refused } from "../core/errors.ts";
import { isObject, type Json, type JsonObject } from "../core/json.ts";
import { cursorParameters, pagingOf } from "./next-page.ts";

export interface BuiltRequest {
  /** With base path and query, encoded. */
  readonly path: string;
  readonly body: string | undefined;
}

/**
 * Builds one operation's requests; an exchange may carry the key in its body, and `me` is the account's own id. Throws `Refused`
 * (`target_*`, `input_*`, `account_unknown`) before anything is sent.
 */
export type RequestBuilder = (call: Call, key?: Secret, me?: string) => BuiltRequest;

const PAGING_INPUTS: ReadonlySet<string> = new Set(["limit", "cursor"]);

export function requestBuilder(profile: Profile, operation: ProfileOperation, base: BaseAddress): RequestBuilder {
  const buildPath = pathBuilder(endpointPath(base, operation.path));
  const ownPaging = pagingOf(profile, operation);
  const inQuery = operation.method === "GET" || operation.method === "DELETE";
  const known = new Set(Object.keys(operation.input.shape));
  const { perUnit } = profile.money;
  const sendsHtml = profile.contents.sent === "html";
  const { query: queryTemplate, body: bodyTemplate } = operation;
  const sendsBody = bodyTemplate === undefined ? !inQuery && known.size > 0 : bodyTemplate !== null;

  const namesKey = isTrade(operation.name) && bodyTemplate !== undefined && templateFields(bodyTemplate).includes("key");
  const namesMe = namesOwnId(operation);

  return (call, key, me) => {
    const input = worded(counted(operation, checkInput(operation, known, call), perUnit), sendsHtml);
    if (namesMe && me === undefined)
      throw new Refused("account_unknown", `${operation.name} names the account's own id, which is not known yet`);
    const values: JsonObject = {
      ...input,
      ...(namesMe ? { [OWN_ID]: me } : {}),
      ...objectsOf(call),
      ...(namesKey && key !== undefined ? { key: key.reveal() } : {}),
    };
    const path = buildPath(values);
    const paging = operation.list ? pagingInputs(ownPaging, input) : [];
    const rest = operation.list ? withoutPaging(input) : input;
    const query: [string, Json][] = inQuery ? [...paging] : [];
    if (queryTemplate !== undefined) query.unshift(...members(fillTemplate(queryTemplate, values)));
    else if (inQuery && bodyTemplate === undefined) query.unshift(...members(rest));
    const search = queryString(query);
    if (!sendsBody) return { path: path + search, body: undefined };
    const filled = bodyTemplate === undefined ? rest : fillTemplate(bodyTemplate, values);
    const body = paging.length > 0 && isObject(filled) && !inQuery ? { ...filled, ...Object.fromEntries(paging) } : filled;
    return { path: path + search, body: operation.encoding === "form" ? formOf(body) : JSON.stringify(body ?? {}) };
  };
}

function checkInput(operation: ProfileOperation, known: ReadonlySet<string>, call: Call): JsonObject {
  if (operation.target !== undefined && call.target === undefined)
    throw new Refused("target_missing", `${operation.name} needs the id of the ${operation.target} it acts on`);
  if (operation.target === undefined && call.target !== undefined)
    throw new Refused("target_unexpected", `${operation.name} acts on no object, got a target`);
  const stray = Object.keys(call.input).find((name) => !known.has(name));
  if (stray !== undefined)
    throw new Refused("input_unknown", `${operation.name} has no input "${stray}"`, {
      hint: known.size === 0 ? "it takes none" : `it takes ${[...known].join(", ")}`,
    });
  const parsed = operation.input.safeParse(call.input);
  if (!parsed.success) {
    const [issue] = parsed.error.issues;
    throw new Refused("input_invalid", `${operation.name}: ${issue?.path.join(".") ?? "input"}: ${issue?.message ?? "not valid"}`);
  }
  return translated(operation, parsed.data as JsonObject); // every input schema describes JSON
}

/** Replaces our values by the network's, and refuses those it has no word for. */
function translated(operation: ProfileOperation, input: JsonObject): JsonObject {
  let changed: Record<string, Json | undefined> | undefined;
  for (const [name, words] of Object.entries(operation.values)) {
    const value = input[name];
    if (value === undefined) continue;
    const key = typeof value === "string" ? value : JSON.stringify(value);
    const word = Object.hasOwn(words, key) ? words[key] : undefined;
    if (word === undefined) {
      const taken = Object.keys(words).map((ours) => `"${ours}" (${JSON.stringify(words[ours])})`);
      throw new Refused("input_unsupported", `this network's ${operation.name} does not accept ${name} "${key}"`, {
        hint: `it accepts only ${taken.join(", ")}`,
      });
    }
    changed ??= { ...input };
    changed[name] = word;
  }
  return changed ?? input;
}

/** Inputs that people read. */
const PROSE: readonly string[] = ["content", "description", "bio", "message"];

function worded(input: JsonObject, asHtml: boolean): JsonObject {
  if (!asHtml) return input;
  return Object.fromEntries(
    Object.entries(input).map(([name, value]) => [name, PROSE.includes(name) && typeof value === "string" ? htmlOfText(value) : value]),
  );
}

/** The object acted on, the post at the root of its thread, and the comment that a reply answers if it is not that post. */
function objectsOf({ target, thread = target }: Call): JsonObject {
  if (target === undefined) return {};
  return { target, thread, ...(thread === target ? {} : { comment: target }) };
}

/** Amounts as the network counts them. One that it cannot express is refused, since another would be paid. */
function counted({ name, money }: ProfileOperation, input: JsonObject, perUnit: number): JsonObject {
  if (perUnit === 1) return input;
  const amounts = money.flatMap((field): [string, number][] => {
    const units = input[field];
    if (typeof units !== "number") return [];
    // 1.1 times 100 is 110.00000000000001.
    const amount = Number((units * perUnit).toPrecision(15));
    if (!Number.isSafeInteger(amount))
      throw new Refused("input_invalid", `${name}: ${field}: expected a multiple of 1/${perUnit}, got ${units}`);
    return [[field, amount]];
  });
  return amounts.length === 0 ? input : { ...input, ...Object.fromEntries(amounts) };
}

function pagingInputs(paging: Profile["paging"], input: JsonObject): [string, Json][] {
  const { limit, cursor } = input;
  const asked: [string, Json][] = [];
  if (typeof limit === "number") asked.push([paging.limitParameter, Math.min(limit, paging.maxLimit)]);
  if (typeof cursor !== "string") return asked;
  const place = cursorParameters(paging, cursor);
  // A link repeats the page size, and its own parameters win.
  return [...asked.filter(([name]) => !place.some(([other]) => other === name)), ...place];
}

function withoutPaging(input: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(input).filter(([name]) => !PAGING_INPUTS.has(name)));
}

function members(value: Json | undefined): [string, Json][] {
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, item]): [string, Json][] => (item === undefined || item === null ? [] : [[name, item]]));
}

function queryString(query: readonly [string, Json][]): string {
  if (query.length === 0) return "";
  // Later entries replace earlier ones, so that a link's parameters win over ours.
  const parameters = new Map(query.map(([name, value]) => [name, Array.isArray(value) ? value.map(plain).join(",") : plain(value)]));
  return `?${[...parameters].map(([name, value]) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`).join("&")}`;
}

function formOf(body: Json | undefined): string {
  return new URLSearchParams(members(body).map(([name, value]): [string, string] => [name, plain(value)])).toString();
}

function plain(value: Json): string {
  return typeof value === "string" ? value : JSON.stringify(value);
}
