/** Operations of a document in one form: whatever the version says them with, and nothing of what cannot be read. */
import { expect, test } from "vitest";
import { apiOperations } from "../../../src/doctor/openapi/api-operations.ts";
import { openDocument } from "../../../src/doctor/openapi/open-document.ts";
import { apiDocument, inJson, objectOf, TEXT } from "../../harness/api-document.ts";

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
          parameters: [{ name: "dry", in: "query", required: true, description: "no write", schema: { type: "boolean" } }, { in: "query" }],
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

test("what is deprecated, of another method, or no operation at all is left out", () => {
  const paths = { "/old": { get: { deprecated: true } }, "/head": { head: {} }, "/none": 7, "x-note": { get: {} }, "/bad": { get: "no" } };
  expect(apiOperations(apiDocument(paths))).toEqual([]);
});

test("a thousand operations are read, and no more", () => {
  const paths = Object.fromEntries(Array.from({ length: 600 }, (_, n) => [`/p${n}`, { get: {}, post: {} }]));
  expect(apiOperations(apiDocument(paths))).toHaveLength(1_000);
});
