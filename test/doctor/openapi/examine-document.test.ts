/** A whole document becomes a draft: what it states, and what its answers show. */
import { describe, expect, test } from "vitest";
import { resolveProfile } from "../../../src/contract/profile/profile.ts";
import type { JsonObject } from "../../../src/core/json.ts";
import { drafted, examined, guildhall, json, ref, text } from "../../harness/guildhall.ts";

describe("its rules", () => {
  test("a document is enough for paths, bodies, fields, states, paging, limits and the place of the key", async () => {
    const { operations, records, statuses, paging, limits, auth, errors, lists } = await drafted(guildhall());
    expect(operations).toMatchObject({
      "posts.list": { path: "/v1/notes", query: { order: "newest" } },
      "posts.create": {
        path: "/v1/notes",
        body: { markdown: "{content}", guild: "{community}", mood: "{mood}" },
        input: { mood: { type: "text", required: true, oneOf: ["calm", "loud"] } },
      },
      "posts.get": { path: "/v1/notes/:id" },
      "posts.reply": { path: "/v1/notes/:id/answers", body: { markdown: "{content}" } },
      "posts.vote": {
        path: "/v1/notes/:id/kudos",
        method: "PUT",
        body: { value: "{direction}" },
        values: { direction: { up: 1, down: -1 } },
      },
      "jobs.list": { path: "/v1/quests" },
      "jobs.apply": { path: "/v1/bids", body: { quest_id: "{target}", pitch: "{message}" } },
      "jobs.submit": { unsupported: expect.any(String) as string },
      "communities.list": { unsupported: expect.any(String) as string },
    });
    expect(records).toMatchObject({
      post: {
        id: ["ref"],
        content: ["markdown"],
        authorId: ["writer.uid"],
        authorHandle: ["writer.nick"],
        createdAtMs: ["written_on"],
        replies: ["answers"],
      },
      job: { id: ["ref"], title: ["headline"], reward: ["bounty"], status: ["phase"] },
      application: { jobId: ["quest"] },
    });
    expect(lists).toMatchObject({ post: ["entries"], job: ["entries"] });
    for (const [state, word] of Object.entries({ open: "looking", assigned: "taken", submitted: "handed_in", paid: "paid_out" }))
      expect(Reflect.get(statuses ?? {}, state)).toContain(word);
    expect(paging).toMatchObject({ parameter: "after", limitParameter: "size", maxLimit: 40, next: ["after"] });
    expect(limits).toMatchObject([{ operations: ["posts.create"], max: 1, per: 1_800_000 }]);
    expect(auth).toEqual({ header: "x-guild-key", prefix: "" });
    expect(errors).toMatchObject({ code: ["fault.kind"], message: ["fault.text"] });
  });

  test("version 2.0 says the same with its own words", async () => {
    const { operations, records, auth } = await drafted({
      swagger: "2.0",
      basePath: "/v1",
      paths: {
        "/threads": {
          get: { responses: { 200: { schema: { type: "array", items: { $ref: "#/definitions/Thread" } } } } },
          post: {
            parameters: [{ in: "body", name: "body", schema: { type: "object", required: ["msg"], properties: { msg: text } } }],
            responses: {},
          },
        },
      },
      definitions: { Thread: { type: "object", properties: { thread_id: text, msg: text, nick: text } } },
      securityDefinitions: { key: { type: "apiKey", in: "header", name: "X-Key" } },
    });
    expect(operations).toMatchObject({ "posts.create": { path: "/v1/threads", body: { msg: "{content}" } } });
    expect(records?.["post"]).toMatchObject({ content: ["msg"], authorHandle: ["nick"] });
    expect(auth?.header).toBe("x-key");
  });

  test("nouns that nobody listed are known by what their answers hold", async () => {
    const squawk = { type: "object", properties: { id: text, text, upvotes: { type: "integer" }, comment_count: { type: "integer" } } };
    const { operations } = await drafted({
      openapi: "3.0.3",
      info: { title: "x", version: "1" },
      paths: {
        "/squawks": {
          get: { responses: { 200: json({ type: "array", items: squawk }) } },
          post: { requestBody: json({ type: "object", required: ["text"], properties: { text } }), responses: {} },
        },
        "/squawks/{id}/echo": { post: { requestBody: json({ type: "object", required: ["text"], properties: { text } }), responses: {} } },
      },
    });
    expect(operations).toMatchObject({
      "posts.list": { path: "/squawks" },
      "posts.create": { path: "/squawks" },
      "posts.reply": { path: "/squawks/:id/echo" },
    });
  });

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

  test("a schema that contains itself is read once around, and a reference that leads out or in a circle is named, not followed", async () => {
    const loops = { A: ref("B"), B: ref("A"), Far: { $ref: "https://elsewhere.example/schemas.json#/Note" } };
    const components = guildhall()["components"] as JsonObject;
    const paths = {
      "/guilds": { get: { responses: { 200: json({ type: "array", items: ref("A") }) } } },
      "/agents": { get: { responses: { 200: json(ref("Far")) } } },
    };
    const findings = await examined(
      guildhall({ paths, root: { components: { ...components, schemas: { ...(components["schemas"] as JsonObject), ...loops } } } }),
    );
    const said = findings.map(({ message }) => message).join("\n");
    expect(said).toMatch(/#\/components\/schemas\/[AB] leads back to itself/);
    expect(said).toContain("https://elsewhere.example/schemas.json#/Note leads out of the document, and is not fetched");
  });

  test("a document whose schemas multiply at every level ends within its bound", async () => {
    const schemas = Object.fromEntries(
      Array.from({ length: 30 }, (_, n) => [
        `S${n}`,
        { type: "object", properties: Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`p${i}`, ref(`S${(n + 1) % 30}`)])) },
      ]),
    );
    const components = guildhall()["components"] as JsonObject;
    const root = { components: { ...components, schemas: { ...(components["schemas"] as JsonObject), ...schemas } } };
    const findings = await examined(
      guildhall({ paths: { "/guilds": { get: { responses: { 200: json({ type: "array", items: ref("S0") }) } } } }, root }),
    );
    expect(findings.length).toBeGreaterThan(3);
  });

  describe("an action that no word tells", () => {
    const unload = {
      "/quests/{questId}/unload": { post: { requestBody: json({ type: "object", properties: { crate: text } }), responses: {} } },
    };
    const path = "/v1/quests/{id}/unload";

    test("is named with the operation that is missing there", async () => {
      const said = (await examined(guildhall({ paths: unload }))).map(({ message }) => message).join("\n");
      expect(said).toContain("POST /quests/{questId}/unload may be jobs.submit: state its path there, or under extra");
    });

    test("is neither named nor doubted if the profile states its place", async () => {
      const written = resolveProfile({ extends: "set-b", operations: { "jobs.submit": { path, body: { crate: "{deliverable}" } } } });
      const said = (await examined(guildhall({ paths: unload }), undefined, written)).map(({ message }) => message).join("\n");
      expect(said).not.toContain("unload");
      const { operations, guesses } = await drafted(guildhall({ paths: unload }), undefined, written);
      expect(operations?.["jobs.submit"]).toBeUndefined();
      expect(guesses).not.toContain("operations.jobs.submit.unsupported");
    });

    test("an operation that the profile declares unsupported stays so, whatever the document has", async () => {
      const written = resolveProfile({ extends: "set-b", operations: { "posts.list": { unsupported: true } } });
      expect((await drafted(guildhall(), undefined, written)).operations?.["posts.list"]).toBeUndefined();
    });
  });

  test("a document without operations of such a network drafts nothing, and says so", async () => {
    const findings = await examined({
      openapi: "3.1.0",
      info: { title: "x", version: "1" },
      paths: { "/pets": { get: { responses: { 200: json({ type: "array", items: { type: "object", properties: { breed: text } } }) } } } },
    });
    expect(findings).toMatchObject([{ severity: "problem", proposals: [] }]);
  });
});
