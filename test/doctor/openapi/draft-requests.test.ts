/** Requests from a document: paths under the base address, and a place for each input. */
import { expect, test, describe } from "vitest";
import { shippedProfile } from "../../../src/contract/profile/profile.ts";
import type { JsonObject, Json } from "../../../src/core/json.ts";
import type { ApiOperation } from "../../../src/doctor/openapi/api-operations.ts";
import { draftRequest, pathOf } from "../../../src/doctor/openapi/draft-requests.ts";
import type { Match } from "../../../src/doctor/openapi/match-operations.ts";
import { openDocument } from "../../../src/doctor/openapi/open-document.ts";
import { apiDocument, inJson, matchesIn, objectOf, stated, TEXT } from "../../harness/api-document.ts";

describe("its rules", () => {
  const BASE = "https://api.example.com/v1";

  function drafted(paths: JsonObject, root: JsonObject = {}): JsonObject {
    const document = apiDocument(paths, root);
    const options = { document, profile: shippedProfile("b"), baseUrl: BASE };
    return stated(matchesIn(document).flatMap((match) => draftRequest(options, match)));
  }

  const write = (body: Json): JsonObject => ({ post: { requestBody: inJson(body), responses: {} } });

  describe("the path", () => {
    test.each([
      ["/a/{noteId}", {}, "/a/:id"],
      ["/a/{user-name}", {}, "/a/:handle"],
      ["/a", { servers: [{ url: "https://api.example.com/v2/" }] }, "/v2/a"],
      ["/a", { servers: [{ url: "{scheme}/v1" }] }, "/v1/a"],
      ["/a", { servers: [{ url: "https://{host}.example.com/v1" }] }, "/v1/a"],
      ["/a", { servers: [{ url: "https://api.example.com/{tenant}" }] }, "/a"],
      ["/a", { servers: [] }, "/a"],
      ["/a", { basePath: "/v1" }, "/v1/a"],
    ])("%s under %j is %s", (path, root, expected) => {
      expect(pathOf({ document: apiDocument({}, root), baseUrl: BASE }, { path })).toBe(expected);
    });

    test("is below the base address: its own part is not stated twice", () => {
      const document = apiDocument({}, { servers: [{ url: "https://api.example.com/net/api/v1" }] });
      expect(pathOf({ document, baseUrl: "https://api.example.com/net/api" }, { path: "/a" })).toBe("/v1/a");
    });
  });

  describe("a body", () => {
    test("takes each input where its name says, a wrapped one too, and the object acted on by its id", () => {
      const body = objectOf({ bid: objectOf({ quest_id: TEXT, job_id: TEXT, pitch: TEXT }, ["job_id"]) }, ["bid"]);
      expect(drafted({ "/bids": write(body) })).toMatchObject({
        "operations.jobs.apply.body": { bid: { job_id: "{target}", pitch: "{message}" } },
      });
    });

    test("asks for what else the network requires, sends what can only have one value, and leaves the rest out", () => {
      const body = objectOf(
        {
          content: TEXT,
          "mood-of day": { enum: ["calm"], type: "string" },
          "mood-level": { type: "integer" },
          kind: { const: "note" },
          tone: { type: "string", enum: ["dry", "warm"] },
          extra: TEXT,
          idempotency_token: TEXT,
        },
        ["content", "mood-of day", "mood-level", "kind", "tone", "idempotency_token"],
      );
      const found = drafted({ "/posts": write(body) });
      expect(found["operations.posts.create.body"]).toEqual({
        content: "{content}",
        "mood-level": "{moodLevel}",
        kind: "note",
        tone: "{tone}",
      });
      expect(found["operations.posts.create.input"]).toEqual({
        moodLevel: { type: "integer", required: true },
        tone: { type: "text", required: true, oneOf: ["dry", "warm"] },
      });
    });

    test("with one text alone takes the content there, which is a guess", () => {
      const document = apiDocument({ "/posts": write(objectOf({ zorb: TEXT }, ["zorb"])) });
      const options = { document, profile: shippedProfile("b"), baseUrl: BASE };
      const found = matchesIn(document).flatMap((match) => draftRequest(options, match));
      expect(found.find(({ path }) => path.at(-1) === "body")).toMatchObject({ value: { zorb: "{content}" }, isDoubtful: true });
    });

    test.each<[JsonObject, Json | undefined]>([
      [{ type: "string", enum: ["up", "down"] }, undefined],
      [
        { type: "string", enum: ["Like", "Dislike"] },
        { up: "Like", down: "Dislike" },
      ],
      [
        { type: "integer", enum: [1, -1] },
        { up: 1, down: -1 },
      ],
      [{ type: "boolean" }, { up: true, down: false }],
      [{ type: "string" }, undefined],
      [{ type: "string", enum: ["like"] }, { up: "like" }],
    ])("a direction of %j has the values %j", (direction, values) => {
      const found = drafted({ "/posts/{id}/vote": write(objectOf({ direction })) });
      const [given] = [found["operations.posts.vote.values"]];
      expect(given).toEqual(values === undefined ? undefined : { direction: values });
    });

    test("that is none, or a form, is said", () => {
      expect(drafted({ "/posts/{id}/vote": { post: { responses: {} } } })).toMatchObject({ "operations.posts.vote.body": null });
      const requestBody = { content: { "application/x-www-form-urlencoded": { schema: objectOf({ content: TEXT }) } } };
      expect(drafted({ "/posts": { post: { requestBody, responses: {} } } })).toMatchObject({ "operations.posts.create.encoding": "form" });
    });
  });

  test("a list is asked for its newest first where it offers that, unless it begins there anyway", () => {
    const sorted = (schema: JsonObject): JsonObject => ({ get: { parameters: [{ in: "query", name: "sort", schema }], responses: {} } });
    expect(drafted({ "/posts": sorted({ enum: ["old", "recent"] }) })).toMatchObject({ "operations.posts.list.query": { sort: "recent" } });
    expect(drafted({ "/posts": sorted({ enum: ["old", "top"] }) })["operations.posts.list.query"]).not.toHaveProperty("sort", "old");
  });

  test("a field that the profile sends already is not stated again", () => {
    const { operations } = shippedProfile("b");
    const path = operations.get("posts.delete")?.path.replace(/:(\w+)/, "{$1}") ?? "";
    expect(drafted({ [path]: { delete: { responses: {} } } }, { servers: [{ url: "https://api.example.com/" }] })).toEqual({});
  });
});

describe("habits of networks", () => {
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

  function drafted(
    name: Match["name"],
    path: string,
    schema: JsonObject,
    method: ApiOperation["method"] = "POST",
  ): Record<string, unknown> {
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

  test("a required field that is none of our inputs is fixed if it can be, else asked for", () => {
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
    expect(
      drafted("jobs.apply", "/bids", { type: "object", required: ["job_id"], properties: { job_id: text, pitch: text } }),
    ).toMatchObject({
      body: { job_id: "{target}", pitch: "{message}" },
    });
  });
});
