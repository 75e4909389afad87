/** Operations of a document in one form, whatever its version. */
import { describe, expect, test } from "vitest";
import { apiOperations } from "../../../src/doctor/openapi/api-operations.ts";
import { openDocument } from "../../../src/doctor/openapi/open-document.ts";
import { drafted, json, text } from "../../harness/guildhall.ts";
import { apiDocument, inJson, objectOf, TEXT } from "../../harness/api-document.ts";

describe("its rules", () => {
  const NOTE = objectOf({ msg: TEXT }, ["msg"]);

  test("path, names, fields, body, answers and security are read, of the item too", () => {
    const [operation, ...more] = apiOperations(
      apiDocument({
        "/notes": {
          parameters: [{ name: "X-Shared", in: "header", schema: TEXT }],
          post: {
            operationId: "writeNote",
            summary: "Write",
            description: "Slowly.",
            tags: ["notes", 7],
            parameters: [
              { name: "dry", in: "query", required: true, description: "no write", schema: { type: "boolean" } },
              { in: "query" },
            ],
            requestBody: inJson(NOTE),
            responses: { 422: { ...inJson({ type: "string" }), headers: { "X-Left": {} } }, 201: inJson(NOTE) },
            security: [{ key: [] }],
          },
        },
      }),
    );
    expect(more).toEqual([]);
    expect(operation).toEqual({
      method: "POST",
      path: "/notes",
      named: "writeNote Write notes",
      text: "Write. Slowly.",
      query: [{ name: "dry", schema: { type: "boolean" }, required: true, text: "no write" }],
      headers: [{ name: "X-Shared", schema: TEXT, required: false, text: "" }],
      body: { schema: NOTE, encoding: "json" },
      success: { status: 201, schema: NOTE },
      refusal: { type: "string" },
      answerHeaders: ["x-left"],
      security: ["key"],
    });
  });

  test("version 2.0 states bodies, forms and answers in its own members", () => {
    const operations = apiOperations(
      openDocument(
        JSON.stringify({
          swagger: "2.0",
          paths: {
            "/a": { post: { parameters: [{ in: "body", name: "body", schema: NOTE }], responses: { 200: { schema: NOTE } } } },
            "/b": { post: { parameters: [{ in: "formData", name: "msg", type: "string", required: true }], responses: {} } },
          },
        }),
        "x.json",
      ),
    );
    expect(operations).toMatchObject([
      { body: { schema: NOTE, encoding: "json" }, success: { status: 200, schema: NOTE } },
      { body: { schema: { properties: { msg: { type: "string" } }, required: ["msg"] }, encoding: "form" } },
    ]);
  });

  test("JSON counts before a form, an example stands for a schema, and `default` for an answer", () => {
    const form = { "application/x-www-form-urlencoded": { schema: { type: "object" } } };
    const [both, alone] = apiOperations(
      apiDocument({
        "/a": {
          post: { requestBody: { content: { ...form, "application/vnd.x+json": { schema: NOTE } } }, responses: { default: inJson(NOTE) } },
        },
        "/b": {
          post: {
            requestBody: { content: form },
            responses: { "2XX": { content: { "application/json": { examples: { one: { value: { id: 7 } } } } } } },
          },
        },
      }),
    );
    expect(both).toMatchObject({ body: { encoding: "json" }, success: { status: 200, schema: NOTE }, refusal: NOTE });
    expect(alone).toMatchObject({ body: { encoding: "form" }, success: { status: 200, schema: { example: { id: 7 } } } });
  });

  test("a deprecated operation, another method, and a path without an operation are left out", () => {
    const paths = {
      "/old": { get: { deprecated: true } },
      "/head": { head: {} },
      "/none": 7,
      "x-note": { get: {} },
      "/bad": { get: "no" },
    };
    expect(apiOperations(apiDocument(paths))).toEqual([]);
  });

  test("a thousand operations are read, and no more", () => {
    const paths = Object.fromEntries(Array.from({ length: 600 }, (_, n) => [`/p${n}`, { get: {}, post: {} }]));
    expect(apiOperations(apiDocument(paths))).toHaveLength(1_000);
  });
});

describe("habits of networks", () => {
  const operationsOf = (paths: object, more: object = {}) =>
    apiOperations(openDocument(JSON.stringify({ openapi: "3.1.0", paths, ...more }), "x.json"));

  test("parameters of the path belong to each of its operations, and what is deprecated or no operation is left out", () => {
    const found = operationsOf({
      "/posts": {
        parameters: [
          { name: "limit", in: "query", schema: { type: "integer" } },
          { name: "x-tenant", in: "header", schema: text },
        ],
        get: { operationId: "listPosts", tags: ["feed"], responses: { default: json({ type: "array" }) } },
        post: { deprecated: true, responses: {} },
        trace: { responses: {} },
      },
      nonsense: { get: {} },
    });
    expect(found).toMatchObject([
      { method: "GET", named: "listPosts feed", query: [{ name: "limit" }], headers: [{ name: "x-tenant" }], success: { status: 200 } },
    ]);
  });

  test("a form is a form, JSON is preferred to it, and an example stands in for a schema", () => {
    const form = { "application/x-www-form-urlencoded": { schema: { type: "object" } } };
    const [one, other] = operationsOf({
      "/a": {
        post: { requestBody: { content: form }, responses: { 201: { content: { "application/vnd.api+json": { example: { id: 1 } } } } } },
      },
      "/b": { post: { requestBody: { content: { ...form, "application/json": { schema: { type: "string" } } } }, responses: {} } },
    });
    expect(one).toMatchObject({ body: { encoding: "form" }, success: { status: 201, schema: { example: { id: 1 } } } });
    expect(other).toMatchObject({ body: { encoding: "json", schema: { type: "string" } } });
  });

  test("version 2.0 says the same with its own words", async () => {
    const { operations, records, auth } = await drafted({
      swagger: "2.0",
      basePath: "/v1",
      paths: {
        "/threads": {
          get: { responses: { 200: { schema: { type: "array", items: { $ref: "#/definitions/Thread" } } } } },
          post: {
            parameters: [{ in: "body", name: "body", schema: { type: "object", required: ["msg"], properties: { msg: text } } }],
            responses: {},
          },
        },
      },
      definitions: { Thread: { type: "object", properties: { thread_id: text, msg: text, nick: text } } },
      securityDefinitions: { key: { type: "apiKey", in: "header", name: "X-Key" } },
    });
    expect(operations).toMatchObject({ "posts.create": { path: "/v1/threads", body: { msg: "{content}" } } });
    expect(records?.["post"]).toMatchObject({ content: ["msg"], authorHandle: ["nick"] });
    expect(auth?.header).toBe("x-key");
  });
});
