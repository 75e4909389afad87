/** How lists are paged, from their parameters and answers. */
import { describe, expect, test } from "vitest";
import { shippedProfile } from "../../../src/contract/profile/profile.ts";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import type { ApiOperation } from "../../../src/doctor/openapi/api-operations.ts";
import { draftPaging } from "../../../src/doctor/openapi/draft-paging.ts";
import { openDocument } from "../../../src/doctor/openapi/open-document.ts";
import { apiDocument, inJson, matchesIn, objectOf, stated, TEXT } from "../../harness/api-document.ts";

describe("its rules", () => {
  const profile = shippedProfile("b");
  const item = objectOf({ id: TEXT });

  interface List {
    readonly query?: readonly JsonObject[];
    readonly beside?: JsonObject;
    readonly headers?: JsonObject;
  }

  function drafted(lists: Readonly<Record<string, List>>): JsonObject {
    const paths = Object.fromEntries(
      Object.entries(lists).map(([path, { query = [], beside = {}, headers = {} }]) => [
        path,
        {
          get: {
            parameters: query.map((one) => ({ in: "query", ...one })),
            responses: { 200: { ...inJson(objectOf({ items: { type: "array", items: item }, ...beside })), headers } },
          },
        },
      ]),
    );
    const document = apiDocument(paths);
    const blank = {
      ...profile,
      paging: { ...profile.paging, style: "none", parameter: "", limitParameter: "", maxLimit: 7, firstPage: 7 },
    };
    return stated(draftPaging(document, matchesIn(document), blank as unknown as typeof profile).flatMap(({ proposals }) => proposals));
  }

  test.each<[string, List, JsonObject]>([
    [
      "a cursor",
      { query: [{ name: "after", schema: TEXT }], beside: { next_cursor: TEXT } },
      { style: "cursor", parameter: "after", next: ["next_cursor"] },
    ],
    [
      "numbered pages",
      { query: [{ name: "page", schema: { type: "integer", minimum: 0 } }], beside: { has_more: { type: "boolean" } } },
      { style: "page", parameter: "page", firstPage: 0, next: ["has_more"] },
    ],
    ["an offset", { query: [{ name: "skip", schema: { type: "integer" } }] }, { style: "offset", parameter: "skip" }],
    ["a link in the answer", { beside: { links: objectOf({ next: TEXT }) } }, { style: "link", next: ["links.next"] }],
    ["a header", { headers: { Link: {} }, query: [{ name: "after", schema: TEXT }] }, { style: "link" }],
  ])("a list pages by %s", (_, list, paging) => {
    const found = drafted({ "/posts": list });
    for (const [key, value] of Object.entries(paging)) expect(found[`paging.${key}`]).toEqual(value);
  });

  test.each<[number | string, number | undefined]>([
    [1, 1],
    [10_000, 10_000],
    [10_001, undefined],
    [0, undefined],
    [2.5, undefined],
    ["40", undefined],
  ])("a maximum of %s is drafted as %s", (maximum, expected) => {
    const found = drafted({ "/posts": { query: [{ name: "per_page", schema: { type: "integer", maximum } }] } });
    expect([found["paging.limitParameter"], found["paging.maxLimit"]]).toEqual(["per_page", expected]);
  });

  test("the first list that pages is the profile's, and a list that differs states its own", () => {
    const cursor = { query: [{ name: "cursor", schema: TEXT }] };
    const found = drafted({ "/posts": {}, "/jobs": cursor, "/agents": cursor, "/communities": { query: [{ name: "page", schema: {} }] } });
    expect(found).toMatchObject({
      "paging.style": "cursor",
      "operations.posts.list.paging": { style: "none" },
      "operations.communities.list.paging": { style: "page", parameter: "page" },
    });
    expect(found).not.toHaveProperty(["operations.agents.list.paging"]);
  });

  test("a document without a list drafts no paging", () => {
    expect(drafted({})).toEqual({});
  });
});

describe("habits of networks", () => {
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
});
