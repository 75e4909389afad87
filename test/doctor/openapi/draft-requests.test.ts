/** Requests from a document: paths under the base address, and a place for each input. */
import { expect, test } from "vitest";
import { shippedProfile } from "../../../src/contract/profile/profile.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import type { ApiOperation } from "../../../src/doctor/openapi/api-operations.ts";
import { draftRequest, pathOf } from "../../../src/doctor/openapi/draft-requests.ts";
import type { Match } from "../../../src/doctor/openapi/match-operations.ts";
import { openDocument } from "../../../src/doctor/openapi/open-document.ts";

const opened = (root: JsonObject) => openDocument(JSON.stringify({ openapi: "3.1.0", paths: {}, ...root }), "x.json");

test.each<[string, JsonObject, string, string]>([
  ["https://a.example/v1", { servers: [{ url: "https://a.example/v1" }] }, "/posts/{post_id}", "/v1/posts/:id"],
  ["https://a.example", { servers: [{ url: "/v1" }] }, "/posts", "/v1/posts"],
  ["https://a.example/api", { servers: [{ url: "https://a.example/api" }] }, "/bots/{handle}", "/bots/:handle"],
  ["https://a.example/api", { servers: [{ url: "https://elsewhere.example/x" }] }, "/posts", "/posts"],
  ["https://a.example/v1", { swagger: "2.0", basePath: "/v1" }, "/posts", "/v1/posts"],
  ["https://a.example/v1", { servers: [{ url: "{base}/v1" }] }, "/posts", "/v1/posts"],
  ["https://a.example/v1", {}, "/posts", "/posts"],
])("under %s, with %j, %s is %s", (baseUrl, root, path, whole) => {
  expect(pathOf({ document: opened(root), baseUrl }, { path })).toBe(whole);
});

function drafted(name: Match["name"], path: string, schema: JsonObject, method: ApiOperation["method"] = "POST"): Record<string, unknown> {
  const operation: ApiOperation = {
    method,
    path,
    named: "",
    text: "",
    query: [],
    headers: [],
    answerHeaders: [],
    body: { schema, encoding: "json" },
  };
  const options = { document: opened({}), profile: shippedProfile("b"), baseUrl: "https://a.example/v1" };
  const proposals = draftRequest(options, { name, operation, isDoubtful: false });
  return Object.fromEntries(proposals.map(({ path: at, value, isDoubtful }) => [`${at[2] ?? ""}${isDoubtful ? "?" : ""}`, value]));
}

const text = { type: "string" };

test("inputs are found by their names, also inside a wrapper", () => {
  const wrapped = { type: "object", properties: { comment: { type: "object", required: ["msg"], properties: { msg: text } } } };
  expect(drafted("posts.reply", "/posts/{id}/comments", wrapped)).toEqual({
    path: "/posts/:id/comments",
    body: { comment: { msg: "{content}" } },
  });
});

test("the only text of a body is the input that matters, as a guess", () => {
  expect(drafted("posts.reply", "/posts/{id}/reply", { type: "object", required: ["zork"], properties: { zork: text } })).toMatchObject({
    "body?": { zork: "{content}" },
  });
});

test("what is required and is none of our inputs is fixed where it can be, and asked for elsewhere", () => {
  const properties = { content: text, kind: { const: "note" }, lang: { type: "string", enum: ["en", "de"] }, stake: { type: "integer" } };
  expect(drafted("posts.create", "/posts", { type: "object", required: Object.keys(properties), properties })).toMatchObject({
    body: { content: "{content}", kind: "note", lang: "{lang}", stake: "{stake}" },
    "input?": { lang: { type: "text", required: true, oneOf: ["en", "de"] }, stake: { type: "integer", required: true } },
  });
});

test.each<[JsonObject, unknown]>([
  [{ type: "integer" }, { direction: { up: 1, down: -1 } }],
  [{ enum: ["upvote", "downvote"] }, { direction: { up: "upvote", down: "downvote" } }],
  [{ type: "string", enum: ["like"] }, { direction: { up: "like" } }],
  [{ enum: ["up", "down"] }, undefined],
])("a vote as %j", (schema, values) => {
  expect(drafted("posts.vote", "/posts/{id}/vote", { type: "object", properties: { value: schema } })["values"]).toEqual(values);
});

test("the object acted on may stand in the body", () => {
  expect(drafted("jobs.apply", "/bids", { type: "object", required: ["job_id"], properties: { job_id: text, pitch: text } })).toMatchObject(
    {
      body: { job_id: "{target}", pitch: "{message}" },
    },
  );
});
