/** What an accent is asked, as the set itself would have been asked: paths, names of inputs, ids, pages. */
import { ENDPOINT_ROWS, OPERATIONS, type EndpointSet, type OperationName } from "../../../../src/contract/operations.ts";
import { isObject, parseJson, type Json, type JsonObject } from "../../../../src/core/json.ts";
import type { NetworkRequest } from "../../../../src/local-network/server/exchange.ts";
import { kindHeard } from "./events.ts";
import type { Ids, Kind } from "./ids.ts";
import { pagingHeard } from "./lists.ts";
import { cased, type Voice } from "./voice.ts";
import type { INPUTS } from "./words.ts";

/** One operation as the accent offers it: what its documentation would say, since no read can show it. */
export interface Spoken {
  readonly method: string;
  /** With `{target}` where the object acted on stands in the path. */
  readonly path: string;
  /** Where the object acted on stands in the body, if it does. */
  readonly targetAt?: readonly string[];
  /** Where each input stands in body or query, by the set's own names. */
  readonly inputs: Readonly<Record<string, readonly string[]>>;
  /** The accent's words for values of ours. */
  readonly words?: Readonly<Record<string, Readonly<Record<string, Json>>>>;
  /** Whether success is only acknowledged, without the record. */
  readonly acknowledged?: true;
}

export type Speech = { readonly [operation in OperationName]?: Spoken };

type InputName = keyof typeof INPUTS;

/** Inputs of each operation that go over the wire, by the set's own names. */
const TAKES: { readonly [operation in OperationName]?: readonly InputName[] } = {
  "agents.create": ["handle", "name", "bio", "skills"],
  "agents.update": ["name", "bio", "skills"],
  "posts.list": ["community"],
  "posts.create": ["content", "community"],
  "posts.reply": ["content"],
  "posts.vote": ["direction"],
  "jobs.create": ["title", "description", "skills", "reward", "deadline"],
  "jobs.apply": ["message"],
  "jobs.submit": ["deliverable"],
  "search.web": ["query"],
  "search.agents": ["query"],
  "search.jobs": ["query"],
  "webhooks.create": ["url", "events", "secret"],
};

/** What wraps an operation's body where the accent wraps. */
const WRAPPERS: { readonly [operation in OperationName]?: string } = {
  "posts.create": "post",
  "posts.reply": "comment",
  "jobs.create": "job",
  "jobs.apply": "bid",
  "jobs.submit": "delivery",
  "webhooks.create": "webhook",
};
const ACKNOWLEDGED: ReadonlySet<OperationName> = new Set(["posts.vote", "jobs.submit", "communities.join"]);
const TARGET_KINDS: { readonly [target: string]: Kind } = { agent: "agt", post: "post", job: "job", community: "com", webhook: "wh" };

export function speechOf(voice: Voice, set: EndpointSet): Speech {
  const rows = ENDPOINT_ROWS.filter((row) => row.set === set);
  return Object.fromEntries(rows.map((row) => [row.operation, spoken(voice, set, row)]));
}

function spoken(voice: Voice, set: EndpointSet, row: (typeof ENDPOINT_ROWS)[number]): Spoken {
  const { operation } = row;
  const inBody = voice.targetInBody && (operation === "jobs.apply" || operation === "posts.vote");
  const name = (words: string): string => cased(voice.letters, words);
  const wrapper = voice.wrapped ? WRAPPERS[operation] : undefined;
  const at = (words: string): readonly string[] => (wrapper === undefined ? [name(words)] : [name(wrapper), name(words)]);
  const takes = (TAKES[operation] ?? []).filter((input) => !(input === "direction" && set === "a"));
  // The one field that is published keeps its name unless nothing else does.
  const said = (input: InputName): string => (operation === "posts.create" && input === "content" ? "content" : voice.inputs[input]);
  const isQuery = row.method === "GET";
  const target = OPERATIONS[operation].target;
  return {
    method: row.method === "PATCH" ? voice.updates : row.method,
    path: inBody ? pathWithout(voice, row.path) : pathIn(voice, row.path),
    ...(inBody && target !== undefined ? { targetAt: at(`${target} id`) } : {}),
    inputs: Object.fromEntries(takes.map((input) => [input, isQuery ? [name(said(input))] : at(said(input))])),
    ...(operation === "posts.vote" && set === "b" ? { words: { direction: votesIn(voice) } } : {}),
    ...(ACKNOWLEDGED.has(operation) && voice.done !== "record" ? { acknowledged: true } : {}),
  };
}

function votesIn({ votes }: Voice): Readonly<Record<string, Json>> {
  if (votes === "numbers") return { up: 1, down: -1 };
  return votes === "words" ? { up: "up", down: "down" } : { up: "upvote", down: "downvote" };
}

/** A published path with the accent's nouns. */
function pathIn({ nouns }: Voice, path: string): string {
  return path
    .split("/")
    .map((segment, index) => {
      if (segment.startsWith(":")) return "{target}";
      if (index < 2) return segment;
      if (segment === "like" || segment === "vote")
        return nouns.vote === "upvote" && segment === "vote" ? "votes" : wordFor(nouns.vote, segment);
      if (segment === "submit" || segment === "complete") return nouns.submit === "submit" ? segment : nouns.submit;
      return nouns[segment as keyof typeof nouns] ?? segment;
    })
    .join("/");
}

function wordFor(noun: string, published: string): string {
  return noun === "vote" ? published : noun;
}

/** The path of an operation whose object stands in the body: `/v1/bids`. */
function pathWithout(voice: Voice, path: string): string {
  const verb = pathIn(voice, path).split("/").at(-1) ?? "";
  return `/v1/${verb}`;
}

/** Turns requests in an accent into the set's own. Never throws: what it cannot make out goes on as it is, to be refused there. */
export function hearer(voice: Voice, set: EndpointSet, ids: Ids): (request: NetworkRequest) => NetworkRequest {
  const speech = speechOf(voice, set);
  const routes = ENDPOINT_ROWS.filter((row) => row.set === set).flatMap((row) => {
    const spoken = speech[row.operation];
    return spoken === undefined ? [] : [{ row, spoken, pattern: patternOf(spoken.path) }];
  });
  return (request) => {
    const headers = keyHeard(voice, request.headers);
    const fits = routes.filter(({ pattern }) => pattern.test(request.path));
    const route = fits.find(({ spoken }) => spoken.method === request.method);
    if (route === undefined)
      return {
        ...request,
        headers,
        path: fits.length === 0 ? "/v1/nowhere" : (fits[0]?.row.path.replace(/:\w+/, "0") ?? ""),
        method: fits.length === 0 ? request.method : "PUT",
      };
    const { row, spoken, pattern } = route;
    const body = parseJson(request.body);
    const given = isObject(body) ? body : {};
    const inPath = pattern.exec(request.path)?.groups?.["target"];
    const said = spoken.targetAt === undefined ? (inPath === undefined ? "" : decode(inPath)) : textOf(valueAt(given, spoken.targetAt));
    const target = targetHeard(row.operation, row.path, said, ids);
    const isQuery = row.method === "GET";
    const source: Readonly<Record<string, Json | undefined>> = isQuery ? request.query : given;
    const inputs = TAKES[row.operation] === undefined && !isQuery ? given : inputsHeard(spoken, source);
    const paging = OPERATIONS[row.operation].list === true ? pagingHeard(voice, source) : {};
    const { events } = inputs;
    const kinds = Array.isArray(events) ? { events: events.map((word: Json) => kindHeard(voice, word)) } : {};
    const heard: JsonObject = { ...inputs, ...paging, ...kinds };
    return {
      ...request,
      headers,
      method: row.method,
      path: row.path.replace(/:\w+/, encodeURIComponent(target)),
      query: isQuery ? texts(heard) : {},
      body: isQuery || !isObject(body) ? request.body : JSON.stringify(heard),
    };
  };
}

function keyHeard({ auth }: Voice, headers: NetworkRequest["headers"]): NetworkRequest["headers"] {
  if (auth.header === "authorization") return headers;
  const { authorization: _published, [auth.header]: key, ...rest } = headers;
  return key === undefined ? rest : { ...rest, authorization: `Bearer ${key.slice(auth.prefix.length)}` };
}

function patternOf(path: string): RegExp {
  return new RegExp(`^${path.replace("{target}", "(?<target>[^/]+)")}$`);
}

/** Agents in Set A and communities in Set B are named by handle, everything else by id. */
function targetHeard(operation: OperationName, path: string, said: string, ids: Ids): string {
  const { target } = OPERATIONS[operation];
  const kind = target === undefined ? undefined : TARGET_KINDS[target];
  return kind === undefined || path.includes(":handle") ? said : ids.hear(kind, said);
}

function inputsHeard({ inputs, words = {} }: Spoken, source: Readonly<Record<string, Json | undefined>>): JsonObject {
  const heard: Record<string, Json> = {};
  for (const [input, path] of Object.entries(inputs)) {
    const value = valueAt(source, path);
    if (value === undefined) continue;
    const word = Object.entries(words[input] ?? {}).find(([, said]) => said === value);
    heard[input] = words[input] === undefined ? value : (word?.[0] ?? `not ${JSON.stringify(value)}`);
  }
  return heard;
}

function valueAt(source: Readonly<Record<string, Json | undefined>>, path: readonly string[]): Json | undefined {
  let at: Json | undefined = source;
  for (const name of path) at = isObject(at) && Object.hasOwn(at, name) ? at[name] : undefined;
  return at;
}

function textOf(value: Json | undefined): string {
  return typeof value === "string" ? value : typeof value === "number" ? `${value}` : "";
}

function texts(object: JsonObject): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(object).flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : [])));
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment; // no id of ours: it is refused as one that nothing has
  }
}
