import { expect, test } from "vitest";
import { sleep } from "../../src/core/clock.ts";
import { asHandle } from "../../src/core/ids.ts";
import type { Tier } from "../../src/contract/tiers.ts";
import { HOUR, MINUTE, SECOND } from "../../src/core/units.ts";
import { readListState, reportedReadFailure, type ListState } from "../../src/polling/list-state.ts";
import { harness } from "../harness/harness.ts";

/** One specialist that reads the feed of a network that somebody stands in front of. */
async function reader(tier: Tier = "pro") {
  const refuses = { first: false, further: false };
  const beforeAnswer: (() => Promise<void>)[] = [];
  const handled: string[] = [];
  const { clock, store, other } = await harness({
    specialists: [
      {
        handle: "scout",
        tier,
        id: "agt_mine",
        watch: { feed: { from: "start" } },
        on: { "post.created": (post) => void handled.push(post.id) },
      },
    ],
    link: (plain) => async (request) => {
      const isList = request.method === "GET" && /\/posts(\?|$)/.test(request.path);
      const isFurther = request.path.includes("cursor=");
      if (isList && (isFurther ? refuses.further : refuses.first)) return { ...(await plain(request)), status: 503, text: "{}" };
      const answer = await plain(request);
      if (isList) await beforeAnswer.shift()?.();
      return answer;
    },
  });
  return {
    clock,
    handled,
    refuses,
    beforeAnswer,
    async post(count: number): Promise<void> {
      for (let n = 0; n < count; n++) await other("quill")("POST", "/v1/posts", { body: { content: `news ${n}` } });
    },
    async feed(): Promise<ListState> {
      const rows = await clock.run(store.sources(asHandle("scout")));
      return readListState(rows.find(({ name }) => name === "feed")?.cursor, clock.now());
    },
  };
}

test("a list is no longer reported as unreadable once its first page is read, whatever becomes of the next", async () => {
  const { clock, handled, refuses, post, feed } = await reader();
  await post(1);
  await clock.advance(HOUR);
  expect(handled).toHaveLength(1);
  refuses.first = true;
  await clock.advance(HOUR);
  expect(reportedReadFailure(await feed())?.times).toBeGreaterThan(1);
  await post(50);
  refuses.first = false;
  refuses.further = true;
  await clock.runUntil(() => handled.length > 1, HOUR);
  await clock.advance(MINUTE);
  expect((await feed()).failedPages).toBeGreaterThan(0);
  expect(reportedReadFailure(await feed())).toBeUndefined();
  refuses.further = false;
  await clock.advance(HOUR);
  expect(handled).toHaveLength(51);
  expect(await feed()).toMatchObject({ failedPages: 0, gaps: [], failure: undefined });
});

test("a gap begins before a post that came while the answer of the last poll was on its way", async () => {
  const { clock, handled, beforeAnswer, post, feed } = await reader();
  await post(1);
  await clock.runUntil(() => handled.length === 1, HOUR);
  let missedAt = 0;
  beforeAnswer.push(async () => {
    missedAt = clock.now();
    await post(1);
    await sleep(clock, 4 * SECOND);
  });
  await clock.runUntil(() => missedAt > 0, HOUR);
  await clock.advance(5 * SECOND);
  await post(500);
  await clock.advance(HOUR);
  const [gap] = (await feed()).gaps;
  expect(gap?.since).toBeLessThanOrEqual(missedAt);
  expect(gap?.since).toBeGreaterThan(missedAt - SECOND);
  expect(gap?.until).toBeGreaterThan(missedAt);
});

test("a poll reads on for three pages, and for more with a tier of many requests", async () => {
  const news = 300;
  const readBy = async (tier: Tier): Promise<{ readonly handled: number; readonly gaps: number }> => {
    const { clock, handled, post, feed } = await reader(tier);
    await post(1);
    await clock.runUntil(() => handled.length === 1, HOUR);
    await post(news);
    await clock.advance(HOUR);
    return { handled: handled.length - 1, gaps: (await feed()).gaps.length };
  };
  expect(await readBy("starter")).toEqual({ handled: 80, gaps: 1 });
  expect(await readBy("pro")).toEqual({ handled: news, gaps: 0 });
});

test.each([
  ["a page", 1],
  ["three pages", 50],
])("after a restart, %s that one key reads tells all who were there before what they have missed", async (_, missed) => {
  const readers = Array.from({ length: 40 }, (_unused, i) => `reader${i}`);
  const handled = new Map<string, Set<string>>();
  let polls = 0;
  const here = await harness({
    specialists: readers.map((handle) => ({
      handle,
      watch: { feed: { from: "start" } },
      on: { "post.created": (post) => void handled.set(post.id, (handled.get(post.id) ?? new Set()).add(handle)) },
    })),
    link: (plain) => (request) => {
      if (request.method === "GET" && /\/posts(\?|$)/.test(request.path)) polls++;
      return plain(request);
    },
  });
  const post = async (count: number): Promise<void> => {
    for (let n = 0; n < count; n++) await here.other("quill")("POST", "/v1/posts", { body: { content: `news ${n}` } });
  };
  const isKnown = (posts: number): boolean => handled.size === posts && [...handled.values()].every(({ size }) => size === readers.length);
  await post(5);
  await here.clock.runUntil(() => isKnown(5), 12 * HOUR);
  await here.clock.advance(12 * HOUR);
  await here.restart(undefined, () => post(missed));
  polls = 0;
  await here.clock.runUntil(() => isKnown(5 + missed), 12 * HOUR);
  expect(polls).toBeLessThan(readers.length / 2);
  for (const by of handled.values()) expect(by.size).toBe(readers.length);
});
