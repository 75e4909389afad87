/** The OpenAPI document of a network with notes, quests and guilds, and what the doctor drafts from one. */
import { shippedProfile } from "../../src/contract/profile/profile.ts";
import type { ProfileSource } from "../../src/contract/profile/source.ts";
import type { Json, JsonObject } from "../../src/core/json.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { applied, draftProfile } from "../../src/doctor/draft-profile.ts";
import type { Finding } from "../../src/doctor/finding.ts";
import { examineDocument } from "../../src/doctor/openapi/examine-document.ts";
import { openDocument } from "../../src/doctor/openapi/open-document.ts";

const profile = shippedProfile("b");
const BASE = "https://api.example.com/v1";

export async function examined(document: JsonObject | string, baseUrl = BASE, written = profile): Promise<readonly Finding[]> {
  const whole = typeof document === "string" ? document : JSON.stringify(document);
  return examineDocument({ document: openDocument(whole, "openapi.json"), profile: written, baseUrl, clock: virtualClock() });
}

export async function drafted(document: JsonObject | string, baseUrl = BASE, written = profile): Promise<ProfileSource> {
  return draftProfile(written, applied(written, await examined(document, baseUrl, written)).findings);
}

export const json = (schema: Json): JsonObject => ({ description: "an answer", content: { "application/json": { schema } } });
export const ref = (name: string): JsonObject => ({ $ref: `#/components/schemas/${name}` });
export const text = { type: "string" };

/** A network with notes, replies beside them, quests and guilds. */
export function guildhall(more: { readonly paths?: JsonObject; readonly root?: JsonObject } = {}): JsonObject {
  const page = (name: string): JsonObject => ({
    type: "object",
    properties: { entries: { type: "array", items: ref(name) }, after: text },
  });
  return {
    openapi: "3.1.0",
    info: { title: "Guildhall", version: "1" },
    servers: [{ url: "https://api.example.com/v1" }],
    security: [{ key: [] }],
    paths: {
      "/notes": {
        get: {
          parameters: [
            { name: "after", in: "query", schema: text },
            { name: "size", in: "query", schema: { type: "integer", maximum: 40 } },
            { name: "order", in: "query", schema: { enum: ["oldest", "newest"], type: "string" } },
          ],
          responses: { 200: json(page("Note")) },
        },
        post: {
          description: "Writes a note. At most 1 note every 30 minutes.",
          requestBody: {
            content: {
              "application/json": {
                schema: {
                  type: "object",
                  required: ["markdown", "mood"],
                  properties: { markdown: text, guild: text, mood: { type: "string", enum: ["calm", "loud"] } },
                },
              },
            },
          },
          responses: { 201: json({ type: "object", properties: { note: ref("Note") } }) },
        },
      },
      "/notes/{noteId}": {
        get: { responses: { 200: json({ type: "object", properties: { note: ref("Note") } }), 404: json(ref("Problem")) } },
      },
      "/notes/{noteId}/answers": {
        post: {
          requestBody: {
            content: { "application/json": { schema: { type: "object", required: ["markdown"], properties: { markdown: text } } } },
          },
          responses: { 201: json({ type: "object", properties: { note: ref("Note") } }) },
        },
      },
      "/notes/{noteId}/kudos": {
        put: {
          requestBody: {
            content: {
              "application/json": { schema: { type: "object", required: ["value"], properties: { value: { type: "integer" } } } },
            },
          },
          responses: { 204: { description: "done" } },
        },
      },
      "/quests": { get: { responses: { 200: json(page("Quest")) } } },
      "/quests/{questId}": { get: { responses: { 200: json({ type: "object", properties: { quest: ref("Quest") } }) } } },
      "/bids": {
        post: {
          requestBody: {
            content: {
              "application/json": { schema: { type: "object", required: ["quest_id"], properties: { quest_id: text, pitch: text } } },
            },
          },
          responses: { 201: json({ type: "object", properties: { bid: ref("Bid") } }) },
        },
      },
      ...more.paths,
    },
    components: {
      securitySchemes: { key: { type: "apiKey", in: "header", name: "X-Guild-Key" } },
      schemas: {
        Note: {
          type: "object",
          properties: {
            ref: text,
            markdown: text,
            writer: { type: "object", properties: { uid: text, nick: text } },
            written_on: { type: "string", format: "date-time" },
            kudos_count: { type: "integer" },
            answers: { type: "array", items: ref("Note") },
          },
        },
        Quest: {
          allOf: [
            { type: "object", properties: { ref: text, headline: text } },
            {
              type: "object",
              properties: { bounty: { type: "number" }, phase: { type: "string", enum: ["looking", "taken", "handed_in", "paid_out"] } },
            },
          ],
        },
        Bid: { type: "object", properties: { bid_id: text, quest: text, state: text } },
        Problem: { type: "object", properties: { fault: { type: "object", properties: { kind: text, text } } } },
      },
    },
    ...more.root,
  };
}
