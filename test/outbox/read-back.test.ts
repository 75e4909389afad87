/** Whose effect it is that a look at the network found. */
import { describe, expect, test } from "vitest";
import type { Job, Post } from "../../src/contract/records.ts";
import { asIntentId } from "../../src/core/ids.ts";
import type { JsonObject } from "../../src/core/json.ts";
import type { Intent } from "../../src/outbox/intent.ts";
import { intentOf } from "../harness/builders.ts";
import { findEffect, provesReading, wouldShow } from "../../src/outbox/read-back.ts";

const NOW = 1_800_000_000_000;
const ME = { handle: "scout", accountId: "me" };
const said = (id: string, content: string): Post => ({ kind: "post", id, authorId: "me", content, createdAtMs: NOW, raw: {} });
const intent = (id: string, content: string, attempt: number): Intent =>
  intentOf({ id: asIntentId(id), input: { content }, attempt, sentAt: NOW, createdAt: NOW });

describe("in a store that was put back, an action it never sent", () => {
  const records = [said("p1", "in other words"), said("p2", "the words of another")];

  test("is taken for whatever was said since, its own words first", () => {
    expect(findEffect(intent("i1", "the words of another", 0), records, ME)).toEqual(["p2", "p1"]);
  });

  test("is never taken for the very words of another that is in doubt as well", () => {
    const other = intent("i2", "the words of another", 1);
    expect(findEffect(intent("i1", "words of its own", 0), records, ME, [other])).toEqual(["p1"]);
    expect(findEffect(other, records, ME, [intent("i1", "words of its own", 0)])).toEqual(["p2"]);
  });
});

test("an action that was sent is found by its own words only", () => {
  expect(findEffect(intent("i1", "in other  words", 1), [said("p1", "in other words"), said("p2", "else")], ME)).toEqual(["p1"]);
});

describe("a vote", () => {
  const vote = (direction: "up" | "down"): Intent => ({
    ...intent("i1", "", 1),
    operation: "posts.vote",
    target: "p1",
    input: { direction },
  });
  const look = (direction: "up" | "down", fields: Partial<Post>) => {
    const records = [{ ...said("p1", "a post"), ...fields }];
    const found = findEffect(vote(direction), records, ME).length > 0;
    return found
      ? provesReading(vote(direction), records, ME)
        ? "proven"
        : "found"
      : wouldShow(vote(direction), records)
        ? "absent"
        : "no word";
  };
  const many = Array.from({ length: 10 }, (_, i) => `a${i}`);

  const looks: readonly (readonly ["up" | "down", Partial<Post>, string])[] = [
    ["up", { ownVote: "up" }, "proven"],
    ["up", { ownVote: "none" }, "absent"],
    ["up", { ownVote: "not-up" }, "absent"],
    ["up", { ownVote: "down" }, "absent"],
    ["up", { likedBy: ["a1", "me"] }, "proven"],
    ["up", { likedBy: ["a1"] }, "absent"],
    ["up", { likedBy: many }, "no word"],
    ["up", {}, "no word"],
    ["up", { ownVote: "none", likedBy: ["me"] }, "found"],
    ["down", { ownVote: "down" }, "proven"],
    ["down", { ownVote: "up" }, "absent"],
    ["down", { ownVote: "none" }, "absent"],
    ["down", { ownVote: "not-up" }, "no word"],
    ["down", { likedBy: ["me"] }, "no word"],
  ];

  test.each(looks)("%s, where a post shows %j: %s", (direction, fields, word) => {
    expect(look(direction, fields)).toBe(word);
  });
});

describe("an offer of a job", () => {
  const offer = (input: JsonObject): Intent => ({ ...intent("i1", "", 1), operation: "jobs.create", input });
  const wanted = offer({ title: "Sort a list", description: "A long story about a list, and how to sort it", reward: 7 });
  const shown = (id: string, fields: Partial<Job>): Job => ({
    kind: "job",
    id,
    authorId: "me",
    title: "Sort a list",
    createdAtMs: NOW,
    raw: {},
    ...fields,
  });

  test("is not taken for another of the same title that pays otherwise, or is about something else", () => {
    expect(findEffect(wanted, [shown("j1", { reward: 13 }), shown("j2", { reward: 7, description: "Another story" })], ME)).toEqual([]);
  });

  test("is found by as much as the network shows of it", () => {
    const records = [
      shown("j1", {}),
      shown("j2", { title: " Sort a  list ", reward: 7 }),
      shown("j3", { description: "A long story about…" }),
    ];
    expect(findEffect(wanted, records, ME)).toEqual(["j1", "j2", "j3"]);
  });
});

describe("a delivery of work that a job does not show", () => {
  const submit: Intent = { ...intent("i1", "", 1), operation: "jobs.submit", target: "j1", input: { deliverable: "done" } };
  const job = (status: Job["status"]): Job => ({ kind: "job", id: "j1", status, assigneeId: "me", raw: {} });

  test.each(["open", "applied", "assigned", "expired", "cancelled"] as const)("is absent while the job is %s", (status) => {
    expect([findEffect(submit, [job(status)], ME), wouldShow(submit, [job(status)])]).toEqual([[], true]);
  });

  test.each(["submitted", "unknown", undefined] as const)("of another assignee proves nothing: %s", (status) => {
    const others: Job = { ...job(status), assigneeId: "another" };
    expect([findEffect(submit, [others], ME), wouldShow(submit, [others])]).toEqual([[], false]);
  });
});

describe("what does not say whose it is, or where it goes", () => {
  const unsigned = (content: string): Post => ({ ...said("p1", content), authorId: undefined });

  test("may be ours if it is in our words", () => {
    const create: Intent = { ...intent("i1", "my words", 1), operation: "posts.create" };
    const reply: Intent = { ...intent("i1", "my words", 1), operation: "posts.reply" };
    const thread = (content: string): Post => ({ ...said("p0", "a post"), authorId: "another", replies: [unsigned(content)] });
    expect([wouldShow(create, [unsigned("my  words")]), wouldShow(create, [unsigned("others' words")])]).toEqual([false, true]);
    expect([wouldShow(reply, [thread("my  words")]), wouldShow(reply, [thread("others' words")])]).toEqual([false, true]);
  });

  test("may be the webhook that is sought", () => {
    const create: Intent = { ...intent("i1", "", 1), operation: "webhooks.create", input: { url: "https://a.example" } };
    const webhook = (url?: string) => [{ kind: "webhook" as const, id: "w1", raw: {}, ...(url === undefined ? {} : { url }) }];
    expect([wouldShow(create, webhook()), wouldShow(create, webhook("https://b.example"))]).toEqual([false, true]);
  });
});
