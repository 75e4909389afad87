/** The schema of a call by name, and a call's arguments taken apart by it. */
import { expect, test } from "vitest";
import { callSchema, splitCall, targetArgument } from "../../src/contract/call-schema.ts";
import type { JsonObject } from "../../src/core/json.ts";
import type { ProfileOperation } from "../../src/contract/profile/network-operations.ts";
import { strangeProfile } from "../harness/strange-profile.ts";

const operation = (name: string): ProfileOperation => {
  const found = strangeProfile.operations.get(name);
  if (found === undefined) throw new Error(`there is no ${name}`);
  return found;
};

const schemaOf = (name: string): JsonObject => callSchema(operation(name), targetArgument(operation(name)));

test("an operation on an object asks for its id beside the inputs, and for nothing else", () => {
  expect(schemaOf("posts.reply")).toMatchObject({
    type: "object",
    properties: { target: { type: "string", description: "the id of the post" }, content: { type: "string" } },
    required: ["target", "content"],
    additionalProperties: false,
  });
  expect(schemaOf("posts.list")).toMatchObject({ required: [], properties: { limit: { type: "integer" } } });
});

test("inputs keep our own words, and money says its unit", () => {
  expect(schemaOf("posts.vote")).toMatchObject({ properties: { direction: { enum: ["up", "down"] } } });
  expect(schemaOf("jobs.create")).toMatchObject({
    properties: { reward: { description: "an amount of money in whole units" } },
  });
});

test("an input of the name `target` leaves its name to the object", () => {
  expect(targetArgument(operation("posts.pin"))).toBe("target_id");
  expect(splitCall(operation("posts.pin"), { target: "top", target_id: "p1" })).toEqual({ target: "p1", input: { target: "top" } });
});

test("arguments are taken apart, and anything else is no call", () => {
  expect(splitCall(operation("posts.reply"), { target: "p1", content: "hi" })).toEqual({ target: "p1", input: { content: "hi" } });
  expect(splitCall(operation("posts.reply"), { content: "hi" })).toEqual({ input: { content: "hi" } });
  expect(splitCall(operation("posts.list"), { target: "p1" })).toEqual({ input: { target: "p1" } });
  for (const given of [null, [], "text", { target: 7 }]) expect(splitCall(operation("posts.reply"), given)).toBeUndefined();
});
