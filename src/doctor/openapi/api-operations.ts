/** The operations of an OpenAPI document in one form, whatever its version: path, fields, schemas, security. */
import type { Method } from "../../contract/operations.ts";
import { isObject, textIn, type Json, type JsonObject } from "../../core/json.ts";
import type { OpenDocument } from "./open-document.ts";

const METHODS: { readonly [name: string]: Method } = { get: "GET", post: "POST", patch: "PATCH", put: "PUT", delete: "DELETE" };
/** More operations than any network of this kind has. */
const MAX_OPERATIONS = 1_000;
const MAX_PARAMETERS = 50;
const MAX_TEXT = 2_000;

export interface ApiField {
  readonly name: string;
  readonly schema: JsonObject;
  readonly required: boolean;
  readonly text: string;
}

export interface ApiOperation {
  readonly method: Method;
  /** As in the document, below its server, with `{name}` for parameters. */
  readonly path: string;
  /** Operation id, summary and tags. */
  readonly named: string;
  /** Summary and description, for people. */
  readonly text: string;
  readonly query: readonly ApiField[];
  readonly headers: readonly ApiField[];
  readonly body?: { readonly schema: JsonObject; readonly encoding: "json" | "form" };
  /** Schema and example of a success; undefined if it has no body. */
  readonly success?: { readonly status: number; readonly schema: JsonObject };
  readonly refusal?: JsonObject;
  /** Names of headers of its answers, in lower case. */
  readonly answerHeaders: readonly string[];
  /** Names of security schemes; empty for none, undefined if the document's own apply. */
  readonly security?: readonly string[];
}

/** Reads every operation that can be read; the others are left out. */
export function apiOperations(document: OpenDocument): readonly ApiOperation[] {
  const { root, follow } = document;
  const paths = isObject(root["paths"]) ? Object.entries(root["paths"]) : [];
  const found: ApiOperation[] = [];
  for (const [path, value] of paths) {
    const item = follow(value);
    if (!isObject(item) || !path.startsWith("/")) continue;
    for (const [name, method] of Object.entries(METHODS)) {
      const operation = follow(item[name]);
      if (isObject(operation) && operation["deprecated"] !== true) found.push(read(document, { path, method, item, operation }));
      if (found.length >= MAX_OPERATIONS) return found;
    }
  }
  return found;
}

interface Place {
  readonly path: string;
  readonly method: Method;
  readonly item: JsonObject;
  readonly operation: JsonObject;
}

function read(document: OpenDocument, { path, method, item, operation }: Place): ApiOperation {
  const parameters = [...listOf(item["parameters"]), ...listOf(operation["parameters"])].slice(0, MAX_PARAMETERS).flatMap((value) => {
    const parameter = document.follow(value);
    return isObject(parameter) ? [parameter] : [];
  });
  const fields = (place: string): readonly ApiField[] =>
    parameters.filter((parameter) => parameter["in"] === place).flatMap((parameter) => fieldOf(document, parameter) ?? []);
  const body = bodyOf(document, operation, parameters);
  const answers = answersOf(document, operation);
  const security = operation["security"];
  const words = [textIn(operation, "operationId"), textIn(operation, "summary"), ...listOf(operation["tags"])];
  return {
    method,
    path,
    named: words.filter((word) => typeof word === "string").join(" "),
    text: `${textIn(operation, "summary") ?? ""}. ${textIn(operation, "description") ?? ""}`.slice(0, MAX_TEXT),
    query: fields("query"),
    headers: fields("header"),
    ...(body === undefined ? {} : { body }),
    ...answers,
    ...(Array.isArray(security) ? { security: security.flatMap((one: Json) => (isObject(one) ? Object.keys(one) : [])) } : {}),
  };
}

function fieldOf(document: OpenDocument, parameter: JsonObject): ApiField | undefined {
  const name = textIn(parameter, "name");
  if (name === undefined) return undefined;
  // Version 2.0 has the members of a schema in the parameter itself.
  const schema = document.follow(parameter["schema"]) ?? parameter;
  return {
    name,
    schema: isObject(schema) ? schema : {},
    required: parameter["required"] === true,
    text: textIn(parameter, "description") ?? "",
  };
}

function bodyOf(document: OpenDocument, operation: JsonObject, parameters: readonly JsonObject[]): ApiOperation["body"] {
  const stated = document.follow(operation["requestBody"]);
  if (isObject(stated)) {
    const content = contentOf(document, stated);
    return content === undefined ? undefined : { schema: content.schema, encoding: content.isForm ? "form" : "json" };
  }
  const whole = parameters.find((parameter) => parameter["in"] === "body");
  const schema = document.follow(whole?.["schema"]);
  if (isObject(schema)) return { schema, encoding: "json" };
  const form = parameters.filter((parameter) => parameter["in"] === "formData");
  if (form.length === 0) return undefined;
  const required = form.filter((field) => field["required"] === true).map((field) => field["name"] ?? "");
  const properties = Object.fromEntries(form.map((field) => [textIn(field, "name") ?? "", field]));
  return { schema: { type: "object", properties, required }, encoding: "form" };
}

/** The JSON content of a body or an answer, else its form. */
function contentOf(document: OpenDocument, holder: JsonObject): { readonly schema: JsonObject; readonly isForm: boolean } | undefined {
  const own = document.follow(holder["schema"]);
  if (isObject(own)) return { schema: own, isForm: false };
  if (!isObject(holder["content"])) return undefined;
  const kinds = Object.entries(holder["content"]);
  const json = kinds.find(([type]) => /[/+]json\b/.test(type));
  const [type, media] = json ?? kinds.find(([name]) => /form/.test(name)) ?? [];
  const content = document.follow(media);
  if (type === undefined || !isObject(content)) return undefined;
  const schema = document.follow(content["schema"]);
  const example = content["example"] ?? exampleIn(document, content["examples"]);
  return { schema: isObject(schema) ? schema : example === undefined ? {} : { example }, isForm: json === undefined };
}

function exampleIn(document: OpenDocument, examples: Json | undefined): Json | undefined {
  const first = isObject(examples) ? document.follow(Object.values(examples)[0]) : undefined;
  return isObject(first) ? first["value"] : undefined;
}

function answersOf(document: OpenDocument, operation: JsonObject): Pick<ApiOperation, "success" | "refusal" | "answerHeaders"> {
  const answers = Object.entries(isObject(operation["responses"]) ? operation["responses"] : {}).flatMap(([status, value]) => {
    const answer = document.follow(value);
    return isObject(answer) ? [{ status, answer }] : [];
  });
  const success = answers.find(({ status }) => status.startsWith("2")) ?? answers.find(({ status }) => status === "default");
  const refusal = answers.find(({ status }) => status.startsWith("4")) ?? answers.find(({ status }) => status === "default");
  const content = success === undefined ? undefined : contentOf(document, success.answer);
  const refused = refusal === undefined ? undefined : contentOf(document, refusal.answer);
  const headers = answers.flatMap(({ answer }) => (isObject(answer["headers"]) ? Object.keys(answer["headers"]) : []));
  return {
    ...(success === undefined || content === undefined
      ? {}
      : { success: { status: Number(/^2\d\d$/.exec(success.status)?.[0] ?? "200"), schema: content.schema } }),
    ...(refused === undefined ? {} : { refusal: refused.schema }),
    answerHeaders: [...new Set(headers.map((name) => name.toLowerCase()))],
  };
}

function listOf(value: Json | undefined): readonly Json[] {
  return Array.isArray(value) ? value : [];
}
