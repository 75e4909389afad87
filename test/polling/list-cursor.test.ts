/** Pages of a list: the fresh items, and the gaps between pages. */
import { expect, test } from "vitest";
import type { Post } from "../../src/contract/records.ts";
import { DAY, HOUR, MINUTE } from "../../src/core/units.ts";
import { moveOn, type Freshness } from "../../src/polling/list-cursor.ts";
import { readListState, type ListCursor } from "../../src/polling/list-state.ts";
import { postOf } from "../harness/builders.ts";

const NOW = Date.UTC(2026, 10, 21);
const wanted: Freshness = { fromMs: 0, maxAgeMs: DAY };
const post = (id: string, over: Partial<Post> = {}): Post => postOf(id, { createdAtMs: NOW - HOUR, ...over });
const cursorFrom = (startedAt: number): ListCursor => readListState(undefined, startedAt).cursor;
const fresh = cursorFrom(NOW);

test("a list has a gap when a page shares nothing with the last one, and none otherwise", () => {
  const first = moveOn([post("a"), post("b")], fresh, wanted, NOW);
  expect(moveOn([post("c"), post("b")], first.cursor, wanted, NOW).gap).toBeUndefined();
  const later = NOW + HOUR;
  expect(moveOn([post("x"), post("y", { createdAtMs: NOW + MINUTE })], { ...first.cursor, lookedAt: NOW }, wanted, later).gap).toEqual({
    after: "a",
    before: "y",
    since: NOW,
    until: NOW + MINUTE,
  });
});

test("a list has a gap after an empty look and at a late first look, where all of the page is news", () => {
  const empty = moveOn([], fresh, wanted, NOW);
  expect(moveOn([post("x"), post("y")], empty.cursor, wanted, NOW).gap).toMatchObject({ after: undefined, before: "y" });
  const fromNow = { ...wanted, fromMs: Infinity };
  expect(moveOn([post("x"), post("y")], cursorFrom(NOW - 2 * HOUR), fromNow, NOW).gap).toMatchObject({
    since: NOW - 2 * HOUR,
  });
  expect(moveOn([post("x"), post("old", { createdAtMs: NOW - 3 * HOUR })], cursorFrom(NOW - 2 * HOUR), fromNow, NOW).gap).toBeUndefined();
});

test("a list has a gap at the first look where it is to go further back than the page does", () => {
  const page = [post("b"), post("a", { createdAtMs: NOW - 2 * HOUR })];
  const gapFrom = (fromMs: number): boolean => moveOn(page, fresh, { ...wanted, fromMs }, NOW).gap !== undefined;
  expect(gapFrom(0)).toBe(true);
  expect(gapFrom(NOW - 3 * HOUR)).toBe(true);
  expect(gapFrom(NOW - 90 * MINUTE)).toBe(false); // the page holds older ones already
  expect(gapFrom(Infinity)).toBe(false); // only what is new from now on
  expect(moveOn(page, fresh, { ...wanted, maxAgeMs: 90 * MINUTE }, NOW).gap).toBeUndefined();
});

test("items are handed on oldest first, whatever order a dated page is in, and an undated page in its reverse", () => {
  const page = [post("b", { createdAtMs: NOW - 2 }), post("c", { createdAtMs: NOW - 1 }), post("a", { createdAtMs: NOW - 3 })];
  expect(moveOn(page, fresh, wanted, NOW).fresh.map(({ id }) => id)).toEqual(["a", "b", "c"]);
  const undated = page.map(({ id }) => ({ id }));
  expect(moveOn(undated, fresh, wanted, NOW).fresh.map(({ id }) => id)).toEqual(["a", "c", "b"]);
});

test("a cursor remembers a bounded number of ids, the latest ones", () => {
  const pages = Array.from({ length: 30 }, (_, page) => Array.from({ length: 20 }, (_, i) => post(`${page}-${i}`)));
  const cursor = pages.reduce((before, page) => moveOn(page, before, wanted, NOW).cursor, fresh);
  expect(cursor.seen).toHaveLength(400);
  expect(cursor.seen?.[0]).toBe("29-0");
  expect(cursor.seen).not.toContain("0-0");
});

test("a page that shows nothing new leaves the remembered ids as they are; its own come first where their order changed", () => {
  const { cursor } = moveOn([post("c"), post("b"), post("a")], fresh, wanted, NOW);
  const same = moveOn([post("c"), post("b")], cursor, wanted, NOW + MINUTE);
  expect([same.fresh, same.skipped, same.gap, same.cursor.seen]).toEqual([[], 0, undefined, ["c", "b", "a"]]);
  expect(moveOn([post("b"), post("c")], cursor, wanted, NOW).cursor.seen).toEqual(["b", "c", "a"]);
});
