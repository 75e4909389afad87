/** The feed becomes events: each post once, nothing of one's own, nothing stale. */
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { Post } from "../../src/contract/records.ts";
import { asHandle } from "../../src/core/ids.ts";
import { DAY, HOUR } from "../../src/core/units.ts";
import { mentions, readFeed, type FeedReader } from "../../src/polling/feed-events.ts";
import { readListState } from "../../src/polling/list-state.ts";
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
const fresh = readListState(undefined, NOW).cursor;

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
