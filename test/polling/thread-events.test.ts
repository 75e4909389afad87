/** A thread becomes events: replies of others once, likes of one's own posts, and an end after a quiet time. */
import { describe, expect, test } from "vitest";
import type { Post } from "../../src/contract/records.ts";
import { asHandle } from "../../src/core/ids.ts";
import { DAY, HOUR } from "../../src/core/units.ts";
import type { FeedReader } from "../../src/polling/feed-events.ts";
import { followThread } from "../../src/polling/thread-events.ts";
import type { ThreadProgress } from "../../src/polling/watch-state.ts";
import { postOf } from "../harness/builders.ts";

const NOW = Date.UTC(2026, 10, 21);
const reader: FeedReader = {
  handle: asHandle("scout"),
  accountId: "me",
  fromMs: 0,
  maxAgeMs: DAY,
  handles: () => true,
  inThread: () => false,
};
const post = (id: string, over: Partial<Post> = {}): Post => postOf(id, { createdAtMs: NOW - HOUR, ...over });
const BEGUN: ThreadProgress = { seen: [], votes: 0, newsAt: NOW };

describe("a thread", () => {
  test("tells of each reply once, and never of one's own", () => {
    const replies = [post("r1"), post("r2", { authorId: "me" })];
    const first = followThread(post("root", { replies }), BEGUN, reader, { now: NOW, networkNow: NOW });
    expect(first.events.map(({ id }) => id)).toEqual(["reply.created:r1"]);
    const second = followThread(post("root", { replies: [...replies, post("r3")] }), first.progress, reader, {
      now: NOW,
      networkNow: NOW,
    });
    expect(second.events.map(({ id }) => id)).toEqual(["reply.created:r3"]);
  });

  test("that has been quiet for two days is followed no more", () => {
    const standing = { ...BEGUN, newsAt: NOW - 3 * DAY };
    expect(followThread(post("root"), standing, reader, { now: NOW, networkNow: NOW }).ended).toBe(true);
  });

  test("tells of each like once: by who gave it where the network says so, else by the rise of the count", () => {
    const times = { now: NOW, networkNow: NOW };
    const mine = (over: Partial<Post>) => post("root", { authorId: "me", ...over });
    const named = followThread(mine({ likedBy: ["amy", "me", "bob"] }), BEGUN, reader, times);
    expect(named.events.map(({ id }) => id)).toEqual(["post.liked:root#amy", "post.liked:root#bob"]);
    const first = followThread(mine({ votes: 2 }), BEGUN, reader, times);
    const fewer = followThread(mine({ votes: 1 }), first.progress, reader, times);
    const same = followThread(mine({ votes: 1 }), fewer.progress, reader, times);
    expect([first, fewer, same].map(({ events }) => events.length)).toEqual([1, 0, 0]);
    expect(followThread(post("root", { votes: 5 }), BEGUN, reader, times).events).toEqual([]);
  });
});
