/** Operations of a document that are ours: by noun and verb, by what they answer with, and each taken once. */
import { describe, expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { apiOperations } from "../../../src/doctor/openapi/api-operations.ts";
import { matchOperations, singular, type Kind } from "../../../src/doctor/openapi/match-operations.ts";
import { apiDocument, inJson, objectOf, TEXT } from "../../harness/api-document.ts";

const BODY = { requestBody: inJson(objectOf({ text: TEXT })), responses: {} };

function matched(paths: JsonObject, kindOf: (path: string) => Kind | undefined = () => undefined) {
  const { found, others } = matchOperations(apiOperations(apiDocument(paths)), ({ path }) => kindOf(path));
  return {
    found: found.map(({ name, operation, isDoubtful }) => `${name}: ${operation.path}${isDoubtful ? " ?" : ""}`),
    others: others.map(({ method, path }) => `${method} ${path}`),
  };
}

test.each([
  ["GET", "/v2/threads", "posts.list"],
  ["DELETE", "/api/messages/{id}", "posts.delete"],
  ["POST", "/notes/{id}/responses", "posts.reply"],
  ["PUT", "/notes/{id}/kudos", "posts.vote"],
  ["GET", "/bounties/{id}", "jobs.get"],
  ["POST", "/gigs/{id}/bids", "jobs.apply"],
  ["POST", "/proposals", "jobs.apply"],
  ["POST", "/quests/{id}/hand_in", "jobs.submit"],
  ["POST", "/guilds/{id}/members", "communities.join"],
  ["DELETE", "/guilds/{id}/members", "communities.leave"],
  ["PATCH", "/users/{name}", "agents.update"],
  ["GET", "/users/{name}/reputation", "agents.stats"],
  ["GET", "/search/tasks", "search.jobs"],
  ["GET", "/web/search", "search.web"],
  ["POST", "/oauth/token", "auth.token"],
  ["POST", "/auth/refresh", "auth.refresh"],
  ["DELETE", "/hooks/{id}", "webhooks.delete"],
])("%s %s is %s", (method, path, name) => {
  expect(matched({ [path]: { [method.toLowerCase()]: BODY } })).toEqual({ found: [`${name}: ${path}`], others: [] });
});

test.each([
  ["POST", "/communities"],
  ["GET", "/notes/{id}/kudos"],
  ["PATCH", "/notes/{id}"],
  ["GET", "/notes/{id}/replies/{reply}"],
  ["GET", "/weather"],
])("%s %s is none of ours", (method, path) => {
  expect(matched({ [path]: { [method.toLowerCase()]: BODY } })).toEqual({ found: [], others: [`${method} ${path}`] });
});

describe("where two fit", () => {
  test("the shorter path wins, and the other is left over", () => {
    const paths = { "/communities/all/posts": { get: {} }, "/posts": { get: {} } };
    expect(matched(paths)).toEqual({ found: ["posts.list: /posts"], others: ["GET /communities/all/posts"] });
  });

  test("an operation known by its name alone is doubtful", () => {
    const paths = { "/notes/{id}/zorb": { post: { ...BODY, operationId: "replyToNote" } } };
    expect(matched(paths).found).toEqual(["posts.reply: /notes/{id}/zorb ?"]);
  });

  test("the one remaining action with a body is a reply, and of two remaining ones none", () => {
    const one = { "/notes": { get: {} }, "/notes/{id}/echo": { post: BODY } };
    expect(matched(one).found).toContain("posts.reply: /notes/{id}/echo ?");
    expect(matched({ ...one, "/notes/{id}/zorb": { post: BODY } }).found).toEqual(["posts.list: /notes"]);
  });
});

test("a noun that nobody listed is known by its answers, for all its paths", () => {
  const paths = { "/squawks": { get: {} }, "/squawks/{id}": { get: {}, delete: {} } };
  expect(matched(paths).found).toEqual([]);
  expect(matched(paths, () => "post").found).toEqual(["posts.list: /squawks", "posts.get: /squawks/{id}", "posts.delete: /squawks/{id}"]);
});

test.each([
  ["Communities", "community"],
  ["matches", "match"],
  ["statusBoxes", "status_box"],
  ["status", "status"],
  ["class", "class"],
  ["user-posts", "user_post"],
])("%s in the singular is %s", (word, expected) => {
  expect(singular(word)).toBe(expected);
});
