/** What all requests share, drafted from a document: the key's place, its exchange, headers, limits in words and kinds of deliveries. */
import { describe, expect, test } from "vitest";
import { shippedProfile } from "../../../src/contract/profile/profile.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { HOUR, MINUTE } from "../../../src/core/units.ts";
import { apiOperations } from "../../../src/doctor/openapi/api-operations.ts";
import { draftAuth, draftHeaders, draftLimits, draftWebhooks } from "../../../src/doctor/openapi/draft-access.ts";
import { apiDocument, inJson, matchesIn, objectOf, stated, TEXT } from "../../harness/api-document.ts";

const profile = shippedProfile("b");

describe("the key", () => {
  const auth = (scheme: JsonObject, paths: JsonObject = {}) => {
    const document = apiDocument(paths, { components: { securitySchemes: { key: scheme } } });
    const found = draftAuth(document, matchesIn(document), { ...profile, auth: { ...profile.auth, header: "x-other", prefix: "P " } });
    return { severity: found[0]?.severity, ...stated(found.flatMap(({ proposals }) => proposals)) };
  };

  test.each<[string, JsonObject, string, string]>([
    ["bearer", { type: "http", scheme: "Bearer" }, "authorization", "Bearer "],
    ["a header of its own", { type: "apiKey", in: "header", name: "X-Key" }, "x-key", ""],
    ["bearer in words", { type: "apiKey", in: "header", name: "Authorization", description: "`Token <key>`" }, "authorization", "Token "],
  ])("travels as %s", (_, scheme, header, prefix) => {
    expect(auth(scheme)).toMatchObject({ "auth.header": header, "auth.prefix": prefix });
  });

  test("in a query cannot be stated by any profile, which is said", () => {
    expect(auth({ type: "apiKey", in: "query", name: "key" })).toEqual({ severity: "warning" });
    expect(draftAuth(apiDocument({}), [], profile)).toEqual([]);
  });

  test("is exchanged by client credentials, or in the body of an exchange that has a place for it", () => {
    const flows = { clientCredentials: { tokenUrl: "https://api.example.com/oauth/token" } };
    expect(auth({ type: "oauth2", flows })).toMatchObject({
      "auth.exchange": true,
      "operations.auth.token.path": "/oauth/token",
      "operations.auth.token.encoding": "form",
    });
    const trade = { "/auth/token": { post: { requestBody: inJson(objectOf({ api_key: TEXT, grant_type: TEXT })), responses: {} } } };
    expect(auth({ type: "http", scheme: "bearer" }, trade)).toMatchObject({
      "auth.exchange": true,
      "auth.trade": { header: null },
      "operations.auth.token.body": { api_key: "{key}", grant_type: "client_credentials" },
    });
  });
});

test("the idempotency header of writes, fixed headers and limit headers of answers are drafted, and nothing of reads or of ours", () => {
  const header = (name: string, schema: JsonObject, required = true) => ({ in: "header", name, schema, required });
  const operations = apiOperations(
    apiDocument({
      "/notes": {
        get: { parameters: [header("X-Request-Token", TEXT)], responses: { 200: { headers: { "X-Quota-Left": {} } } } },
        post: {
          parameters: [
            header("X-Dedup", TEXT),
            header("X-Api", { const: "7" }),
            header("X-Maybe", { const: "7" }, false),
            header("Accept", { const: "text/plain" }),
          ],
          responses: {},
        },
      },
    }),
  );
  const proposals = draftHeaders(operations, profile).flatMap((one) => one.proposals);
  expect(stated(proposals)).toMatchObject({ idempotencyHeader: "x-dedup", "headers.x-api": "7" });
  expect(proposals.map(({ path }) => path.join("."))).toEqual(["idempotencyHeader", "headers.x-api", "limitHeaders.remaining"]);
});

describe("a limit in words", () => {
  const limits = (description: string, known = { ...profile, limits: [] as typeof profile.limits }) => {
    const document = apiDocument({ "/posts": { post: { description, responses: {} } } });
    return draftLimits(document, matchesIn(document), known).flatMap(({ proposals }) => proposals);
  };
  test.each([
    ["At most 5 comments per hour.", 5, HOUR],
    ["At most one post every 30 minutes.", 1, 30 * MINUTE],
    ["You get three new posts within two hours", 3, 2 * HOUR],
  ])("%s", (text, max, per) => {
    expect(limits(text)).toMatchObject([{ path: ["limits"], isDoubtful: true, value: [{ operations: ["posts.create"], max, per }] }]);
  });

  test("is none where nothing is counted, where it is zero, and where the profile states its own", () => {
    expect(limits("Please do not post too often.")).toEqual([]);
    expect(limits("At most 0 posts per hour.")).toEqual([]);
    const own = [{ name: "own", operations: ["posts.create"], max: 1, per: HOUR }] as unknown as typeof profile.limits;
    expect(limits("At most 5 posts per hour.", { ...profile, limits: own })).toEqual([]);
  });
});

test("kinds come from a registration's list too, and a signature by its name", () => {
  const body = objectOf({ hook: objectOf({ events: { type: "array", items: { enum: ["note.answered"] } } }) });
  const document = apiDocument(
    { "/webhooks": { post: { requestBody: inJson(body), responses: {} } } },
    { "x-webhooks": { "quest.awarded": { post: { parameters: [{ in: "header", name: "X-My-Hmac" }] } } } },
  );
  expect(stated(draftWebhooks(document, matchesIn(document), profile).flatMap(({ proposals }) => proposals))).toEqual({
    "webhooks.kinds.note.answered": "reply.created",
    "webhooks.kinds.quest.awarded": "job.assigned",
    "webhooks.signature": ["x-my-hmac"],
  });
  expect(draftWebhooks(apiDocument({}), [], profile)).toEqual([]);
});
