/** Comments beside their post, and notifications, are lists of the network's own. */
import { expect, test } from "vitest";
import type { Json, JsonObject } from "../../../src/core/json.ts";
import { examined, guildhall, json, ref } from "../../harness/guildhall.ts";

const list: JsonObject = { responses: { 200: json({ type: "object", properties: { entries: { type: "array", items: ref("Note") } } }) } };

async function proposed(paths: JsonObject, note?: Json): Promise<Readonly<Record<string, Json>>> {
  const components = guildhall()["components"] as JsonObject;
  const schemas = components["schemas"] as JsonObject;
  const root = note === undefined ? {} : { components: { ...components, schemas: { ...schemas, Note: note } } };
  const findings = await examined(guildhall({ paths, root }));
  const proposals = findings.flatMap((found) => found.proposals);
  return Object.fromEntries(proposals.map(({ path, value }) => [path.join("."), value]));
}

const BARE = { type: "object", properties: { ref: { type: "string" }, markdown: { type: "string" }, kudos_count: { type: "integer" } } };

test("comments that no post shows are read from their own list", async () => {
  expect(await proposed({ "/notes/{noteId}/comments": { get: list } }, BARE)).toMatchObject({
    "extra.comments.list": { method: "GET", path: "/v1/notes/:id/comments", target: "post", effect: "read", list: true, record: "post" },
    "operations.posts.get.replies": "comments.list",
  });
});

test("comments within their post need no list, and comments of something else are no comments of a post", async () => {
  expect(await proposed({ "/notes/{noteId}/comments": { get: list } })).not.toHaveProperty(["extra.comments.list"]);
  expect(await proposed({ "/quests/{questId}/comments": { get: list } }, BARE)).not.toHaveProperty(["extra.comments.list"]);
});

test("a list of notifications is proposed as one", async () => {
  expect(await proposed({ "/me/notifications": { get: list } })).toMatchObject({
    "extra.inbox.list": { path: "/v1/me/notifications", record: "notification", lane: "poll" },
    notifications: "inbox.list",
  });
});
