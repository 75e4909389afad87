/** Paging as it is seen: the way that brings new items wins, and a list without one is told to have none. */
import { expect, test } from "vitest";
import { resolveProfile, shippedProfile } from "../../src/contract/profile/profile.ts";
import { isObject, type Json } from "../../src/core/json.ts";
import { examineOrder, examinePaging } from "../../src/doctor/examine-paging.ts";
import { allOf, askedNetwork, type AskedAnswer } from "../harness/asked-network.ts";

const post = (n: number): Json => ({ id: `p${n}`, content: "x", created_at: new Date(Date.UTC(2026, 0, 30 - n)).toISOString() });
const ALL = Array.from({ length: 9 }, (_, n) => post(n));
const profile = shippedProfile("b");

async function paging(answer: (query: URLSearchParams) => AskedAnswer | undefined) {
  const { ask, asked } = askedNetwork((_path, query) => answer(query));
  const [found] = await allOf(examinePaging(profile, "posts.list", ask));
  return {
    found,
    stated: Object.fromEntries(found?.proposals.map(({ path, value }) => [path.join("."), value]) ?? []),
    requests: asked.length,
  };
}

const number = (query: URLSearchParams, name: string, otherwise: number): number => Number(query.get(name) ?? otherwise);

test.each<[string, (query: URLSearchParams) => AskedAnswer, object]>([
  [
    "pages from 0, of a size by another name",
    (query) => {
      const size = number(query, "per_page", 9);
      const from = number(query, "page", 0) * size;
      return { body: ALL.slice(from, from + size) as Json };
    },
    { "paging.limitParameter": "per_page", "paging.style": "page", "paging.parameter": "page", "paging.firstPage": 0 },
  ],
  [
    "offsets",
    (query) => {
      const from = number(query, "skip", 0);
      return { body: { posts: ALL.slice(from, from + number(query, "limit", 9)) } as Json };
    },
    { "paging.style": "offset", "paging.parameter": "skip" },
  ],
  [
    "a cursor under another name",
    (query) => {
      const from = number(query, "page_token", 0);
      const size = number(query, "limit", 9);
      return {
        body: { posts: ALL.slice(from, from + size), meta: { next_page_token: from + size < 9 ? String(from + size) : "" } } as Json,
      };
    },
    { "paging.parameter": "page_token", "paging.next": ["meta.next_page_token"] },
  ],
  [
    "links in the body",
    (query) => {
      const from = number(query, "from", 0);
      const size = number(query, "limit", 9);
      return { body: { posts: ALL.slice(from, from + size), older: `/v1/posts?limit=${size}&from=${from + size}` } as Json };
    },
    { "paging.style": "link", "paging.next": ["older"] },
  ],
  [
    "the number of items so far, under a name that nobody speaks, in pages of one size",
    (query) => {
      const from = number(query, "after", 0);
      return { body: { posts: ALL.slice(from, from + 3), ...(from + 3 < 9 ? { zork: from + 3 } : {}) } as Json };
    },
    { "paging.parameter": "after", "paging.next": ["zork"] },
  ],
  [
    "the id of the last item, under a name that nobody speaks",
    (query) => {
      const from = ALL.findIndex((one) => isObject(one) && one["id"] === query.get("before")) + 1;
      const items = ALL.slice(from, from + 3);
      return { body: { posts: items, zork: `p${from + items.length - 1}` } as Json };
    },
    { "paging.parameter": "before", "paging.next": ["zork"] },
  ],
  ["nothing: every page is the same", () => ({ body: ALL as Json }), { "paging.style": "none" }],
])("a network that pages by %s", async (_what, answer, stated) => {
  expect((await paging(answer)).stated).toEqual(stated);
});

test("a list that is too short says so, after one read", async () => {
  const { found, requests } = await paging(() => ({ body: ALL.slice(0, 2) as Json }));
  expect([found?.severity, requests]).toEqual(["note", 1]);
  expect(found?.message).toContain("has 2 items: too few");
});

test("an examination that has used its calls ends without a finding", async () => {
  let left = 2;
  expect((await paging(() => (left-- > 0 ? { body: ALL as Json } : undefined))).found).toBeUndefined();
});

test("a value that the profile states already is no difference", async () => {
  const own = resolveProfile({ extends: "set-b", paging: { style: "offset", parameter: "skip" } });
  const { ask } = askedNetwork((_path, query) => {
    const from = number(query, "skip", 0);
    return { body: { posts: ALL.slice(from, from + number(query, "limit", 9)) } as Json };
  }, own);
  expect(await allOf(examinePaging(own, "posts.list", ask))).toMatchObject([{ severity: "ok", proposals: [] }]);
});

test.each([
  ["newest first", ALL, "ok"],
  ["oldest first", ALL.toReversed(), "note"],
  ["mixed", [ALL[1], ALL[0], ALL[2]], "note"],
  ["unknown", [{ id: "a" }, { id: "b" }], "note"],
])("a list in the order %s is told", async (order, items, severity) => {
  const { ask } = askedNetwork(() => ({ body: items as Json }));
  expect(await allOf(examineOrder("posts.list", ask))).toMatchObject([
    { severity, message: `posts.list: order ${order}` },
    { severity: "ok" },
  ]);
});

test("a list that loses items between two readings proves no absence", async () => {
  let reads = 0;
  const { ask } = askedNetwork(() => ({ body: ALL.slice(reads++ * 2) as Json }));
  expect((await allOf(examineOrder("posts.list", ask)))[1]?.message).toBe(
    "posts.list: 2 items of one reading were not in the next, so a page proves no absence",
  );
});

test("a list that pages otherwise than the others has its own paging", async () => {
  const { ask } = askedNetwork((_path, query) => {
    const size = number(query, "take", 9);
    const from = number(query, "page", 0) * size;
    return { body: { items: Array.from({ length: 9 }, (_, n) => ({ id: `j${n}`, title: "x" })).slice(from, from + size) } };
  });
  const [found] = await allOf(examinePaging(profile, "jobs.list", ask, true));
  expect(found?.proposals).toEqual([
    {
      path: ["operations", "jobs.list", "paging"],
      value: expect.objectContaining({ style: "page", limitParameter: "take", parameter: "page", firstPage: 0 }) as Json,
      isDoubtful: false,
    },
  ]);
});

test("the number of the next page is where an answer says it", async () => {
  const { stated } = await paging((query) => {
    const [size, page] = [number(query, "limit", 9), number(query, "page", 1)];
    const items = ALL.slice((page - 1) * size, page * size);
    return { body: { items, ...(page * size < 9 ? { meta: { next_page: page + 1 } } : {}) } as Json };
  });
  expect(stated).toMatchObject({ "paging.style": "page", "paging.next": ["meta.next_page"] });
});
