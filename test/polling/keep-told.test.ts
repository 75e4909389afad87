/** Stored cursors follow the news that specialists were told, and only theirs who lack nothing. */
import { expect, test } from "vitest";
import { asHandle } from "../../src/core/ids.ts";
import { HOUR } from "../../src/core/units.ts";
import type { Member } from "../../src/gateway/member.ts";
import { keepTold, MOVED_AFTER } from "../../src/polling/keep-told.ts";
import { listOf } from "../../src/polling/list-readers.ts";
import { readListState, storeListState } from "../../src/polling/list-state.ts";
import type { ToldList } from "../../src/polling/told-list.ts";
import { harness } from "../harness/harness.ts";

const LIST = listOf({ operation: "posts.list", input: {} });
const HANDLES = ["ann", "ben", "cas"];
const TOLD = ["post_9", "post_8"];

/** Three specialists that have polled the feed, and were told of two more posts. */
async function told() {
  let polled = 0;
  const { runtime, clock, other } = await harness({
    specialists: HANDLES.map((handle) => ({
      handle,
      tier: "pro",
      watch: { feed: { from: "start" } },
      on: { "post.created": () => void polled++ },
    })),
  });
  await other("quill")("POST", "/v1/posts", { body: { content: "first" } });
  await clock.runUntil(() => polled === HANDLES.length, HOUR);
  const { parts } = runtime;
  const members = runtime.members();
  const standing = { startedAt: 0, isWhole: true, isOwed: false };
  const list: ToldList = {
    seen: TOLD,
    at: clock.monotonic(),
    since: 0,
    passedOver: new WeakMap(),
    cutShort: 0,
    isTelling: false,
    unkept: MOVED_AFTER,
    members: new WeakMap(members.map((member) => [member, standing])),
  };
  const row = async (handle: string) => {
    const [source] = await parts.store.sources(asHandle(handle));
    if (source === undefined) throw new Error(`${handle} has not polled`);
    return { ...source, state: readListState(source.cursor, 0) };
  };
  return {
    list,
    row,
    clock,
    member(handle: string): Member {
      const member = runtime.member(handle);
      if (member === undefined) throw new Error(`${handle} does not work`);
      return member;
    },
    rows: () => Promise.all(HANDLES.map(row)),
    keep: (firstPage = 1) => clock.run(keepTold(parts, LIST, list, { members, firstPage })),
    async put(handle: string, change: Partial<ReturnType<typeof readListState>>) {
      const { name, state, dueAt } = await row(handle);
      const cursors = [{ specialist: asHandle(handle), source: name, cursor: storeListState({ ...state, ...change }), dueAt }];
      await clock.run(parts.store.putEvents({ events: [], cursors }, clock.now()));
    },
  };
}

test("a cursor moves to the newest item told, and nothing else of its row changes", async () => {
  const { keep, row, list } = await told();
  const before = await row("ben");
  await keep();
  const after = await row("ben");
  expect(after.state.cursor.seen).toEqual([...TOLD, ...(before.state.cursor.seen ?? [])]);
  expect(after.state.cursor.lookedAt).toBeGreaterThan(before.state.cursor.lookedAt ?? Infinity);
  const { cursor } = after.state;
  expect(after).toMatchObject({ name: before.name, dueAt: before.dueAt, state: { ...before.state, cursor } });
  expect(list.unkept).toBe(0);
});

test("rows are not written for each item", async () => {
  const { keep, rows, list } = await told();
  const before = await rows();
  list.unkept = MOVED_AFTER - 1;
  await keep();
  list.unkept = MOVED_AFTER;
  await keep(MOVED_AFTER + 1);
  expect(await rows()).toEqual(before);
});

test("a cursor has some pages of ids", async () => {
  const { keep, row, list } = await told();
  list.seen = Array.from({ length: 300 }, (_, i) => `post_${1_000 - i}`);
  list.unkept = 40;
  await keep(40);
  expect((await row("cas")).state.cursor.seen).toEqual(list.seen.slice(0, 120));
});

test("the cursor of whoever lacks pages stays", async () => {
  const { keep, row, list, member } = await told();
  list.members.set(member("ann"), { startedAt: 0, isWhole: false, isOwed: true });
  list.members.delete(member("ben"));
  const before = [await row("ann"), await row("ben")];
  await keep();
  expect([await row("ann"), await row("ben")]).toEqual(before);
  expect((await row("cas")).state.cursor.seen).toContain("post_9");
});

test("a cursor that its own poll has moved further stays, and so do one that is dormant and one that has not begun", async () => {
  const { keep, rows, row, put, clock } = await told();
  const { cursor } = (await row("ann")).state;
  await put("ann", { cursor: { ...cursor, lookedAt: clock.now() + HOUR } });
  await put("ben", { dormant: true });
  await put("cas", { cursor: { seen: undefined, startedAt: 1 } });
  const before = await rows();
  await keep();
  expect(await rows()).toEqual(before);
});

test("a cursor stays if a page has passed its specialist over meanwhile", async () => {
  const { keep, row, list, member } = await told();
  const before = await row("ben");
  const kept = keep();
  list.members.delete(member("ben"));
  await kept;
  expect(await row("ben")).toEqual(before);
  expect((await row("cas")).state.cursor.seen).toContain("post_9");
});
