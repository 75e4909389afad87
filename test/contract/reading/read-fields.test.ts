/** Fields of a record: found at the first place that fits, kept there, and every change reported by its place and type. */
import { describe, expect, test } from "vitest";
import { createPins } from "../../../src/contract/reading/pinned-fields.ts";
import { resolveProfile, shippedProfile } from "../../../src/contract/profile/profile.ts";
import { readRecord } from "../../../src/contract/reading/read-answer.ts";
import { boundedRaw, compileSpeech, holdsMoreThanId, MAX_RAW_SIZE, readFields } from "../../../src/contract/reading/read-fields.ts";

const profile = shippedProfile("b");

test.each([
  ["open", "open"],
  ["IN-PROGRESS", "assigned"],
  ["Under Review", "submitted"],
  ["completed", "accepted"],
  ["wibble", "unknown"],
])("the job status %s is %s", (status, expected) => {
  expect(readRecord(profile, "job", { id: "j", status }).record).toMatchObject({ status: expected });
});

describe("drift", () => {
  test("an author that moves is not taken over, since answering oneself must stay impossible", () => {
    const pins = createPins();
    readRecord(profile, "post", { id: "p1", author_id: "a" }, pins);
    const { record } = readRecord(profile, "post", { id: "p2", user_id: "b" }, pins);
    expect(record).toMatchObject({ id: "p2" });
    expect(record).not.toHaveProperty("authorId");
  });

  test("text that moves is still read, and reported", () => {
    const pins = createPins();
    readRecord(profile, "post", { id: "p1", content: "a" }, pins);
    const { record, drift } = readRecord(profile, "post", { id: "p2", text: "b" }, pins);
    expect(record).toMatchObject({ content: "b" });
    expect(drift).toMatchObject([{ kind: "winner-change", severity: "warning" }]);
  });

  test("people who liked are recognised when their handles come in place of their ids", () => {
    const pins = createPins();
    readRecord(profile, "post", { id: "p", liked_by: [] }, pins);
    readRecord(profile, "post", { id: "p", liked_by: [{ id: "a1", handle: "ann" }] }, pins);
    for (const [liked_by, at] of [
      [[{ handle: "ann" }], "liked_by.handle"],
      [["ann"], "liked_by"],
    ] as const) {
      const { record, drift } = readRecord(profile, "post", { id: "p", liked_by }, pins);
      expect(record).not.toHaveProperty("likedBy");
      expect(drift).toMatchObject([{ kind: "winner-change", severity: "breaking", path: `likedBy at ${at}` }]);
    }
    const mixed = [{ id: "a1" }, { handle: "ben" }, "cid"];
    expect(readRecord(profile, "post", { id: "p", liked_by: mixed }, pins).record).toMatchObject({ likedBy: ["a1"] });
    const moved = readRecord(profile, "post", { id: "p", voters: [{ id: "a1" }] }, pins);
    expect(moved.record).not.toHaveProperty("likedBy");
    expect(moved.drift).toMatchObject([{ severity: "breaking", path: "likedBy at voters" }]);
  });

  test("replies within a post are not read from another list, which may hold other posts", () => {
    const pins = createPins();
    readRecord(profile, "post", { id: "p", replies: [{ id: "r1", text: "x" }] }, pins);
    const { record, drift } = readRecord(profile, "post", { id: "p", comments: [{ id: "c1", text: "y" }] }, pins);
    expect(record).not.toHaveProperty("replies");
    expect(drift).toMatchObject([{ kind: "winner-change", severity: "breaking", path: "replies at comments" }]);
    expect(readRecord(profile, "post", { id: "p", replies: [{ id: "r2", text: "z" }] }, pins).record).toMatchObject({
      replies: [{ id: "r2" }],
    });
  });

  test("a list that is turned down leaves no trace, and an empty one is no move", () => {
    const pins = createPins();
    readRecord(profile, "post", { id: "p", replies: [] }, pins);
    expect(readRecord(profile, "post", { id: "p", replies: null, comments: [] }, pins).drift).toEqual([]);
    readRecord(profile, "post", { id: "p", comments: [{ comment_id: "c1" }] }, pins);
    expect(readRecord(profile, "post", { id: "p", replies: [{ id: "r1" }] }, pins).record).toMatchObject({ replies: [{ id: "r1" }] });
  });

  test("a reply within a post whose id moves is reported and not followed", () => {
    const pins = createPins();
    readRecord(profile, "post", { id: "p", replies: [{ id: "r1", text: "x" }] }, pins);
    const { record, drift } = readRecord(profile, "post", { id: "p", replies: [{ comment_id: "r1", text: "x" }, { id: "r2" }] }, pins);
    expect(record).toMatchObject({ replies: [{ id: "r2" }] });
    expect(drift).toContainEqual({
      severity: "breaking",
      kind: "winner-change",
      record: "post",
      path: "replies.id at comment_id",
      type: "string",
    });
  });

  test("a type that changes, a new field, a new status and a lost id are told by path and type", () => {
    const pins = createPins();
    readRecord(profile, "job", { id: "j1", status: "open", reward: 5 }, pins);
    const { drift } = readRecord(profile, "job", { id: 2, status: "pondering", reward: [5], glitter: "secret words" }, pins);
    expect(drift).toEqual([
      { severity: "warning", kind: "type-change", record: "job", path: "id at id", type: "number" },
      { severity: "warning", kind: "type-change", record: "job", path: "reward at reward", type: "list" },
      { severity: "warning", kind: "new-status", record: "job", path: "status", type: "string" },
      { severity: "note", kind: "new-field", record: "job", path: "glitter", type: "string" },
    ]);
    const gone = readRecord(profile, "job", { title: "x" }, pins);
    expect(gone.record).toBeUndefined();
    expect(gone.drift).toContainEqual({ severity: "breaking", kind: "missing-field", record: "job", path: "id at id", type: "missing" });
  });

  test("a field that comes and goes is no news until it is gone for good", () => {
    const pins = createPins();
    for (let i = 0; i < 30; i++) readRecord(profile, "post", { id: i, likes: 1 }, pins);
    const drifts = Array.from({ length: 30 }, (_, i) => readRecord(profile, "post", { id: 100 + i }, pins).drift).flat();
    expect(drifts).toMatchObject([{ kind: "missing-field", path: "votes at likes" }]);
  });

  test("a value that no candidate can be read from is told once, and breaks only an id", () => {
    const [speech, pins] = [compileSpeech(profile), createPins()];
    const read = () => {
      const drift: Parameters<typeof readFields>[4] = [];
      readFields(speech, "post", { id: [7], content: ["x"] }, pins, drift);
      return drift;
    };
    expect(read()).toEqual([
      { severity: "breaking", kind: "type-change", record: "post", path: "id at id", type: "list" },
      { severity: "note", kind: "type-change", record: "post", path: "content at content", type: "list" },
    ]);
    expect(read()).toEqual([]);
  });

  test("a network that uses ids as keys does not fill the memory", () => {
    const pins = createPins();
    for (let i = 0; i < 500; i++) readRecord(profile, "post", { id: "p", [`key ${i}`]: 1 }, pins);
    expect(pins.known.size).toBeLessThanOrEqual(301);
  });
});

describe("one's own vote", () => {
  test("may come and go as null, which is no drift", () => {
    const pins = createPins();
    const read = (said: string | null) => readRecord(profile, "post", { id: "p1", content: "a", my_vote: said }, pins);
    expect([null, "up", null, "down"].map((said) => read(said).record)).toMatchObject([
      { ownVote: "none" },
      { ownVote: "up" },
      { ownVote: "none" },
      { ownVote: "down" },
    ]);
    expect(read(null).drift).toEqual([]);
  });

  test("is not made of how many voted", () => {
    for (const post of [{ votes: 1 }, { liked: 17 }, { liked_by: ["a1"] }])
      expect(readRecord(profile, "post", { id: "p1", ...post }, undefined).record).not.toHaveProperty("ownVote");
  });
});

test("everything unknown is kept in raw, until it weighs too much", () => {
  const small = { id: "p", glitter: { deep: [1] } };
  expect(readRecord(profile, "post", small).record).toMatchObject({ raw: small });
  const { record } = readRecord(profile, "post", { id: "p", huge: "x".repeat(MAX_RAW_SIZE), after: 1 });
  expect(record !== undefined && "raw" in record ? record.raw : undefined).toEqual({ id: "p", after: 1 });
});

test("a member that is too large is left out of raw, and the rest stays", () => {
  const large = { id: "p", first: "x".repeat(MAX_RAW_SIZE / 2), list: Array<string>(10_000).fill("y".repeat(50)), last: true };
  expect(Object.keys(boundedRaw(large))).toEqual(["id", "first", "last"]);
});

test("posts within a post are bounded, and those without an id are left out", () => {
  const replies = [...Array.from({ length: 1_200 }, (_, i) => ({ id: i })), "x"];
  const { record } = readRecord(profile, "post", { id: "p", replies: [{ text: "no id" }, ...replies] });
  expect(record?.kind === "post" ? record.replies : []).toHaveLength(999);
});

test("an object that holds an id alone is told from a record", () => {
  const speech = compileSpeech(resolveProfile({ extends: "set-b" }));
  expect([{ id: "p" }, { id: "p", strange: 1 }, { id: "p", content: "x" }].map((one) => holdsMoreThanId(speech, "post", one))).toEqual([
    false,
    false,
    true,
  ]);
});
