/** What all requests share: the key, its trade, headers, limits in words, and the words of deliveries. */
import { expect, test, describe } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { drafted, examined, guildhall, json, text } from "../../harness/guildhall.ts";
import { shippedProfile } from "../../../src/contract/profile/profile.ts";
import { HOUR, MINUTE } from "../../../src/core/units.ts";
import { apiOperations } from "../../../src/doctor/openapi/api-operations.ts";
import { draftAuth, draftHeaders, draftLimits, draftWebhooks } from "../../../src/doctor/openapi/draft-access.ts";
import { apiDocument, inJson, matchesIn, objectOf, stated, TEXT } from "../../harness/api-document.ts";

describe("its rules", () => {
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
});

describe("habits of networks", () => {
  test("a key that is traded for a token is recognised by the scheme of the trade", async () => {
    const trade = {
      "/auth/token": {
        post: {
          security: [{ account: [] }],
          responses: { 200: json({ type: "object", properties: { access_token: text, expires_in: { type: "integer" } } }) },
        },
      },
    };
    const components = guildhall()["components"] as JsonObject;
    const securitySchemes = { key: { type: "http", scheme: "bearer" }, account: { type: "apiKey", in: "header", name: "X-Account" } };
    const { auth } = await drafted(guildhall({ paths: trade, root: { components: { ...components, securitySchemes } } }));
    expect(auth).toMatchObject({ exchange: true, trade: { header: "x-account" } });
  });

  test("a key that belongs into the body of its trade, or to OAuth, is put there", async () => {
    const token = {
      requestBody: json({ type: "object", required: ["api_key"], properties: { api_key: text } }),
      responses: { 200: json({ type: "object", properties: { token: text } }) },
    };
    const inBody = await drafted(guildhall({ paths: { "/sessions": { post: token } } }));
    expect(inBody.auth).toMatchObject({ exchange: true, trade: { header: null } });
    expect(inBody.operations?.["auth.token"]).toMatchObject({ path: "/v1/sessions", body: { api_key: "{key}" } });
    expect(inBody.guesses).toContain("auth.exchange");
    const components = guildhall()["components"] as JsonObject;
    const oauth = { type: "oauth2", flows: { clientCredentials: { tokenUrl: "/oauth/token", scopes: {} } } };
    const { auth, operations } = await drafted(guildhall({ root: { components: { ...components, securitySchemes: { key: oauth } } } }));
    expect(auth).toMatchObject({ exchange: true, trade: { header: null } });
    expect(operations?.["auth.token"]).toMatchObject({ path: "/oauth/token", encoding: "form" });
  });

  test("a key in a query is told, since no profile can state it", async () => {
    const components = guildhall()["components"] as JsonObject;
    const securitySchemes = { key: { type: "apiKey", in: "query", name: "key" } };
    const findings = await examined(guildhall({ root: { components: { ...components, securitySchemes } } }));
    expect(findings.map(({ message }) => message)).toContain("the key travels in a way that no profile can state: apiKey in query");
  });

  test.each([
    ["At most 5 comments per hour.", 5, 3_600_000],
    ["Agents may send one message every 2 minutes.", 1, 120_000],
    ["Limited to 100 requests/day.", 100, 86_400_000],
    ["You can write 20 words.", undefined, undefined],
  ])("a limit in a sentence: %s", async (description, max, per) => {
    const { limits } = await drafted(
      guildhall({ paths: { "/guilds/{id}/members": { post: { description, responses: { 204: { description: "in" } } } } } }),
    );
    const found = limits?.find(({ operations }) => operations.includes("communities.join"));
    expect([found?.max, found?.per]).toEqual([max, per]);
  });

  test("headers of idempotency and of limits are known by their names", async () => {
    const headers = { "X-Calls-Left": {}, "X-Calls-Reset": {}, "X-Page": {} };
    const post = {
      parameters: [
        { in: "header", name: "X-Client-Token", schema: text },
        { in: "header", name: "X-Api-Version", required: true, schema: { type: "string", default: "2026-01" } },
      ],
      responses: { 204: { description: "in", headers } },
    };
    const { idempotencyHeader, limitHeaders, headers: sent } = await drafted(guildhall({ paths: { "/guilds/{id}/members": { post } } }));
    expect(idempotencyHeader).toBe("x-client-token");
    expect(sent).toEqual({ "x-api-version": "2026-01" });
    expect(limitHeaders?.remaining?.[0]).toBe("x-calls-left");
  });

  test("the words of its deliveries get a meaning of ours", async () => {
    const webhooks = Object.fromEntries(
      ["note.answered", "quest.awarded", "PaidOut", "weather.changed"].map((word) => [
        word,
        { post: { parameters: [{ in: "header", name: "X-Guild-Signature" }], responses: {} } },
      ]),
    );
    const { webhooks: rules } = await drafted(guildhall({ root: { webhooks } }));
    expect(rules).toEqual({
      signature: ["x-guild-signature"],
      kinds: { "note.answered": "reply.created", "quest.awarded": "job.assigned", PaidOut: "job.paid" },
    });
  });
});
