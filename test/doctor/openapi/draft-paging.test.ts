/** How lists are paged, from their parameters and answers. */
import { expect, test } from "vitest";
import { shippedProfile } from "../../../src/contract/profile/profile.ts";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import type { ApiOperation } from "../../../src/doctor/openapi/api-operations.ts";
import { draftPaging } from "../../../src/doctor/openapi/draft-paging.ts";
import { openDocument } from "../../../src/doctor/openapi/open-document.ts";

const document = openDocument(JSON.stringify({ openapi: "3.1.0", paths: {} }), "x.json");

function list(parameters: Readonly<Record<string, JsonObject>>, beside: JsonObject, headers: readonly string[] = []): ApiOperation {
  const query = Object.entries(parameters).map(([name, schema]) => ({ name, schema, required: false, text: "" }));
  const properties = { items: { type: "array", items: { type: "object", properties: { id: { type: "string" } } } }, ...beside };
  return {
    method: "GET",
    path: "/",
    named: "",
    text: "",
    query,
    headers: [],
    answerHeaders: headers,
    success: { status: 200, schema: { type: "object", properties } },
  };
}

function drafted(posts: ApiOperation, jobs = posts): Readonly<Record<string, Json>> {
  const matches = [
    { name: "posts.list", operation: posts, isDoubtful: false },
    { name: "jobs.list", operation: jobs, isDoubtful: false },
  ] as const;
  const proposals = draftPaging(document, matches, shippedProfile("b")).flatMap((found) => found.proposals);
  return Object.fromEntries(proposals.map(({ path, value }) => [path.join("."), value]));
}

const word = { type: "string" };
const whole = { type: "integer" };

test.each<[string, ApiOperation, object]>([
  [
    "a cursor",
    list({ after: word, size: { ...whole, maximum: 40 } }, { meta: { properties: { next: word } } }),
    { parameter: "after", next: ["meta.next"], limitParameter: "size", maxLimit: 40 },
  ],
  [
    "pages from 0",
    list({ page: { ...whole, minimum: 0 } }, { has_more: { type: "boolean" } }),
    { style: "page", parameter: "page", firstPage: 0, next: ["has_more"] },
  ],
  ["offsets", list({ skip: whole, take: whole }, {}), { style: "offset", parameter: "skip", limitParameter: "take" }],
  ["a header", list({}, {}, ["link"]), { style: "link" }],
  ["a link in the body", list({ page: whole }, { links: { properties: { next: word } } }), { style: "link", next: ["links.next"] }],
  ["none", list({}, {}), { style: "none" }],
])("by %s", (_, operation, paging) => {
  expect(drafted(operation)).toEqual(Object.fromEntries(Object.entries(paging).map(([key, value]) => [`paging.${key}`, value])));
});

test("a list that pages otherwise has its own paging", () => {
  expect(drafted(list({ cursor: word }, { next_cursor: word }), list({ p: whole }, {}))).toMatchObject({
    "operations.jobs.list.paging": { style: "page", parameter: "p" },
  });
});
