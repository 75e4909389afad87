/** Networks that show what was done otherwise than the local one, or not at all: what is in doubt there is not done twice. */
import { describe, expect, test } from "vitest";
import { DAY, HOUR, MINUTE } from "../../../src/core/units.ts";
import { open, saying, shown, whole, world, type Job, type Post } from "../../harness/function-network.ts";

const byUser = (reply: Post): object => ({ ...shown(reply), author: undefined, user: { id: reply.author } });
const byNobody = (reply: Post): object => ({ ...shown(reply), author: undefined, spoken_by: reply.author });
const byReplyId = (reply: Post): object => ({ ...shown(reply), id: undefined, reply_id: reply.id });

describe("an action whose answer is lost takes effect once", () => {
  test("if the network changes some words: a person decides whether these are the ones", async () => {
    let changes = false;
    const { after, fate, post, done } = await world({ loses: "p2", keep: (text) => (changes ? text.replaceAll("&", "&amp;") : text) });
    post("p1");
    await after(5 * MINUTE);
    changes = true;
    post("p2");
    await after(20 * MINUTE);
    expect(done).toEqual(["posts/p1/reply", "posts/p2/reply"]);
    expect(await fate("p2")).toEqual(["posts.reply parked other_words"]);
  });

  test("if the machine's clock is days ahead, so that what was done seems older than its sending", async () => {
    let aheadMs = 0;
    const { after, fate, post, done } = await world({ loses: "p2", aheadMs: () => aheadMs });
    post("p1");
    await after(5 * MINUTE);
    aheadMs = 6 * DAY;
    post("p2");
    await after(20 * MINUTE);
    expect(done).toEqual(["posts/p1/reply", "posts/p2/reply"]);
    expect(await fate("p2")).toEqual(["posts.reply confirmed"]);
  });

  describe("if the same was said there before", () => {
    test("and an answer named an id that nothing goes by: a person decides which one it is", async () => {
      const { after, fate, post, done } = await world({
        drops: ["posts/p1/reply", 2],
        answerReply: () => ({ id: 4711, content: "As I said" }),
      });
      post("p1", "hush");
      post("p2", "repeat p1");
      await after(5 * MINUTE);
      post("p3", "repeat p1");
      await after(20 * MINUTE);
      expect(done).toEqual(["posts/p1/reply"]);
      expect(await fate("p1")).toEqual(["posts.reply parked same_words", "posts.reply confirmed"]);
    });

    test("and given up in doubt before it showed: a person decides which one it is", async () => {
      let hides = true;
      const showPost = (post: Post): object => (hides ? { ...shown(post), reply_count: 0, replies: [] } : whole(post));
      const { after, fate, post, done } = await world({ loses: "p1", drops: ["posts/p1/reply", 2], showPost });
      post("p1", "hush");
      post("p2", "repeat p1");
      await after(20 * MINUTE);
      expect(await fate("p1")).toEqual(["posts.reply parked absent_unproven"]);
      hides = false;
      post("p3", "repeat p1");
      await after(20 * MINUTE);
      expect(done).toEqual(["posts/p1/reply"]);
      expect(await fate("p1")).toEqual(["posts.reply parked same_words", "posts.reply parked absent_unproven"]);
    });

    test("and once more in between, of which all is known: what is older is not it, so it is sent again", async () => {
      const answerReply = (reply: Post): object => (reply.id === 1 ? { id: 4711, content: "As I said" } : shown(reply));
      const { after, fate, post, done } = await world({ drops: ["posts/p1/reply", 3], answerReply });
      post("p1", "hush");
      for (const id of ["p2", "p3", "p4"]) {
        post(id, "repeat p1");
        await after(20 * MINUTE);
      }
      expect(done).toEqual(Array.from({ length: 3 }, () => "posts/p1/reply"));
      expect(await fate("p1")).toEqual(Array.from({ length: 3 }, () => "posts.reply confirmed"));
    });

    test("and both are there: it has happened", async () => {
      let hides = true;
      const showPost = (post: Post): object => (hides ? { ...shown(post), reply_count: 0, replies: [] } : whole(post));
      const { after, fate, post } = await world({ loses: "p1", losesAll: true, showPost });
      post("p1", "hush");
      post("p2", "repeat p1");
      await after(20 * MINUTE);
      hides = false;
      post("p3", "repeat p1");
      await after(20 * MINUTE);
      expect(await fate("p1")).toEqual(["posts.reply confirmed", "posts.reply confirmed"]);
    });
  });

  test("if the answer to the one before named an id that nothing goes by: its words show that looking works", async () => {
    const answerReply = (reply: Post): object => (reply.id === 2 ? { id: 4711, content: reply.content } : shown(reply));
    const { after, fate, post, done } = await world({ drops: ["posts/p3/reply", 1], answerReply });
    for (const id of ["p1", "p2", "p3"]) {
      post(id);
      await after(10 * MINUTE);
    }
    expect(done).toEqual(["posts/p1/reply", "posts/p2/reply", "posts/p3/reply"]);
    expect(await fate("p3")).toEqual(["posts.reply confirmed"]);
  });

  test.each<[string, (post: Post) => object]>([
    ["the list of replies", (post) => ({ ...shown(post), comments: post.replies.map(shown) })],
    ["the authors of replies", (post) => ({ ...shown(post), replies: post.replies.map(byUser) })],
    ["the ids of replies", (post) => ({ ...shown(post), replies: post.replies.map(byReplyId) })],
    ["the authors of replies to where nobody would look", (post) => ({ ...shown(post), replies: post.replies.map(byNobody) })],
  ])("if the network moves %s after reading back has found something", async (_name, showPost) => {
    let moves = false;
    const { after, fate, post, done } = await world({
      loses: ["p1", "p2"],
      showPost: (shownPost) => (moves ? showPost(shownPost) : { ...shown(shownPost), replies: shownPost.replies.map(shown) }),
    });
    post("p1");
    await after(20 * MINUTE);
    expect(await fate("p1")).toEqual(["posts.reply confirmed"]);
    moves = true;
    post("p2");
    await after(2 * HOUR);
    expect(done).toEqual(["posts/p1/reply", "posts/p2/reply"]);
    expect(await fate("p2")).toEqual([expect.stringMatching(/^posts\.reply (?:in_doubt|parked)/)]);
    moves = false;
    await after(6 * HOUR);
    expect(done).toHaveLength(2);
  });

  test("if a long thread is cut off and not counted", async () => {
    const cut = (post: Post): object => ({ ...shown(post), replies: post.replies.slice(0, 10).map(shown) });
    const { after, fate, post, done } = await world({ loses: "p2", showPost: cut });
    post("p1");
    await after(5 * MINUTE);
    const long = post("p2");
    for (let i = 0; i < 30; i++) long.replies.push({ id: `r${i}`, author: "ann", content: "so they say", replies: [] });
    await after(20 * MINUTE);
    expect(done).toEqual(["posts/p1/reply", "posts/p2/reply"]);
    expect(await fate("p2")).toEqual(["posts.reply parked absence_unprovable"]);
  });

  test.each([
    ["leaves out who applied", (job: Job) => ({ ...open(job), applicants: undefined }), "absence_unprovable"],
    ["always says that one has not applied", (job: Job) => ({ ...saying(job), has_applied: false }), "absent_unproven"],
    ["always shows that nobody applied", (job: Job) => ({ ...open(job), applicants: [] }), "absent_unproven"],
  ])("where the network %s, though it shows who was given a job", async (_name, showJob, code) => {
    const { after, fate, job, done } = await world({ loses: "j2", showJob });
    const given = job("j1");
    await after(5 * MINUTE);
    given.assignee = "me";
    job("j2");
    await after(20 * MINUTE);
    expect(done.toSorted()).toEqual(["jobs/j1/apply", "jobs/j1/submit", "jobs/j2/apply"]);
    expect(await fate("j2")).toEqual([`jobs.apply parked ${code}`]);
  });

  test("if the network says no more of who applied than whether one has oneself", async () => {
    const { after, fate, job, done } = await world({ loses: "j2", showJob: saying });
    job("j1");
    await after(5 * MINUTE);
    job("j2");
    await after(20 * MINUTE);
    expect(done.toSorted()).toEqual(["jobs/j1/apply", "jobs/j2/apply"]);
    expect(await fate("j2")).toEqual(["jobs.apply confirmed"]);
  });

  test("if applications and replies are each counted from 1", async () => {
    const { after, fate, post, job, done } = await world({ loses: "102" });
    for (const id of [201, 202, 203]) job(id);
    post(101);
    await after(5 * MINUTE);
    post(102);
    await after(20 * MINUTE);
    expect(done.filter((one) => one.startsWith("posts/"))).toEqual(["posts/101/reply", "posts/102/reply"]);
    expect(await fate("102")).toEqual(["posts.reply confirmed"]);
  });
});

describe("a stranger's post is answered", () => {
  test("also after a vote on it that the network answered with that post", async () => {
    const { after, fate, post } = await world({ answerVote: whole });
    post("p1", "vote for this");
    await after(MINUTE);
    expect(await fate("p1")).toEqual(["posts.reply confirmed", "posts.vote confirmed"]);
  });

  test("also where an application has the same number", async () => {
    const { after, fate, post, job } = await world({});
    job(201);
    await after(MINUTE);
    post(1);
    await after(MINUTE);
    expect(await fate("1")).toEqual(["posts.reply confirmed"]);
  });
});

describe("a job is done once it is given to us", () => {
  test("also while the network's Guardian has not said that we may apply, as far as we know", async () => {
    const { after, fate, job, done } = await world({ asksGuardian: true });
    const given = job("j1");
    await after(MINUTE);
    expect(await fate("j1")).toEqual(["jobs.apply pending pending_approval"]);
    given.assignee = "me";
    await after(5 * MINUTE);
    expect(done).toEqual(["jobs/j1/apply", "jobs/j1/submit"]);
  });

  test("also where nothing tells whether we applied", async () => {
    const { after, fate, job, done } = await world({ loses: "j1", showJob: (one) => ({ ...open(one), applicants: undefined }) });
    const given = job("j1");
    await after(20 * MINUTE);
    expect(await fate("j1")).toEqual(["jobs.apply parked absence_unprovable"]);
    given.assignee = "me";
    await after(20 * MINUTE);
    expect(done).toEqual(["jobs/j1/apply", "jobs/j1/submit"]);
  });
});
