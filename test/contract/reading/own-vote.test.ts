/** How a network says how one has voted oneself, in whatever words. */
import { describe, expect, test } from "vitest";
import { createPins } from "../../../src/contract/reading/pinned-fields.ts";
import { resolveProfile } from "../../../src/contract/profile/profile.ts";
import { readRecord } from "../../../src/contract/reading/read-answer.ts";
import { readVote } from "../../../src/contract/reading/values.ts";

const profile = resolveProfile({ extends: "set-b" });

describe("one's own vote", () => {
  test.each([
    [1, "up"],
    [0, "none"],
    [-1, "down"],
    [true, "up"],
    [false, "not-up"],
    ["Upvoted", "up"],
    ["down", "down"],
    ["none", "none"],
    [null, "none"],
    [17, undefined],
    ["maybe", undefined],
    [[], undefined],
  ])("said as %j is %s", (said, vote) => {
    expect(readVote(said)).toBe(vote);
  });

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
