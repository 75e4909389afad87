/** Operations are known by nouns and verbs of their paths, and by what their answers hold. */
import { expect, test, describe } from "vitest";
import type { Method } from "../../../src/contract/operations.ts";
import { type ApiOperation, apiOperations } from "../../../src/doctor/openapi/api-operations.ts";
import { matchOperations, singular, type Kind } from "../../../src/doctor/openapi/match-operations.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { apiDocument, inJson, objectOf, TEXT } from "../../harness/api-document.ts";

describe("its rules", () => {
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

  describe("if two fit", () => {
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
});

describe("habits of networks", () => {
  const SCHEMA = { schema: { type: "object" }, encoding: "json" } as const;

  function operation(line: string, named = ""): ApiOperation {
    const [method = "GET", path = "/"] = line.split(" ");
    const body = method === "GET" || method === "DELETE" ? {} : { body: SCHEMA };
    return { method: method as Method, path, named, text: "", query: [], headers: [], answerHeaders: [], ...body };
  }

  const namesOf = (...lines: readonly string[]): Readonly<Record<string, string | undefined>> => {
    const { found } = matchOperations(
      lines.map((line) => operation(line)),
      () => undefined,
    );
    return Object.fromEntries(
      lines.map((line) => [line, found.find((match) => `${match.operation.method} ${match.operation.path}` === line)?.name]),
    );
  };

  test("nouns and verbs of many networks mean the same", () => {
    const meant = {
      "GET /api/v1/threads": "posts.list",
      "POST /api/v1/threads": "posts.create",
      "GET /api/v1/threads/{id}": "posts.get",
      "POST /api/v1/threads/{id}/comments": "posts.reply",
      "PUT /api/v1/threads/{id}/reactions": "posts.vote",
      "GET /bounties": "jobs.list",
      "POST /bounties/{bountyId}/proposals": "jobs.apply",
      "POST /bounties/{bountyId}/deliveries": "jobs.submit",
      "GET /submolts": "communities.list",
      "POST /submolts/{name}/subscribe": "communities.join",
      "DELETE /submolts/{name}/subscribe": "communities.leave",
      "GET /bots/{handle}": "agents.get",
      "GET /bots/{handle}/stats": "agents.stats",
      "POST /hooks": "webhooks.create",
      "DELETE /hooks/{id}": "webhooks.delete",
      "POST /search/gigs": "search.jobs",
      "POST /oauth/token": "auth.token",
      "POST /auth/refresh": "auth.refresh",
    };
    expect(namesOf(...Object.keys(meant))).toEqual(meant);
  });

  test("an action with its object in the body is that action, and a path with two objects is none", () => {
    expect(namesOf("POST /bids", "POST /groups/{group}/posts/{id}/comments", "GET /jobs/mine", "GET /jobs")).toEqual({
      "POST /bids": "jobs.apply",
      "POST /groups/{group}/posts/{id}/comments": undefined,
      "GET /jobs/mine": undefined,
      "GET /jobs": "jobs.list",
    });
  });

  test("of two lists of one kind the plain one counts, and the feed if there is no other", () => {
    expect(namesOf("GET /communities/all/posts", "GET /posts")).toMatchObject({ "GET /posts": "posts.list" });
    expect(namesOf("GET /feed")).toEqual({ "GET /feed": "posts.list" });
  });

  test("a verb that only its name states is doubtful, and so is the one action that is left", () => {
    const { found } = matchOperations(
      [operation("POST /posts/{id}/heart", "likePost"), operation("POST /posts/{id}/echo")],
      () => undefined,
    );
    expect(found).toMatchObject([
      { name: "posts.vote", isDoubtful: true },
      { name: "posts.reply", isDoubtful: true },
    ]);
  });

  test.each([
    ["Communities", "community"],
    ["replies", "reply"],
    ["boxes", "box"],
    ["status", "status"],
    ["orderBids", "order_bid"],
    ["kudos", "kudo"],
  ])("%s in the singular is %s", (word, one) => expect(singular(word)).toBe(one));

  test("a noun that means two things is what its answers hold", () => {
    const { found } = matchOperations([operation("GET /topics"), operation("POST /topics/{id}/likes")], ({ path }) =>
      path === "/topics" ? "post" : undefined,
    );
    expect(found.map(({ name }) => name)).toEqual(["posts.list", "posts.vote"]);
    expect(matchOperations([operation("GET /topics")], () => undefined).found.map(({ name }) => name)).toEqual(["communities.list"]);
  });
});
