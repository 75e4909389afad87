/** News of a list that all keys see alike: whoever could not be told of a page is told of it with the next one. */
import { expect, test } from "vitest";
import type { NetworkRecord } from "../../src/contract/records.ts";
import { asHandle, type KeyId } from "../../src/core/ids.ts";
import { silentLogger } from "../../src/core/log.ts";
import { seededRandom } from "../../src/core/random.ts";
import { HOUR, SECOND } from "../../src/core/units.ts";
import type { VirtualClock } from "../../src/core/virtual-clock.ts";
import { readResult } from "../../src/gateway/read-result.ts";
import { listOf } from "../../src/polling/list-readers.ts";
import { createSharedLists, idsOf } from "../../src/polling/shared-lists.ts";
import { MOVED_AFTER } from "../../src/polling/keep-told.ts";
import { readListState, storeListState } from "../../src/polling/list-state.ts";
import { hearNews, hearPage, reachOf } from "../../src/polling/tell-news.ts";
import type { ListReading } from "../../src/polling/told-list.ts";
import { sourceOfList } from "../../src/polling/watched-lists.ts";
import { createFleetNews } from "../../src/runtime/fleet-news.ts";
import { harness } from "../harness/harness.ts";

const FEED = { operation: "posts.list", input: {} } as const;
const LIST = listOf(FEED);
const HANDLES = ["ann", "ben", "cas"];

/** Three specialists that have polled the feed, and a post that came since. */
async function readers(on: { readonly clock?: VirtualClock } = {}) {
  const heard: string[] = [];
  let fails = false;
  let awaited: string | undefined;
  const { runtime, network, clock, other } = await harness({
    ...on,
    specialists: HANDLES.map((handle) => ({
      handle,
      tier: "pro",
      watch: { feed: { from: "start" } },
      on: { "post.created": (post) => void heard.push(`${handle} ${post.content}`) },
    })),
    before: (store) => ({
      ...store,
      awaitsPast: (handle) => handle === awaited,
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
  const [reader] = runtime.members();
  if (reader === undefined) throw new Error("nobody reads");
  /** Tells the others of a page as ann has read it. */
  const read = (reading: Partial<ListReading> = {}) => {
    const ann = { startedAt: 0, isWhole: true, isOwed: false };
    const times = { at: clock.now(), beganAt: clock.monotonic() };
    const whole = { items, firstPage: items.length, ...times, isEnd: false, isCutShort: false, oldestPollAt: 0, reader: ann, ...reading };
    return clock.run(hearPage(parts, { list: LIST, reading: whole }, reader));
  };
  return {
    runtime,
    network,
    clock,
    post,
    page,
    items,
    news: items.slice(0, 1),
    read,
    /** Tells all of a page as another process has read it. */
    hear: (news: readonly NetworkRecord[]) => clock.run(hearNews(parts, { list: LIST, ids: idsOf(items), news })),
    fail: (now: boolean): void => void (fails = now),
    /** The past of one specialist is still being read. */
    await: (handle: string | undefined): void => void (awaited = handle),
    /** Who has heard something by now, beside their own polls. */
    async heard(): Promise<readonly string[]> {
      await clock.advance(1);
      return heard.toSorted();
    },
  };
}

const ALL = HANDLES.map((handle) => `${handle} second`);
const OTHERS = ALL.slice(1);

test("whoever was told of a page hears of the news alone", async () => {
  const { read, hear, page, post, items, news, heard } = await readers();
  await read({ items: items.slice(1) });
  expect(await heard()).toEqual([]);
  await hear(news);
  expect(await heard()).toEqual(ALL);
  await post("third");
  await read({ items: (await page()).slice(0, 1) });
  expect(await heard()).toEqual([...ALL, "ben third", "cas third"].toSorted());
});

test("a store that was being opened as earlier pages came hears of a whole one", async () => {
  const { read, heard } = await readers();
  await read();
  expect(await heard()).toEqual(OTHERS);
});

test("a store that failed as news came hears of the whole next page", async () => {
  const { read, hear, fail, items, news, heard } = await readers();
  await read({ items: items.slice(1) });
  fail(true);
  await expect(hear(news)).rejects.toThrow("the server is gone");
  fail(false);
  await read();
  expect(await heard()).toEqual(OTHERS);
});

test("a page that another process did not deliver is found by the next own poll, also behind news that came", async () => {
  const { read, hear, page, post, items, heard } = await readers();
  await read({ items: items.slice(1) });
  await post("third");
  const later = await page();
  await hear(later.slice(0, 1));
  await read({ items: later });
  expect(await heard()).toEqual([...OTHERS, ...HANDLES.map((handle) => `${handle} third`)].toSorted());
});

test("whoever lacks a page that could not be read stays behind until one is read back that far", async () => {
  const { runtime, read, post, page, clock, heard } = await readers();
  for (const content of ["third", "fourth"]) await post(content);
  const all = await page();
  await read({ items: all.slice(0, 1), isCutShort: true });
  expect(await heard()).toEqual(["ben fourth", "cas fourth"]);
  await clock.advance(1);
  await read({ items: all, firstPage: 1 });
  expect((await heard()).filter((one) => one.startsWith("cas"))).toEqual(["cas fourth", "cas second", "cas third"]);
  const [, , cas] = runtime.members();
  expect(cas && runtime.parts.told.get(LIST)?.members.get(cas)?.isWhole).toBe(true);
});

test("a poll reads back to the one that lacks most, and whoever was told by it reads nothing back", async () => {
  const { runtime, network, clock, page, post, heard } = await readers();
  const { parts } = runtime;
  /** Plans a specialist's next poll, with a cursor of its own. */
  const polls = async (handle: string, inMs: number, seen?: readonly string[]) => {
    const specialist = asHandle(handle);
    const [row] = await parts.store.sources(specialist);
    const member = runtime.member(handle);
    if (row === undefined || member === undefined) throw new Error(`${handle} has not polled`);
    const state = readListState(row.cursor, clock.now());
    const cursor = storeListState({ ...state, cursor: { ...state.cursor, ...(seen === undefined ? {} : { seen }) } });
    const cursors = [{ specialist, source: row.name, cursor, dueAt: clock.now() + inMs }];
    await clock.run(parts.store.putEvents({ events: [], cursors }, clock.now()));
    parts.wake(member, "sources");
    await clock.advance(SECOND);
  };
  const pagesRead = () => network.truth.requests().filter(({ operation }) => operation === "posts.list").length;
  for (const handle of HANDLES) await polls(handle, HOUR);
  for (let i = 0; i < 45; i++) await post(`post ${i}`);
  const newest = await page();
  for (const key of ["one", "two"]) parts.shared.looked(LIST, key as KeyId, newest, clock.now());
  // Ann has read the newest page, and the others could not be told of it.
  parts.told.clear();
  await polls("ann", 0, idsOf(newest));
  expect((await heard()).filter((one) => one.startsWith("cas "))).toHaveLength(46);
  expect((await heard()).filter((one) => one.startsWith("ann "))).toEqual([]); // it lacked nothing itself
  const before = pagesRead();
  await polls("ben", 0);
  expect(pagesRead() - before).toBe(1);
});

test("a page that was requested before a specialist joined leaves it behind: it may lack news that others were told", async () => {
  const { runtime, clock, read, page, post, items } = await readers();
  await read();
  const [askedAt, told, cas] = [clock.now(), runtime.parts.told.get(LIST), runtime.member("cas")];
  if (told === undefined || cas === undefined) throw new Error("nobody was told");
  expect(told.members.get(cas)).toMatchObject({ isWhole: true });
  await post("third");
  await clock.advance(1);
  await clock.run(runtime.put(cas.specialist));
  await read({ items, at: askedAt });
  expect(told.members.has(cas)).toBe(false);
  await clock.advance(1);
  await read({ items: await page() });
  expect(told.members.get(cas)).toMatchObject({ isWhole: true });
});

test("nobody waits for a specialist whose past is still being read, and it lacks nothing later", async () => {
  const { clock, read, hear, news, items, heard, await: awaits } = await readers();
  await read({ items: items.slice(1) });
  const beganAt = clock.monotonic();
  await clock.advance(1);
  awaits("cas");
  await hear(news);
  expect(await heard()).toEqual(["ann second", "ben second"]);
  awaits(undefined);
  await read({ items: items.slice(1), beganAt });
  await read();
  expect(await heard()).toEqual(ALL);
});

test("a page is read back to a specialist that could not be told of it before, also if its past was read while the page was", async () => {
  const { runtime, clock, read, post, page, heard, await: awaits } = await readers();
  await read();
  const [ann, cas] = [runtime.member("ann"), runtime.member("cas")];
  const source = ann && sourceOfList(runtime.parts, ann, LIST);
  if (ann === undefined || cas === undefined || source === undefined) throw new Error("nobody reads");
  runtime.parts.told.get(LIST)?.members.delete(cas);
  for (const content of ["third", "fourth"]) await post(content);
  const all = await page();
  const reach = () => clock.run(reachOf(runtime.parts, ann, source, idsOf(all.slice(0, 1))));
  awaits("cas");
  const { oldestPollAt } = await reach();
  awaits(undefined);
  await clock.advance(1);
  await read({ items: all.slice(0, -1), firstPage: 1, oldestPollAt });
  expect((await reach()).targets.length).toBe(2);
  await clock.advance(1);
  await read({ items: all, firstPage: 1, oldestPollAt: (await reach()).oldestPollAt });
  expect((await heard()).filter((one) => one.startsWith("cas"))).toEqual(["cas fourth", "cas second", "cas third"]);
  expect((await reach()).targets.length).toBe(1);
});

test("whoever could not be told of a list's first page lacks it also after an older page came late", async () => {
  const { clock, read, items, heard, await: awaits } = await readers();
  const beganAt = clock.monotonic();
  await clock.advance(1);
  awaits("cas");
  await read();
  expect(await heard()).toEqual(["ben second"]);
  awaits(undefined);
  await read({ items: items.slice(1), beganAt });
  await read();
  expect(await heard()).toEqual(OTHERS);
});

test("an empty page tells nobody that nothing is missing", async () => {
  const { runtime, read, heard } = await readers();
  await read({ items: [], firstPage: 0 });
  expect(runtime.parts.told.get(LIST)).toBeUndefined();
  await read();
  expect(await heard()).toEqual(OTHERS);
});

test("pages that can never be read are read for others a few times only", async () => {
  const { runtime, clock, read, post, page } = await readers();
  for (const content of ["third", "fourth"]) await post(content);
  const items = (await page()).slice(0, 1);
  const [ann, cas] = [runtime.member("ann"), runtime.member("cas")];
  const source = ann && sourceOfList(runtime.parts, ann, LIST);
  if (ann === undefined || cas === undefined || source === undefined) throw new Error("nobody reads");
  const isOwed = () => runtime.parts.told.get(LIST)?.members.get(cas)?.isOwed;
  let times = 0;
  do {
    await clock.advance(1);
    const reach = await clock.run(reachOf(runtime.parts, ann, source, idsOf(items)));
    await read({ items: [...items, ...items], firstPage: 1, isCutShort: true, oldestPollAt: reach.oldestPollAt });
  } while (isOwed() === true && ++times < 100);
  expect([isOwed(), times]).toEqual([false, 10]);
});

test("a specialist that has not polled a list yet is told of nothing older than its watch", async () => {
  const { runtime, clock, items, heard } = await readers();
  const [ann, ben] = [runtime.member("ann"), runtime.member("ben")];
  if (ann === undefined || ben === undefined) throw new Error("nobody reads");
  const undated = items.map((item) => ({ ...item, createdAtMs: undefined }) as NetworkRecord);
  ben.specialist = { ...ben.specialist, watch: { ...ben.specialist.watch, communities: ["news"] } };
  const community = listOf({ ...FEED, input: { community: "news" } });
  await clock.advance(1);
  const times = { at: clock.now(), beganAt: clock.monotonic() };
  const reader = { startedAt: 0, isWhole: true, isOwed: false };
  const reading = { items: undated, firstPage: undated.length, ...times, isEnd: true, isCutShort: false, oldestPollAt: 0, reader };
  const before = (await heard()).length;
  await clock.run(hearPage(runtime.parts, { list: community, reading }, ann));
  expect(await heard()).toHaveLength(before);
});

test("a key whose page differs from that of the others reads back for itself", async () => {
  const { runtime, read, page, post } = await readers();
  for (const content of ["third", "fourth", "fifth"]) await post(content);
  const all = await page();
  await read({ items: all });
  const cas = runtime.member("cas");
  const source = cas && sourceOfList(runtime.parts, cas, LIST);
  if (cas === undefined || source === undefined) throw new Error("cas watches nothing");
  const [newest = "", ...older] = idsOf(all);
  expect((await reachOf(runtime.parts, cas, source, [newest, ...older])).told).toBeDefined();
  expect((await reachOf(runtime.parts, cas, source, [newest, "post_of_cas_alone", ...older])).told).toBeUndefined();
});

test("nothing is read back for those who are being given a page", async () => {
  const { runtime, read, clock } = await readers();
  await read();
  const [ann, told] = [runtime.member("ann"), runtime.parts.told.get(LIST)];
  const source = ann && sourceOfList(runtime.parts, ann, LIST);
  const cas = runtime.member("cas");
  if (ann === undefined || cas === undefined || source === undefined || told === undefined) throw new Error("nobody was told");
  told.members.delete(cas);
  const reach = () => clock.run(reachOf(runtime.parts, ann, source, told.seen));
  const { targets, oldestPollAt } = await reach();
  expect([targets.length, oldestPollAt < clock.now()]).toEqual([2, true]);
  told.isTelling = true;
  expect(await reach()).toMatchObject({ targets: { length: 1 }, oldestPollAt: Infinity });
});

test("a page that another store's specialist read, and that shares nothing with the one before, hides no gap", async () => {
  const { runtime, clock, read, page, post, heard } = await readers();
  await read();
  for (const content of ["third", "fourth"]) await post(content);
  const all = await page();
  const [reader] = (await readers({ clock })).runtime.members();
  if (reader === undefined) throw new Error("nobody reads");
  await clock.advance(1);
  const [times, ann] = [
    { at: clock.now(), beganAt: clock.monotonic() },
    { startedAt: 0, isWhole: true, isOwed: false },
  ];
  const reading = { items: all.slice(0, 1), firstPage: 1, ...times, isEnd: false, isCutShort: false, oldestPollAt: 0, reader: ann };
  await clock.run(hearPage(runtime.parts, { list: LIST, reading }, reader));
  expect(await heard()).toContain("cas fourth");
  expect(runtime.parts.told.get(LIST)?.seen).not.toContain(idsOf(all)[0]);
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
  expect(lines).toEqual(["news of a public list did not reach all: the next page of the list brings it again"]);
});

/** The first list of a specialist, as its row has it. */
async function rowOf({ runtime }: Pick<Awaited<ReturnType<typeof readers>>, "runtime">, handle: string) {
  const [row] = await runtime.parts.store.sources(asHandle(handle));
  if (row === undefined) throw new Error(`${handle} has not polled`);
  return { ...row, state: readListState(row.cursor, 0) };
}

test("the cursors of those who were told of many items move, so that a start tells them nothing again", async () => {
  const { runtime, read, post, page, heard, items } = await readers();
  await read();
  const before = await rowOf({ runtime }, "ben");
  for (let i = 0; i < MOVED_AFTER - 1; i++) await post(`post ${i}`);
  const all = await page();
  await read({ items: all });
  const after = await rowOf({ runtime }, "ben");
  expect(after.state.cursor.seen?.slice(0, all.length)).toEqual(idsOf(all));
  expect(after.state.cursor.seen).toContain(idsOf(items)[1]);
  expect(after.state.cursor.lookedAt).toBeGreaterThan(before.state.cursor.lookedAt ?? Infinity);
  expect(after).toMatchObject({ dueAt: before.dueAt, state: { pace: before.state.pace } });
  const told = (await heard()).length;
  runtime.parts.told.clear();
  const events: number[] = [];
  const { putEvents } = runtime.parts.store;
  Object.assign(runtime.parts.store, {
    putEvents: (...given: Parameters<typeof putEvents>) => {
      events.push(given[0].events.length);
      return putEvents(...given);
    },
  });
  await read({ items: all });
  expect([(await heard()).length, events.filter((count) => count > 0)]).toEqual([told, []]);
});
