/** Operations of a document in one form, whatever its version. */
import { expect, test } from "vitest";
import { apiOperations } from "../../../src/doctor/openapi/api-operations.ts";
import { openDocument } from "../../../src/doctor/openapi/open-document.ts";
import { drafted, json, text } from "../../harness/guildhall.ts";

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
