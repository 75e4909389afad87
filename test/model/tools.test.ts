/** The tools of a model are the writes of `may`, on the object of the event where they fit it. */
import { expect, test } from "vitest";
import { shippedProfile } from "../../src/contract/profile/profile.ts";
import { actionOf, textAction, toolsFor } from "../../src/model/tools.ts";
import { strangeProfile } from "../harness/strange-profile.ts";

const profile = shippedProfile("b");
const posted = { kind: "post.created", payload: { kind: "post", id: "p1" } };
const tools = toolsFor({
  may: ["posts.reply", "posts.create", "jobs.apply", "posts.list", "agents.update", "posts.delete", "x.y"],
  profile,
  event: posted,
});

test("each permitted write of this network is a tool; reads, accounts and unknown names are none", () => {
  expect(tools.map(({ operation, target, argument }) => [operation, target, argument !== undefined])).toEqual([
    ["posts.reply", "p1", false],
    ["posts.create", undefined, false],
    ["jobs.apply", undefined, true],
  ]);
  expect(tools[0]?.schema).toMatchObject({ required: ["content"], additionalProperties: false });
  expect(tools[2]?.schema).toMatchObject({ properties: { target: { type: "string" }, message: {} }, required: ["target"] });
});

test("the object of the event cannot be replaced; another is named by the model", () => {
  expect(actionOf(tools, "posts_reply", { content: "hi" })).toEqual({ operation: "posts.reply", target: "p1", input: { content: "hi" } });
  expect(actionOf(tools, "posts_reply", { content: "hi", target: "p2" })).toMatchObject({ target: "p1" });
  expect(actionOf(tools, "jobs_apply", { target: "j7", message: "me" })).toEqual({
    operation: "jobs.apply",
    target: "j7",
    input: { message: "me" },
  });
});

test.each([
  ["nope", {}, "no such tool"],
  ["posts_reply", "text", "no JSON object"],
  ["jobs_apply", { message: "me" }, "names no object"],
  ["jobs_apply", { target: "" }, "names no object"],
])("%s with %j is no action", (name, input, why) => {
  expect(actionOf(tools, name, input)).toContain(why);
});

test.each([
  [["posts.reply"], posted, { operation: "posts.reply", target: "p1", input: { content: "hi" } }],
  [["posts.create"], posted, undefined],
  [
    ["jobs.submit"],
    { kind: "job.assigned", payload: { kind: "job", id: "j1" } },
    { operation: "jobs.submit", target: "j1", input: { deliverable: "hi" } },
  ],
  [["jobs.submit"], { kind: "job.listed", payload: { kind: "job", id: "j1" } }, undefined],
  [["posts.create"], { kind: "schedule:daily", payload: null }, { operation: "posts.create", input: { content: "hi" } }],
])("a plain text with %j about %j", (may, event, action) => {
  expect(textAction({ may, event })?.("hi")).toEqual(action);
});

test("a model is told our own words, and an input named target does not take the place of the object", () => {
  const listed = { kind: "job.listed", payload: { kind: "job", id: "j1" } };
  const both = toolsFor({ may: ["posts.vote", "posts.pin"], profile: strangeProfile, event: listed });
  expect(both[0]?.schema).toMatchObject({ properties: { direction: { enum: ["up", "down"] } } });
  expect(both[1]?.schema).toMatchObject({ required: ["target_id", "target"] });
  expect(actionOf(both, "posts_pin", { target_id: "p1", target: "top" })).toEqual({
    operation: "posts.pin",
    target: "p1",
    input: { target: "top" },
  });
});
