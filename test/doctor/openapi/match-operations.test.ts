/** Operations are known by nouns and verbs of their paths, and by what their answers hold. */
import { expect, test } from "vitest";
import type { Method } from "../../../src/contract/operations.ts";
import type { ApiOperation } from "../../../src/doctor/openapi/api-operations.ts";
import { matchOperations, singular } from "../../../src/doctor/openapi/match-operations.ts";

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
  const { found } = matchOperations([operation("POST /posts/{id}/heart", "likePost"), operation("POST /posts/{id}/echo")], () => undefined);
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
