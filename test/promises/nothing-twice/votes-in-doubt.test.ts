/** Votes in doubt, on networks that tell of one's own vote, of who voted, or of neither. */
import { describe, expect, test } from "vitest";
import { MINUTE } from "../../../src/core/units.ts";
import { telling, whole, world, type Post, type Ways } from "../../harness/function-network.ts";

describe("a vote whose answer is lost is cast once", () => {
  const cast = async (ways: Ways) => {
    const made = await world(ways);
    made.post("p1", "vote for this");
    await made.after(5 * MINUTE);
    made.post("p2", "vote for this too");
    await made.after(20 * MINUTE);
    return { done: made.done, vote: (await made.fate("p2")).filter((one) => one.startsWith("posts.vote")) };
  };

  test("if the network tells of one's own vote, and shows it", async () => {
    const { done, vote } = await cast({ loses: "p2", showPost: telling });
    expect(done.filter((one) => one.endsWith("/vote"))).toEqual(["posts/p1/vote", "posts/p2/vote"]);
    expect(vote).toEqual(["posts.vote confirmed"]);
  });

  test("if the network tells of one's own vote, and shows that it never came: by sending it again", async () => {
    const { done, vote } = await cast({ drops: ["posts/p2/vote", 1], showPost: telling });
    expect(done.filter((one) => one.endsWith("/vote"))).toEqual(["posts/p1/vote", "posts/p2/vote"]);
    expect(vote).toEqual(["posts.vote confirmed"]);
  });

  test.each([
    ["tells nothing of one's own vote", whole, "absence_unprovable"],
    ["always says that one has not voted", (post: Post) => ({ ...whole(post), my_vote: 0 }), "absent_unproven"],
    ["lists many voters, maybe not all", (post: Post) => ({ ...whole(post), voters: "abcdefghij".split("") }), "absence_unprovable"],
  ])("where the network %s: a person decides", async (_name, showPost, code) => {
    const { done, vote } = await cast({ loses: "p2", showPost });
    expect(done.filter((one) => one.endsWith("/vote"))).toEqual(["posts/p1/vote", "posts/p2/vote"]);
    expect(vote).toEqual([`posts.vote parked ${code}`]);
  });

  test("if the same vote again takes it back: a person decides", async () => {
    const { after, fate, post, done } = await world({ loses: "p2", losesAll: true, showPost: telling });
    post("p2", "hush");
    post("p1", "vote for this");
    post("p3", "again p2");
    await after(5 * MINUTE);
    post("p4", "again p2");
    await after(20 * MINUTE);
    expect(done.filter((one) => one.endsWith("p2/vote"))).toEqual(["posts/p2/vote", "posts/p2/vote"]);
    expect((await fate("p2")).filter((one) => one.startsWith("posts.vote"))).toEqual([
      "posts.vote parked absence_unprovable",
      "posts.vote confirmed",
    ]);
  });
});
