/** News of a list that all keys see alike: whoever could not be told of a page hears of the whole next one. */
import { expect, test } from "vitest";
import type { KeyId } from "../../src/core/ids.ts";
import { silentLogger } from "../../src/core/log.ts";
import { seededRandom } from "../../src/core/random.ts";
import { HOUR } from "../../src/core/units.ts";
import type { VirtualClock } from "../../src/core/virtual-clock.ts";
import { readResult } from "../../src/gateway/read-result.ts";
import { listOf } from "../../src/polling/list-readers.ts";
import { createSharedLists, idsOf } from "../../src/polling/shared-lists.ts";
import { hearNews, tellOthers } from "../../src/polling/tell-news.ts";
import { sourcesOf } from "../../src/polling/watched-lists.ts";
import { createFleetNews } from "../../src/runtime/fleet-news.ts";
import { harness } from "../harness/harness.ts";

const FEED = { operation: "posts.list", input: {} } as const;
const LIST = listOf(FEED);
/** After all of them have joined. */
const LATER = Date.UTC(2030, 0);
const HANDLES = ["ann", "ben", "cas"];

/** Three specialists that have polled the feed, and a post that came since. */
async function readers(on: { readonly clock?: VirtualClock } = {}) {
  const heard: string[] = [];
  let fails = false;
  const { runtime, clock, other } = await harness({
    ...on,
    specialists: HANDLES.map((handle) => ({
      handle,
      tier: "pro",
      watch: { feed: { from: "start" } },
      on: { "post.created": (post) => void heard.push(`${handle} ${post.content}`) },
    })),
    before: (store) => ({
      ...store,
      putEvents: (arrival, now) => (fails ? Promise.reject(new Error("the server is gone")) : store.putEvents(arrival, now)),
    }),
  });
  const { parts } = runtime;
  const post = (content: string) => other("quill")("POST", "/v1/posts", { body: { content } });
  const page = async () => {
    const [member] = runtime.members();
    if (member === undefined) throw new Error("nobody reads");
    const read = readResult(await clock.run(parts.gateway.read(member, FEED, { signal: parts.ending })));
    return read.kind === "value" ? (read.value.items ?? []) : [];
  };
  await post("first");
  await clock.runUntil(() => heard.length === HANDLES.length, HOUR);
  heard.length = 0;
  await post("second");
  const items = await page();
  return {
    runtime,
    clock,
    post,
    page,
    items,
    news: items.slice(0, 1),
    tell: (told: Omit<Parameters<typeof hearNews>[1], "list">) => clock.run(hearNews(parts, { list: LIST, ...told })),
    fail: (now: boolean): void => void (fails = now),
    /** Who has heard something by now, beside their own polls. */
    async heard(): Promise<readonly string[]> {
      await clock.advance(1);
      return heard.toSorted();
    },
  };
}

const ALL = HANDLES.map((handle) => `${handle} second`);

test("those who were told of the page before hear of the news alone", async () => {
  const { tell, items, news, heard } = await readers();
  await tell({ news: [], whole: { items: [], since: 0, at: LATER } });
  await tell({ news: [], whole: { items, since: LATER, at: LATER + 1 } });
  expect(await heard()).toEqual([]);
  await tell({ news });
  expect(await heard()).toEqual(ALL);
});

test("a store that was being opened as earlier pages came hears of a whole one", async () => {
  const { tell, items, heard } = await readers();
  await tell({ news: [], whole: { items, since: LATER, at: LATER + 1 } });
  expect(await heard()).toEqual(ALL);
});

test("a store that failed as news came hears of the whole next page", async () => {
  const { tell, fail, items, news, heard } = await readers();
  await tell({ news: [], whole: { items: [], since: 0, at: LATER } });
  fail(true);
  await expect(tell({ news })).rejects.toThrow("the server is gone");
  fail(false);
  await tell({ news: [], whole: { items, since: LATER, at: LATER + 1 } });
  expect(await heard()).toEqual(ALL);
});

test("a post that has left the page is told too, if it was new lately", async () => {
  const { runtime, clock, items, post, page, heard } = await readers();
  const { parts } = runtime;
  const [reader] = runtime.members();
  if (reader === undefined) throw new Error("nobody reads");
  const [source] = sourcesOf(parts, reader);
  if (source === undefined) throw new Error("it watches nothing");
  for (const content of ["third", "fourth"]) await post(content);
  const all = await page();
  for (const key of ["one", "two"]) parts.shared.looked(LIST, key as KeyId, all, clock.now());
  const left = all.filter((item) => items.every((one) => idsOf([one])[0] !== idsOf([item])[0]));
  const poll = { items: left, listed: left, askedAt: clock.now() };
  await clock.run(tellOthers(parts, { ...reader, keyId: "three" as KeyId }, source, poll));
  expect((await heard()).filter((one) => one.endsWith("second"))).toEqual(ALL);
});

test("a store that fails hinders no other of its process", async () => {
  const broken = await readers();
  const whole = await readers({ clock: broken.clock });
  broken.fail(true);
  const lines: string[] = [];
  const news = createFleetNews({
    fleet: { parts: [broken, whole], others: () => [], membership: undefined } as never,
    shared: createSharedLists(seededRandom(1)),
    log: { ...silentLogger(), warn: (message) => void lines.push(message) },
    now: () => whole.clock.now(),
  });
  await whole.clock.run(news.hear({ by: "process 2", list: LIST, ids: ["post_2"], news: JSON.parse(JSON.stringify(whole.news)) }));
  expect(await whole.heard()).toEqual(ALL);
  expect(await broken.heard()).toEqual([]);
  expect(lines).toEqual(["news of a public list did not reach all: they hear of the whole next page"]);
});
