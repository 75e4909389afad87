/** Builds an OpenAPI 3.1 document of one network from its profile. Unpublished parts carry `x-assumed: true`. */
import { isObject, type Json, type JsonObject } from "../../core/json.ts";
import type { EndpointSet } from "../operations.ts";
import { errorSchema, inputSchemas, listSchema, recordSchema } from "./openapi-schemas.ts";
import { isGuess, shippedProfile, type Profile } from "../profile/profile.ts";
import type { ProfileOperation } from "../profile/network-operations.ts";
import { fillTemplate, pathFields, templateFields } from "../profile/template.ts";

const CREATES: ReadonlySet<string> = new Set([
  "agents.create",
  "posts.create",
  "posts.reply",
  "jobs.create",
  "jobs.apply",
  "webhooks.create",
]);
const ASSUMED = { "x-assumed": true } as const;
const PAGING_INPUTS: ReadonlySet<string> = new Set(["limit", "cursor"]);

/** The document as plain JSON. A mock server built from its examples can be read by the same profile. */
export function openApiDocument(set: EndpointSet, profile: Profile = shippedProfile(set)): JsonObject {
  const paths: Record<string, Record<string, Json>> = {};
  for (const operation of profile.operations.values()) {
    if (operation.unsupported !== undefined) continue;
    (paths[openPath(operation.path)] ??= {})[operation.method.toLowerCase()] = operationObject(profile, operation);
  }
  return {
    openapi: "3.1.1",
    info: {
      title: `Agent network, ${profile.name}`,
      version: "1.0.0",
      description: `Paths, methods, tiers and a post's content are published. Everything marked \`x-assumed\` is an assumption of this client.`,
      license: { name: "MIT", identifier: "MIT" },
    },
    // The version segment is in the paths, so it is removed from the end of the base address.
    servers: [
      {
        url: "{base_url}",
        description: "The published base address, without /v1",
        variables: { base_url: { default: "http://localhost:8080" } },
      },
    ],
    security: [{ key: [] }],
    tags: [...new Set([...profile.operations.keys()].map((name) => name.split(".")[0] ?? name))].map((name) => ({ name })),
    paths,
    components: {
      securitySchemes: { key: securityScheme(profile) },
      responses: {
        Refused: errorResponse(profile, "The network refuses"),
        Unauthorized: errorResponse(profile, "The key is not accepted"),
        Limited: {
          ...errorResponse(profile, "Too many requests for this key"),
          headers: { "Retry-After": { ...ASSUMED, description: "Seconds to wait", schema: { type: "integer", examples: [30] } } },
        },
      },
      schemas: { Error: errorSchema(profile) },
    },
  };
}

function securityScheme(profile: Profile): JsonObject {
  const { header, prefix } = profile.auth;
  if (header === "authorization" && prefix.trim().toLowerCase() === "bearer") return { type: "http", scheme: "bearer" };
  return { type: "apiKey", in: "header", name: header };
}

function errorResponse(profile: Profile, description: string): JsonObject {
  const assumed = isGuess(profile, "errors") ? ASSUMED : {};
  return { ...assumed, description, content: { "application/json": { schema: { $ref: "#/components/schemas/Error" } } } };
}

/** `/v1/posts/:id` as `/v1/posts/{id}`. */
function openPath(path: string): string {
  return path.replaceAll(/:([A-Za-z]\w*)/g, "{$1}");
}

function operationObject(profile: Profile, operation: ProfileOperation): JsonObject {
  const { name, purpose, method, effect } = operation;
  const parameters = [...pathParameters(operation), ...queryParameters(profile, operation)];
  const body = method === "GET" ? undefined : requestBody(profile, operation);
  return {
    operationId: name,
    tags: [name.split(".")[0] ?? name],
    summary: purpose,
    "x-effect": effect,
    ...(parameters.length === 0 ? {} : { parameters }),
    ...(body === undefined ? {} : { requestBody: body }),
    responses: {
      ...success(profile, operation),
      "401": { $ref: "#/components/responses/Unauthorized" },
      "429": { $ref: "#/components/responses/Limited" },
      "4XX": { $ref: "#/components/responses/Refused" },
    },
  };
}

function pathParameters(operation: ProfileOperation): Json[] {
  return [...openPath(operation.path).matchAll(/\{(\w+)\}/g)].map((match) => ({
    name: match[1] ?? "",
    in: "path",
    required: true,
    schema: { type: "string", minLength: 1, examples: [`${operation.target ?? "x"}-1`] },
  }));
}

function queryParameters(profile: Profile, operation: ProfileOperation): Json[] {
  if (operation.method !== "GET" && operation.method !== "DELETE") return [];
  const schemas = inputSchemas(operation);
  const inPath = new Set(pathFields(operation.path));
  const { parameter, limitParameter } = profile.paging;
  const named = (name: string): string => (name === "cursor" ? parameter : name === "limit" ? limitParameter : name);
  const templated = Object.entries(operation.query ?? {}).map(([name, template]): [string, Json] => {
    const [field] = templateFields(template);
    return [name, field === undefined ? { const: template } : (schemas[field] ?? { type: "string" })];
  });
  const own = Object.entries(schemas)
    .filter(([name]) => !inPath.has(name) && (operation.query === undefined || PAGING_INPUTS.has(name)))
    .map(([name, schema]): [string, Json] => [operation.list ? named(name) : name, schema]);
  return [...templated, ...own].map(([name, schema]) => ({ ...ASSUMED, name, in: "query", required: false, schema }));
}

function requestBody(profile: Profile, operation: ProfileOperation): JsonObject | undefined {
  if (operation.body === null) return undefined;
  const schemas = inputSchemas(operation);
  const required = Object.keys(schemas).filter((name) => !(operation.input.shape[name]?.safeParse(undefined).success ?? true));
  if (operation.body !== undefined) {
    const schema = fillTemplate(templateSchema(operation.body), { ...schemas, target: { type: "string" } });
    return content(profile, operation, schema ?? {}, required.length > 0);
  }
  if (Object.keys(schemas).length === 0) return undefined;
  const inPath = new Set(pathFields(operation.path));
  const { parameter, limitParameter } = profile.paging;
  const named = (name: string): string =>
    !operation.list ? name : name === "cursor" ? parameter : name === "limit" ? limitParameter : name;
  const properties = Object.fromEntries(
    Object.entries(schemas)
      .filter(([name]) => !inPath.has(name))
      .map(([name, schema]) => [named(name), schema]),
  );
  return content(profile, operation, { type: "object", properties, ...(required.length === 0 ? {} : { required }) }, required.length > 0);
}

function content(profile: Profile, operation: ProfileOperation, schema: Json, required: boolean): JsonObject {
  const assumed = isGuess(profile, `operations.${operation.name}.body`) ? ASSUMED : {};
  return { ...assumed, required, content: { "application/json": { schema } } };
}

/** Schema of the body that a template builds: each placeholder becomes the schema of its input. */
function templateSchema(template: Json): Json {
  if (typeof template === "string")
    return templateFields(template).length === 0 ? { const: template } : /^\{\w+\}$/.test(template) ? template : { type: "string" };
  if (typeof template !== "object" || template === null) return { const: template };
  if (Array.isArray(template)) return { type: "array" };
  const properties = Object.fromEntries(
    Object.entries(template).flatMap(([key, item]) => (item === undefined ? [] : [[key, templateSchema(item)] as const])),
  );
  return { type: "object", properties };
}

function success(profile: Profile, operation: ProfileOperation): JsonObject {
  if (operation.record === "none") return { "204": { ...ASSUMED, description: "Done" } };
  const schema = operation.list ? listSchema(profile, operation.record) : recordSchema(profile, operation.record);
  return {
    [CREATES.has(operation.name) ? "201" : "200"]: {
      ...ASSUMED,
      description: operation.purpose,
      content: { "application/json": { schema, example: exampleOf(schema) ?? {} } },
    },
  };
}

/** Builds an example from a schema's own examples; undefined if there are none. */
function exampleOf(schema: JsonObject): Json | undefined {
  const { examples, properties, items, type } = schema;
  if (Array.isArray(examples)) return (examples as readonly Json[])[0];
  if (type === "array") return [exampleOf(items as JsonObject) ?? null];
  if (!isObject(properties)) return undefined;
  const members = Object.entries(properties).flatMap(([name, item]): [string, Json][] => {
    const example = isObject(item) ? exampleOf(item) : undefined;
    return example === undefined ? [] : [[name, example]];
  });
  return members.length === 0 ? undefined : Object.fromEntries(members);
}
