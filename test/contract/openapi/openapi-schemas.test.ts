/** Schemas of a network: its own names, its own envelope and times, guesses marked, and nothing that leads nowhere. */
import { expect, test } from "vitest";
import { errorSchema, inputSchemas, listSchema, recordSchema } from "../../../src/contract/openapi/openapi-schemas.ts";
import { OPERATION_NAMES } from "../../../src/contract/operations.ts";
import { resolveProfile, shippedProfile } from "../../../src/contract/profile/profile.ts";

const other = resolveProfile({
  extends: "set-b",
  records: { post: { id: "meta.comment_id", content: "meta.markdown", authorHandle: "by.name" } },
  lists: { post: "thread.comments" },
  errors: { code: "fault.word", message: "fault.text" },
  times: "seconds",
  operations: { "posts.vote": { values: { direction: { up: 1, down: -1 } } } },
});

test("fields stand at the network's own places, nested ones together, and its id is required", () => {
  expect(recordSchema(other, "post")).toMatchObject({
    required: ["meta"],
    properties: {
      meta: { type: "object", properties: { comment_id: { type: "string", examples: ["post-1"] }, markdown: { type: "string" } } },
      by: { properties: { name: { examples: ["ada"] } } },
    },
  });
});

test("a value that the profile states is no guess, and any other is one", () => {
  const text = JSON.stringify(recordSchema(other, "post"));
  expect(JSON.stringify(recordSchema(shippedProfile("b"), "post"))).toContain('"x-assumed":true');
  expect(text).toContain('"x-assumed":true');
  expect(recordSchema(other, "post")).not.toHaveProperty("properties.meta.properties.comment_id.x-assumed");
});

test("times are written as the network writes them", () => {
  const times = (["auto", "seconds", "milliseconds"] as const).map((format) => {
    const schema = recordSchema(resolveProfile({ extends: "set-b", times: format, records: { post: { createdAtMs: "at" } } }), "post");
    return (schema as { readonly properties: { readonly at: object } }).properties.at;
  });
  expect(times).toMatchObject([
    { type: "string", format: "date-time", examples: ["2026-01-05T09:00:00.000Z"] },
    { type: "integer", examples: [1_767_603_600] },
    { type: "integer", examples: [1_767_603_600_000] },
  ]);
});

test("a list stands in its envelope, and shows no secret and no nested posts", () => {
  expect(listSchema(other, "post")).toMatchObject({
    required: ["thread"],
    properties: { thread: { properties: { comments: { type: "array" } } } },
  });
  const bare = resolveProfile({ extends: "set-b", lists: { agent: "$" } });
  expect(listSchema(bare, "agent")).toMatchObject({ type: "array", items: { required: ["id"] } });
  expect(JSON.stringify(listSchema(shippedProfile("b"), "agent"))).not.toContain("example-key-shown-once");
  expect(JSON.stringify(recordSchema(shippedProfile("b"), "agent"))).toContain("example-key-shown-once");
});

test("a record that is none is any object, and a refusal has the profile's code and message", () => {
  expect(recordSchema(other, "none")).toEqual({ type: "object" });
  expect(errorSchema(other)).toMatchObject({
    type: "object",
    properties: {
      fault: {
        type: "object",
        properties: {
          word: { type: "string", examples: ["not_found"] },
          text: { type: "string", examples: ["There is no such object."] },
        },
      },
    },
  });
});

test("inputs have the network's values, and no reference that leads nowhere", () => {
  const vote = other.operations.get("posts.vote");
  expect(vote && inputSchemas(vote)["direction"]).toEqual({ enum: [1, -1] });
  for (const name of OPERATION_NAMES) {
    const operation = other.operations.get(name);
    expect(JSON.stringify(operation && inputSchemas(operation))).not.toContain("$ref");
  }
});
