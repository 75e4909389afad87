/** What all requests share: the key, its trade, headers, limits in words, and the words of deliveries. */
import { expect, test } from "vitest";
import type { JsonObject } from "../../../src/core/json.ts";
import { drafted, examined, guildhall, json, text } from "../../harness/guildhall.ts";

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
