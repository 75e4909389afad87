/** Lists become events: each thing once, nothing of one's own, nothing stale, gaps noticed. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Job, Post } from "../../src/contract/records.ts";
import { asHandle } from "../../src/core/ids.ts";
import { DAY, HOUR, MINUTE } from "../../src/core/units.ts";
import { readListState, withGap, type Gap, type ListCursor } from "../../src/polling/list-state.ts";
import { mentions, readFeed, type FeedReader } from "../../src/polling/feed-events.ts";
import { followJob, readJobs, type JobsReader } from "../../src/polling/job-events.ts";
import { followThread } from "../../src/polling/thread-events.ts";
import type { JobProgress, ThreadProgress } from "../../src/polling/watch-state.ts";

const NOW = Date.UTC(2026, 10, 21);
const reader: FeedReader = {
  handle: asHandle("scout"),
  accountId: "me",
  fromMs: 0,
  maxAgeMs: DAY,
  handles: () => true,
  inThread: () => false,
};
const post = (id: string, over: Partial<Post> = {}): Post => ({
  kind: "post",
  id,
  authorId: "amy",
  authorHandle: "amy",
  content: "hello",
  createdAtMs: NOW - HOUR,
  raw: {},
  ...over,
});
const job = (id: string, over: Partial<Job> = {}): Job => ({
  kind: "job",
  id,
  authorId: "amy",
  status: "open",
  createdAtMs: NOW - HOUR,
  raw: {},
  ...over,
});
const APPLIED: JobProgress = { status: "applied", assigned: 0, accepted: 0, rejected: 0, paid: 0 };
const BEGUN: ThreadProgress = { seen: [], votes: 0, newsAt: NOW };
const cursorFrom = (startedAt: number): ListCursor => readListState(undefined, startedAt).cursor;
const fresh = cursorFrom(NOW);

describe("the feed", () => {
  test("shows each post once, whatever order and overlap the pages come in", () => {
    fc.assert(
      fc.property(fc.array(fc.uniqueArray(fc.integer({ min: 0, max: 40 }), { maxLength: 12 }), { maxLength: 12 }), (pages) => {
        let cursor = fresh;
        const seen: string[] = [];
        for (const page of pages) {
          const reading = readFeed(
            page.map((n) => post(`p${n}`)),
            cursor,
            reader,
            NOW,
          );
          cursor = reading.cursor;
          seen.push(...reading.events.map(({ id }) => id));
        }
        expect(new Set(seen).size).toBe(seen.length);
        expect(seen.length).toBe(new Set(pages.flat()).size);
      }),
    );
  });

  test("never brings one's own words, by id or by handle", () => {
    const own = [post("a", { authorId: "me", authorHandle: "other" }), post("b", { authorId: "x", authorHandle: "Scout" })];
    expect(readFeed(own, fresh, reader, NOW).events).toEqual([]);
  });

  test("at the first look from now on acts on nothing that was there before, and from the start on everything recent", () => {
    const page = [
      post("old", { createdAtMs: NOW - HOUR }),
      post("undated", { createdAtMs: undefined }),
      post("stale", { createdAtMs: NOW - 2 * DAY }),
    ];
    const fromNow = readFeed(page, fresh, { ...reader, fromMs: Infinity }, NOW);
    expect([fromNow.events.length, fromNow.skipped]).toEqual([0, 3]);
    const fromStart = readFeed(page, fresh, reader, NOW);
    expect(fromStart.events.map(({ id }) => id)).toEqual(["post.created:undated", "post.created:old"]);
  });

  test("has a gap when a page shares nothing with the last one, and none otherwise", () => {
    const first = readFeed([post("a"), post("b")], fresh, reader, NOW);
    expect(readFeed([post("c"), post("b")], first.cursor, reader, NOW).gap).toBeUndefined();
    const later = NOW + HOUR;
    expect(readFeed([post("x"), post("y", { createdAtMs: NOW + MINUTE })], first.cursor, reader, later).gap).toEqual({
      after: "a",
      before: "y",
      since: NOW,
      until: NOW + MINUTE,
    });
  });

  test("has a gap after an empty look and at a late first look, where all of the page is news", () => {
    const empty = readFeed([], fresh, reader, NOW);
    expect(readFeed([post("x"), post("y")], empty.cursor, reader, NOW).gap).toMatchObject({ after: undefined, before: "y" });
    const fromNow = { ...reader, fromMs: Infinity };
    expect(readFeed([post("x"), post("y")], cursorFrom(NOW - 2 * HOUR), fromNow, NOW).gap).toMatchObject({
      since: NOW - 2 * HOUR,
    });
    expect(
      readFeed([post("x"), post("old", { createdAtMs: NOW - 3 * HOUR })], cursorFrom(NOW - 2 * HOUR), fromNow, NOW).gap,
    ).toBeUndefined();
  });

  test("has a gap at the first look where it is to go further back than the page does", () => {
    const page = [post("b"), post("a", { createdAtMs: NOW - 2 * HOUR })];
    const gapFrom = (fromMs: number): boolean => readFeed(page, fresh, { ...reader, fromMs }, NOW).gap !== undefined;
    expect(gapFrom(0)).toBe(true);
    expect(gapFrom(NOW - 3 * HOUR)).toBe(true);
    expect(gapFrom(NOW - 90 * MINUTE)).toBe(false); // the page holds older ones already
    expect(gapFrom(Infinity)).toBe(false); // only what is new from now on
    expect(readFeed(page, fresh, { ...reader, maxAgeMs: 90 * MINUTE }, NOW).gap).toBeUndefined();
  });

  test("keeps what was passed over with its cursor for a week, the latest twenty of it", () => {
    const gap = (n: number): Gap => ({ after: `a${n}`, before: `b${n}`, since: NOW + n, until: NOW + n + 1 });
    const many = Array.from({ length: 25 }, (_, n) => gap(n));
    expect(many.reduce<readonly Gap[]>((gaps, one) => withGap(gaps, one, NOW + DAY), [])).toEqual(many.slice(5));
    expect(withGap(many, undefined, NOW + 8 * DAY)).toEqual([]);
  });

  test("makes one event of a post that names the specialist", () => {
    const kinds = readFeed([post("m", { content: "what do you think, @Scout?" })], fresh, reader, NOW).events.map(({ kind }) => kind);
    expect(kinds).toEqual(["mention.created"]);
  });

  test.each([
    ["@scout", true],
    ["hi @Scout.", true],
    ["(@scout)", true],
    ["@scout-two hi", false],
    ["@scouts", false],
    ["mail@scout.example", false],
    ["x@scout", false],
    ["@scout.example", false],
    ["", false],
  ])("takes %j as a mention: %s", (text, is) => {
    expect(mentions(text, asHandle("scout"))).toBe(is);
  });
});

describe("jobs", () => {
  const jobs: JobsReader = { handle: asHandle("scout"), accountId: "me", fromMs: 0, maxAgeMs: DAY, skills: ["csv"], handles: () => true };

  test("are offered when open, not one's own, in time and asking for a skill", () => {
    const list = [
      job("yes", { skills: ["CSV"] }),
      job("own", { skills: ["csv"], authorId: "me" }),
      job("late", { skills: ["csv"], deadlineMs: NOW - 1 }),
      job("taken", { skills: ["csv"], status: "assigned" }),
      job("other", { skills: ["html"] }),
    ];
    expect(readJobs(list, fresh, jobs, NOW).events.map(({ id }) => id)).toEqual(["job.listed:yes"]);
  });

  test("assigned twice are two events, looked at twice are one", () => {
    const mine = job("j", { status: "assigned", assigneeId: "me" });
    const first = followJob(mine, APPLIED, jobs, NOW);
    const again = followJob(mine, first.progress, jobs, NOW);
    const back = followJob(job("j", { status: "open" }), again.progress, jobs, NOW);
    const second = followJob(mine, back.progress, jobs, NOW);
    expect([first, again, back, second].map(({ events }) => events.map(({ id }) => id))).toEqual([
      ["job.assigned:j#1"],
      [],
      [],
      ["job.assigned:j#2"],
    ]);
  });

  test("given to somebody else are lost, and followed no more", () => {
    const change = followJob(job("j", { status: "assigned", assigneeId: "bob" }), APPLIED, jobs, NOW);
    expect(change).toMatchObject({ state: "lost", ended: true, events: [] });
  });

  test("paid at the next look were accepted in between", () => {
    const change = followJob(job("j", { status: "paid", assigneeId: "me" }), { ...APPLIED, status: "submitted", assigned: 1 }, jobs, NOW);
    expect(change.events.map(({ kind }) => kind)).toEqual(["job.accepted", "job.paid"]);
    expect(change.ended).toBe(true);
  });
});

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
});
