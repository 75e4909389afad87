/** A delivery and a poll recognise the same news, however each words it. */
import { expect, test } from "vitest";
import { asEventId } from "../../src/core/ids.ts";
import { groupsOf, jobNews, likesOf, newsOf, postNews } from "../../src/polling/news-id.ts";

const event = (id: string, kind: string, thread?: string) => ({ id: asEventId(id), kind, ...(thread === undefined ? {} : { thread }) });

test("a post is one item of news as a post, a reply and a mention", () => {
  const all = ["post.created", "reply.created", "mention.created"].map((kind) => newsOf(event(`${kind}:p1`, kind, "root")));
  expect(new Set(all)).toEqual(new Set([postNews("p1")]));
  expect(newsOf(event("post.created:p2", "post.created"))).not.toBe(postNews("p1"));
});

test("a job is one item of news whatever its status, but for its offer", () => {
  const of = (kind: string) => newsOf(event(`${kind}:j1#1`, kind, jobNews("j1")));
  expect([of("job.assigned"), of("job.accepted")]).toEqual([jobNews("j1"), jobNews("j1")]);
  expect(of("job.listed")).toBe("job.listed:j1#1");
});

test("a like may be any of those of its post", () => {
  expect(groupsOf(event("post.liked:p1#amy", "post.liked", "p1"))).toEqual(["post.liked", likesOf("p1")]);
  expect(groupsOf(event("post.created:p1", "post.created"))).toEqual(["post.created"]);
});
