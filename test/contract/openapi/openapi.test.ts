/** The OpenAPI documents: structurally sound, honest about guesses, and good enough to stand in for the network. */
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { openApiDocument } from "../../../src/contract/openapi/openapi.ts";
import { ENDPOINT_ROWS, OPERATIONS, SETS } from "../../../src/contract/operations.ts";
import { resolveProfile, shippedProfile } from "../../../src/contract/profile/profile.ts";
import { readList, readRecord } from "../../../src/contract/reading/read-answer.ts";
import { isObject, type Json, type JsonObject } from "../../../src/core/json.ts";

interface Found {
  readonly path: string;
  readonly method: string;
  readonly name: string;
  readonly operation: JsonObject;
}

function at(value: Json | undefined, ...path: string[]): Json | undefined {
  return path.reduce<Json | undefined>((here, key) => (isObject(here) ? here[key] : undefined), value);
}

function objectAt(value: Json | undefined, ...path: string[]): JsonObject {
  const found = at(value, ...path);
  return isObject(found) ? found : {};
}

function operationsOf(document: JsonObject): Found[] {
  return Object.entries(objectAt(document, "paths")).flatMap(([path, item]) =>
    Object.entries(objectAt(item)).map(([method, value]) => {
      const operation = objectAt(value);
      const { operationId } = operation;
      return { path, method, name: typeof operationId === "string" ? operationId : "", operation };
    }),
  );
}

function everything(value: Json | undefined): JsonObject[] {
  if (Array.isArray(value)) return value.flatMap((item: Json) => everything(item));
  return isObject(value) ? [value, ...Object.values(value).flatMap((item) => everything(item))] : [];
}

function successOf(operation: JsonObject): {
  readonly status: string;
  readonly example: Json | undefined;
  readonly schema: Json | undefined;
} {
  const [status = "", response] = Object.entries(objectAt(operation, "responses")).find(([code]) => code.startsWith("2")) ?? [];
  const media = at(response, "content", "application/json");
  return { status, example: at(media, "example"), schema: at(media, "schema") };
}

describe.each(SETS)("set %s", (set) => {
  const document = openApiDocument(set);
  const found = operationsOf(document);

  test("has exactly the published rows", () => {
    const rows = ENDPOINT_ROWS.filter((row) => row.set === set).map(
      (row) => `${row.operation} ${row.method} ${row.path.replace(/:(\w+)/, "{$1}")}`,
    );
    const documented = found.map(({ path, method, name }) => `${name} ${method.toUpperCase()} ${path}`);
    expect(new Set(documented)).toEqual(new Set(rows));
    expect(documented).toHaveLength(rows.length);
  });

  test("is plain JSON whose references all lead somewhere", () => {
    expect(JSON.parse(JSON.stringify(document))).toEqual(document);
    const references = everything(document).flatMap((object) => (typeof object["$ref"] === "string" ? [object["$ref"]] : []));
    expect(references.length).toBeGreaterThan(20);
    expect(references.filter((reference) => at(document, ...reference.replace("#/", "").split("/")) === undefined)).toEqual([]);
  });

  test("declares every path parameter, and a success and the failures for every operation", () => {
    for (const { path, operation } of found) {
      const declared = (operation["parameters"] ?? []) as readonly JsonObject[];
      const names = declared.filter((parameter) => parameter["in"] === "path").map((parameter) => parameter["name"]);
      expect(names).toEqual([...path.matchAll(/\{(\w+)\}/g)].map((match) => match[1]));
      expect(new Set(declared.map((parameter) => JSON.stringify([parameter["in"], parameter["name"]]))).size).toBe(declared.length);
      expect(Object.keys(objectAt(operation, "responses"))).toEqual(expect.arrayContaining(["401", "429", "4XX"]));
      expect(successOf(operation).status).toMatch(/^20[014]$/);
    }
  });

  test("marks what nobody published, and only that", () => {
    for (const { name, operation } of found) {
      const isStated = operation["requestBody"] === undefined || name === "posts.create";
      expect([name, at(operation, "requestBody", "x-assumed")]).toEqual([name, isStated ? undefined : true]);
      const [, response] = Object.entries(objectAt(operation, "responses")).find(([code]) => code.startsWith("2")) ?? [];
      expect(at(response, "x-assumed")).toBe(true);
    }
  });

  test("has examples that fit their own schemas", () => {
    for (const { name, operation } of found) {
      const { example, schema } = successOf(operation);
      const check = isObject(schema) ? z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]) : z.undefined();
      expect([name, check.safeParse(example).error?.issues ?? []]).toEqual([name, []]);
    }
  });

  test("has examples that the shipped profile reads as records", () => {
    const profile = shippedProfile(set);
    for (const { name, operation } of found) {
      const row = Object.values(OPERATIONS).find((other) => other.name === name);
      const { example } = successOf(operation);
      const { record = "none", list = false } = row ?? {};
      const readable = list
        ? (readList(profile, record, example).items?.length ?? 0)
        : readRecord(profile, record, example).record === undefined
          ? 0
          : 1;
      expect([name, readable]).toEqual([name, record === "none" ? 0 : 1]);
    }
  });
});

test("another network's document speaks its words", () => {
  const profile = resolveProfile({
    extends: "set-b",
    auth: { header: "X-API-Key", prefix: "" },
    operations: {
      "posts.reply": { path: "/v1/posts/{target}/comments", body: { text: "{content}", kind: "comment" } },
      "posts.vote": { values: { direction: { up: 1, down: -1 } }, body: { value: "{direction}" } },
    },
    records: { post: { id: ["meta.uid"] } },
    paging: { parameter: "after" },
    errors: { message: ["problem"] },
  });
  const document = openApiDocument("b", profile);
  const reply = at(document, "paths", "/v1/posts/{target}/comments", "post");
  expect(at(reply, "requestBody", "content", "application/json", "schema")).toMatchObject({
    properties: { text: { type: "string", minLength: 1 }, kind: { const: "comment" } },
  });
  expect(at(reply, "requestBody", "x-assumed")).toBeUndefined();
  expect(
    at(document, "paths", "/v1/posts/{id}/vote", "post", "requestBody", "content", "application/json", "schema", "properties", "value"),
  ).toEqual({ enum: [1, -1] });
  expect(at(reply, "responses", "201", "content", "application/json", "example", "meta", "uid")).toBe("post-1");
  expect(at(document, "components", "securitySchemes", "key")).toEqual({ type: "apiKey", in: "header", name: "x-api-key" });
  expect(at(document, "components", "schemas", "Error", "properties", "problem")).toBeDefined();
});
