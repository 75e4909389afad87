/** The OpenAPI document of an accent, as its own makers would publish it. */
import { ENDPOINT_ROWS, OPERATIONS, type EndpointSet, type OperationName } from "../../../../src/contract/operations.ts";
import { isObject, type Json, type JsonObject } from "../../../../src/core/json.ts";
import type { ListKind, NetworkRequest } from "../../../../src/local-network/server/exchange.ts";
import { kindIn } from "./events.ts";
import { listIn } from "./lists.ts";
import { limitHeadersIn, refusalIn, waitIn } from "./refusals.ts";
import { speechOf, type Spoken } from "./requests.ts";
import { laid, placeOf, placesOf, type Placed } from "./telling.ts";
import { timeIn } from "./times.ts";
import { cased, yes, type PersonStyle, type Voice } from "./voice.ts";
import { KINDS, type Recorded } from "./words.ts";

const AT = Date.UTC(2026, 0, 5, 9);
/** Marks a schema among the values of an answer. */
const SCHEMA = "x-schema";

const text = (more: JsonObject = {}): Json => ({ [SCHEMA]: { type: "string", ...more } });
const whole = (more: JsonObject = {}): Json => ({ [SCHEMA]: { type: "integer", ...more } });

/** `paths` begin at the server's root. */
export function documentIn(voice: Voice, set: EndpointSet): JsonObject {
  const paths: Record<string, Record<string, Json>> = {};
  for (const [name, spoken] of Object.entries(speechOf(voice, set)) as [OperationName, Spoken][]) {
    const published = ENDPOINT_ROWS.find((row) => row.operation === name && row.set === set)?.path ?? "";
    const parameter = published.includes(":handle") ? "handle" : cased(voice.letters, `${OPERATIONS[name].target ?? "object"} id`);
    const path = spoken.path.replace("{target}", `{${parameter}}`);
    (paths[path] ??= {})[spoken.method.toLowerCase()] = operationIn(voice, set, name, spoken, parameter);
  }
  const { header, prefix } = voice.auth;
  const key = prefix === "" ? { type: "apiKey", in: "header", name: header } : { type: "http", scheme: "bearer" };
  return {
    openapi: "3.1.0",
    info: { title: `Network ${voice.seed}`, version: "1" },
    servers: [{ url: "/" }],
    security: [{ key: [] }],
    paths,
    components: {
      securitySchemes: { key },
      schemas: Object.fromEntries(
        (["post", "job", "agent", "community", "webhook"] as const).map((kind) => [kind, recordSchema(voice, kind)]),
      ),
    },
  };
}

function operationIn(voice: Voice, set: EndpointSet, name: OperationName, spoken: Spoken, parameter: string): JsonObject {
  const { list = false } = OPERATIONS[name];
  const isQuery = spoken.method === "GET";
  const inputs = Object.entries(spoken.inputs);
  const query = [
    ...(isQuery ? inputs.map(([, at]) => ({ name: at[0] ?? "", in: "query", schema: { type: "string" } })) : []),
    ...(list && isQuery ? pagingParameters(voice) : []),
  ];
  const path = spoken.path.includes("{target}") ? [{ name: parameter, in: "path", required: true, schema: { type: "string" } }] : [];
  const limits = Object.keys(limitHeadersIn(voice, { hour: LEFT, day: LEFT }, AT));
  const headers = Object.fromEntries([...limits, ...(list && voice.paging.style === "link" ? ["link"] : [])].map((one) => [one, {}]));
  const body = isQuery || (inputs.length === 0 && spoken.targetAt === undefined) ? undefined : bodyIn(voice, set, name, spoken);
  const answer = answerIn(voice, name, spoken);
  return {
    operationId: `${spoken.method.toLowerCase()}${spoken.path.replaceAll(/\W+/g, "_")}`,
    parameters: [...path, ...query],
    ...(body === undefined ? {} : { requestBody: { content: { "application/json": { schema: body } } } }),
    responses: {
      [answer === undefined ? "204" : "200"]: {
        description: "done",
        headers,
        ...(answer === undefined ? {} : { content: { "application/json": { schema: answer } } }),
      },
      "404": {
        description: "refused",
        content: { "application/json": { schema: schemaOf(refusalIn(voice, 404, "not_found", "There is none.")) } },
      },
      "429": {
        description: "wait",
        headers: Object.fromEntries(Object.keys(waitIn(voice, 5, AT).headers).map((one) => [one, {}])),
        content: { "application/json": { schema: schemaOf({ ...refusalIn(voice, 429, "slow", "Wait."), ...waitIn(voice, 5, AT).body }) } },
      },
    },
  };
}

const LEFT = { limit: 10, used: 1, resetMs: 1_000 };

function pagingParameters({ paging }: Voice): JsonObject[] {
  const numbered = paging.style === "page" || paging.style === "offset";
  const parameter = numbered
    ? { name: paging.style, schema: { type: "integer", minimum: paging.style === "page" ? paging.first : 0 } }
    : { name: paging.parameter, schema: { type: "string" } };
  return [parameter, { name: paging.limit, schema: { type: "integer", maximum: 100 } }].map((one) => ({ ...one, in: "query" }));
}

function bodyIn(voice: Voice, set: EndpointSet, name: OperationName, { inputs, targetAt, words }: Spoken): Json {
  const shape = OPERATIONS[name].input.shape;
  const placed = Object.entries(inputs).map(([input, at]): Placed => [at, { [SCHEMA]: inputSchema(voice, set, input, words?.[input]) }]);
  const required = Object.entries(inputs).flatMap(([input, at]) => (shape[input]?.safeParse(undefined).success === false ? [at] : []));
  const schema = schemaOf(laid([...placed, ...(targetAt === undefined ? [] : [[targetAt, text()] as const])]));
  return withRequired(schema, [...required, ...(targetAt === undefined ? [] : [targetAt])]);
}

function withRequired(schema: JsonObject, required: readonly (readonly string[])[]): JsonObject {
  const here = [...new Set(required.flatMap(([first]) => first ?? []))];
  if (here.length === 0 || !isObject(schema["properties"])) return schema;
  const properties = Object.entries(schema["properties"]).map(([name, below]): [string, Json] => [
    name,
    withRequired(
      isObject(below) ? below : {},
      required.filter(([first]) => first === name).map((at) => at.slice(1)),
    ),
  ]);
  return { ...schema, properties: Object.fromEntries(properties), required: here };
}

function inputSchema(voice: Voice, set: EndpointSet, input: string, words: Readonly<Record<string, Json>> | undefined): JsonObject {
  if (words !== undefined) return { enum: Object.values(words) };
  if (input === "events" && set === "b")
    return { type: "array", items: { type: "string", enum: Object.keys(KINDS).map((kind) => kindIn(voice, kind)) } };
  if (input === "skills" || input === "events") return { type: "array", items: { type: "string" } };
  return input === "reward" ? { type: "number" } : input === "deliverable" ? {} : { type: "string" };
}

const LISTED: { readonly [record in Recorded]?: ListKind } = {
  post: "posts",
  job: "jobs",
  agent: "agents",
  community: "communities",
  webhook: "webhooks",
  result: "results",
};

/** Undefined for an empty answer. */
function answerIn(voice: Voice, name: OperationName, spoken: Spoken): JsonObject | undefined {
  const { record, list = false } = OPERATIONS[name];
  const flagged = (body: Json): JsonObject =>
    schemaOf(voice.flag !== "none" && isObject(body) && !(SCHEMA in body) ? { [voice.flag]: true, ...body } : body);
  if (record === "none" || spoken.acknowledged === true) return voice.done === "empty" ? undefined : schemaOf({ [yes(voice)]: true });
  const known = reference(record);
  if (record === "token") return flagged(recordFacts(voice, "token"));
  const kind = list ? LISTED[record as Recorded] : undefined;
  if (kind !== undefined) return flagged(listIn(voice, kind, { items: [known], next: "more", asked: ASKED }));
  const wrapped =
    voice.single === "named" ? { [record]: known } : voice.single === "data" ? { data: known } : { response: { [record]: known } };
  return voice.single === "bare" ? (known[SCHEMA] as JsonObject) : flagged(wrapped);

  function reference(of: string): JsonObject {
    const isShared = ["post", "job", "agent", "community", "webhook"].includes(of);
    return { [SCHEMA]: isShared ? { $ref: `#/components/schemas/${of}` } : recordSchema(voice, of as Recorded) };
  }
}

const ASKED = { method: "GET", path: "/v1/posts", query: {}, headers: {}, body: "" } as const satisfies NetworkRequest;

function recordSchema(voice: Voice, record: Recorded): JsonObject {
  return schemaOf(recordFacts(voice, record));
}

/** Every fact of a record at its place, with its schema for a value. */
function recordFacts(voice: Voice, record: Recorded | "token"): JsonObject {
  const name = (words: string): string => cased(voice.letters, words);
  if (record === "token") return { [name("access token")]: text(), [name("refresh token")]: text(), [name("expires in")]: whole() };
  const placed = Object.keys(voice.names[record]).flatMap((fact): Placed[] => {
    const value = factSchema(voice, record, fact);
    return value === undefined ? [] : [[placeOf(voice, record, fact), value]];
  });
  const people = record === "post" ? [voice.author] : record === "job" ? [voice.poster, voice.worker] : [];
  return laid([...placed, ...people.flatMap((style) => personFacts(voice, style))]);
}

function personFacts(voice: Voice, style: PersonStyle): readonly Placed[] {
  const { id, handle } = placesOf(voice, style);
  return [...(id === undefined ? [] : [[id, idSchema(voice)] as const]), ...(handle === undefined ? [] : [[handle, text()] as const])];
}

function idSchema(voice: Voice): Json {
  return voice.ids === "number" || voice.ids === "snowflake" ? whole() : text();
}

const NUMBERS: readonly string[] = ["votes", "replyCount", "applications", "members", "reputation", "followers", "posts", "earned"];

function factSchema(voice: Voice, record: Recorded, fact: string): Json | undefined {
  if (fact === "createdAt" || fact === "deadline") return timeSchema(voice);
  if (fact === "id" || fact === "jobId" || fact === "parentId" || fact === "by") return idSchema(voice);
  if (fact === "replies") return [{ [SCHEMA]: { $ref: "#/components/schemas/post" } }];
  if (fact === "skills" || fact === "events") return { [SCHEMA]: { type: "array", items: { type: "string" } } };
  if (fact === "joined" || fact === "applied" || fact === "active") return { [SCHEMA]: { type: "boolean" } };
  if (fact === "status" && record === "job") return text({ enum: Object.values(voice.states) });
  if (fact === "input") return { [SCHEMA]: {} };
  if (fact === "reward") return rewardSchema(voice);
  if (fact === "myVote") return voteSchema(voice);
  return NUMBERS.includes(fact) ? whole() : text();
}

function timeSchema({ times }: Voice): Json {
  const example = timeIn(times, AT);
  return typeof example === "number"
    ? whole({ examples: [example] })
    : text(times === "iso" || times === "offset" ? { format: "date-time" } : { examples: [example] });
}

function rewardSchema({ reward, letters }: Voice): Json {
  if (reward === "number") return { [SCHEMA]: { type: "number" } };
  return reward === "text"
    ? text({ examples: ["12.50"] })
    : { [cased(letters, "amount")]: { [SCHEMA]: { type: "number" } }, [cased(letters, "currency")]: text() };
}

function voteSchema({ ownVote }: Voice): Json | undefined {
  if (ownVote === "left-out") return undefined;
  if (ownVote === "number") return whole({ enum: [1, 0, -1] });
  return ownVote === "flag" ? { [SCHEMA]: { type: "boolean" } } : { [SCHEMA]: { type: ["string", "null"], enum: ["up", "down", null] } };
}

/** The schema of an answer of which the leaves are values or schemas. */
function schemaOf(value: Json): JsonObject {
  if (Array.isArray(value)) return { type: "array", items: schemaOf((value as readonly Json[])[0] ?? {}) };
  if (value === null) return { type: ["string", "null"] };
  if (typeof value === "number") return { type: "integer", examples: [value] };
  if (typeof value !== "object") return { type: typeof value };
  const object = value as JsonObject;
  const marked = object[SCHEMA];
  if (isObject(marked)) return marked;
  const properties = Object.entries(object).flatMap(([name, item]): [string, Json][] =>
    item === undefined ? [] : [[name, schemaOf(item)]],
  );
  return { type: "object", properties: Object.fromEntries(properties) };
}
