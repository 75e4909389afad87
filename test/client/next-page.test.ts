/** The next page: found in every style, bounded, and a link leads nowhere but to the same list. */
import { describe, expect, test } from "vitest";
import { cursorOf, cursorParameters, lastPageReader, linkTo, nextPageReader, pagingOf } from "../../src/client/next-page.ts";
import type { NextPage } from "../../src/contract/call.ts";
import { resolveProfile, shippedProfile } from "../../src/contract/profile/profile.ts";
import type { ProfileSource } from "../../src/contract/profile/source.ts";
import type { Json } from "../../src/core/json.ts";

const profileWith = (paging: NonNullable<ProfileSource["paging"]>) => resolveProfile({ extends: "set-b", paging });
const next = (paging: NonNullable<ProfileSource["paging"]>, body: Json, cursor?: string, items = 2): NextPage | undefined =>
  nextPageReader(profileWith(paging).paging)(body, {}, { cursor, items });

describe("by cursor", () => {
  test.each<[Json, NextPage | undefined]>([
    [{ next: "c2" }, { cursor: "c2" }],
    [{ next: 7 }, { cursor: "7" }],
    [{ next: "/v1/posts?cursor=c2" }, { url: "/v1/posts?cursor=c2" }],
    [{ next: "https://net.test/v1/posts?cursor=c2" }, { url: "https://net.test/v1/posts?cursor=c2" }],
    [{ next: "" }, undefined],
    [{ next: null }, undefined],
    [{ next: true }, undefined],
    [{ next: "x".repeat(4_001) }, undefined],
    [{}, undefined],
  ])("%j", (body, expected) => {
    expect(next({ style: "cursor", next: ["next"] }, body)).toEqual(expected);
  });
});

describe("by page or offset", () => {
  const page: NonNullable<ProfileSource["paging"]> = { style: "page", firstPage: 1, next: "next" };
  test.each<[string, NonNullable<ProfileSource["paging"]>, Json, string | undefined, number, NextPage | undefined]>([
    ["goes on by one", page, {}, undefined, 2, { page: 2 }],
    ["goes on from the asked page", page, {}, "4", 2, { page: 5 }],
    ["goes on by the items", { ...page, style: "offset" }, {}, "40", 20, { offset: 60 }],
    ["ends with an empty page", page, {}, "4", 0, undefined],
    ["ends where the answer says that there is no more", page, { next: false }, "4", 2, undefined],
    ["ends where the answer has no next", page, { next: null }, "4", 2, undefined],
    ["goes where the answer says", page, { next: 9 }, "4", 2, { page: 9 }],
    ["reads a number in a text", page, { next: "9" }, "4", 2, { page: 9 }],
    ["never goes back", page, { next: 3 }, "4", 2, { page: 5 }],
    ["never goes by an endless number", page, { next: 2 ** 60 }, "4", 2, { page: 5 }],
    ["begins again with a cursor that is no number", page, {}, "rubbish", 2, { page: 2 }],
    ["says that there is more and shows nothing", page, { next: true }, "4", 0, undefined],
  ])("%s", (_what, paging, body, cursor, items, expected) => {
    expect(next(paging, body, cursor, items)).toEqual(expected);
  });
});

test.each<[Json, boolean]>([
  [{ next: null }, true],
  [{ next: false }, true],
  [{ next: "" }, true],
  [{ next: null, meta: { next: null } }, true],
  [{}, false],
  [{ meta: null }, false],
  [{ next: "c2" }, false],
  [{ next: null, meta: { next: "c2" } }, false],
  [{ next: null, meta: { next: "x".repeat(4_001) } }, false],
  [[], false],
])("%j states that no page follows: %j", (body, isStated) => {
  const next = ["next", "meta.next"];
  expect(lastPageReader(profileWith({ style: "cursor", next }).paging)(body)).toBe(isStated);
  expect(lastPageReader(profileWith({ style: "none", next }).paging)(body)).toBe(false);
});

test("a network without pages has no next one, whatever its headers say", () => {
  const headers = { link: '<https://net.test/p?x=2>; rel="next"' };
  expect(nextPageReader(profileWith({ style: "none" }).paging)({ next: "c" }, headers, { cursor: undefined, items: 5 })).toBeUndefined();
  expect(nextPageReader(profileWith({ style: "cursor" }).paging)({}, headers, { cursor: undefined, items: 5 })).toEqual({
    url: "https://net.test/p?x=2",
  });
});

test.each<[string | string[] | undefined, string | undefined]>([
  ['<https://a/1>; rel="prev", <https://a/2>; rel="next"', "https://a/2"],
  ["<https://a/2>; REL=Next", "https://a/2"],
  ['<https://a/2>; title="x"; rel="last next"', "https://a/2"],
  [['<https://a/1>; rel="first"', "<https://a/2>; rel=next"], "https://a/2"],
  ['<https://a/2>; rel="nextish"', undefined],
  ["<https://a/2>", undefined],
  [`<https://a/${"x".repeat(9_000)}>; rel=next`, undefined],
  ["<".repeat(7_000), undefined],
  [undefined, undefined],
])("Link header %#", (header, target) => {
  expect(linkTo(header, "next")).toBe(target);
});

test("a page becomes a cursor and the cursor its parameters; a link keeps its query alone", () => {
  const { paging } = profileWith({ style: "cursor", parameter: "after" });
  const asked = (page: NextPage): [string, string][] => cursorParameters(paging, cursorOf(page) ?? "");
  expect(asked({ cursor: "c2" })).toEqual([["after", "c2"]]);
  expect([asked({ page: 2 }), asked({ offset: 0 })]).toEqual([[["after", "2"]], [["after", "0"]]]);
  expect(asked({ url: "https://elsewhere.test/other?a=1&key=[secret]#b=2" })).toEqual([["a", "1"]]);
  expect(asked({ url: "https://elsewhere.test/other" })).toEqual([]);
  expect(cursorOf({})).toBeUndefined();
});

test("an operation pages in its own way where it says so, and by the profile for the rest", () => {
  const profile = shippedProfile("b");
  expect(pagingOf(profile, { paging: { style: "page", parameter: "p" } })).toEqual({ ...profile.paging, style: "page", parameter: "p" });
  expect([pagingOf(profile, {}), pagingOf(profile, undefined)]).toEqual([profile.paging, profile.paging]);
});
