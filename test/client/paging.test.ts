/** Lists page by page: every style, to the end or a bound, and never for ever. */
import { describe, expect, test } from "vitest";
import { createClient } from "../../src/client/client.ts";
import { MAX_PAGES, pages, type Page } from "../../src/client/paging.ts";
import type { Call, Outcome } from "../../src/contract/call.ts";
import { resolveProfile } from "../../src/contract/profile/profile.ts";
import { Refused, Retryable } from "../../src/core/errors.ts";
import type { Json } from "../../src/core/json.ts";
import { Secret } from "../../src/core/secret.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";

interface Answer {
  readonly body: Json;
  readonly headers?: Record<string, string>;
  readonly status?: number;
}

const LIST: Call = { operation: "posts.list", input: { limit: 2 } };

/** A server of nine posts that answers by its query, and the pages our client makes of it. */
async function collect(
  paging: object,
  answer: (query: URLSearchParams) => Answer,
  options = {},
): Promise<{ pages: Page[]; queries: string[] }> {
  const queries: string[] = [];
  const client = createClient({
    profile: resolveProfile({ extends: "set-b", paging }),
    baseUrl: "http://net.test/v1",
    clock: virtualClock(),
    transport: ({ path }) => {
      const url = new URL(path, "http://net.test");
      queries.push(url.search);
      const { body, headers = {}, status = 200 } = answer(url.searchParams);
      return Promise.resolve({ kind: "answer", status, headers, text: JSON.stringify(body), elapsedMs: 1 });
    },
  });
  const send = (call: Call): Promise<Outcome> => client.send(call, { key: new Secret("sk_live_x") });
  const found: Page[] = [];
  for await (const page of pages(send, LIST, options)) found.push(page);
  return { pages: found, queries };
}

const posts = (from: number, count: number): Json[] =>
  Array.from({ length: Math.max(0, Math.min(count, 9 - from)) }, (_, i) => ({ id: `p${from + i}` }));
const ids = (found: readonly Page[]): string[] => found.flatMap(({ items }) => items.map((item) => ("id" in item ? (item.id ?? "") : "")));
const ALL = Array.from({ length: 9 }, (_, i) => `p${i}`);

test("one list pages in its own way where its operation says so, with what it does not say from the profile", async () => {
  const queries: string[] = [];
  const client = createClient({
    profile: resolveProfile({
      extends: "set-b",
      paging: { style: "cursor", parameter: "after", limitParameter: "size", next: ["meta.next"] },
      operations: { "jobs.list": { paging: { style: "page", parameter: "p", firstPage: 0, maxLimit: 2 } } },
    }),
    baseUrl: "http://net.test/v1",
    clock: virtualClock(),
    transport: ({ path }) => {
      const { pathname, search, searchParams } = new URL(path, "http://net.test");
      queries.push(pathname + search);
      const at = Number(searchParams.get("p") ?? searchParams.get("after") ?? 0);
      const isJobs = pathname === "/v1/jobs";
      const from = isJobs ? at * 2 : at;
      const next = !isJobs && from + 2 < 9 ? { meta: { next: from + 2 } } : {};
      const body = { [isJobs ? "jobs" : "posts"]: posts(from, 2), ...next };
      return Promise.resolve({ kind: "answer", status: 200, headers: {}, text: JSON.stringify(body), elapsedMs: 1 });
    },
  });
  const send = (call: Call): Promise<Outcome> => client.send(call, { key: new Secret("sk_live_x") });
  for (const operation of ["posts.list", "jobs.list"]) {
    const found: Page[] = [];
    for await (const page of pages(send, { operation, input: { limit: 5 } })) found.push(page);
    expect([operation, ids(found), found.at(-1)?.end]).toEqual([operation, ALL, "complete"]);
  }
  expect(queries.slice(0, 2)).toEqual(["/v1/posts?size=5", "/v1/posts?size=5&after=2"]);
  expect(queries.filter((one) => one.startsWith("/v1/jobs")).slice(0, 2)).toEqual(["/v1/jobs?size=2", "/v1/jobs?size=2&p=1"]);
});

describe("every post comes once, to a complete end, by", () => {
  test("cursor", async () => {
    const got = await collect({}, (query) => {
      const from = Number(query.get("cursor") ?? 0);
      return { body: { posts: posts(from, 2), next_cursor: from + 2 < 9 ? String(from + 2) : null } };
    });
    expect(ids(got.pages)).toEqual(ALL);
    expect(got.pages.at(-1)?.end).toBe("complete");
    expect(got.queries[1]).toBe("?limit=2&cursor=2");
  });

  test("page", async () => {
    const got = await collect({ style: "page", parameter: "page" }, (query) => ({
      body: posts((Number(query.get("page") ?? 1) - 1) * 2, 2),
    }));
    expect(ids(got.pages)).toEqual(ALL);
    expect(got.pages.at(-1)?.end).toBe("complete");
    expect(got.queries[1]).toBe("?limit=2&page=2");
  });

  test("page with a word that there is no more", async () => {
    const got = await collect({ style: "page", parameter: "p", firstPage: 0, next: ["has_more"] }, (query) => {
      const page = Number(query.get("p") ?? 0);
      return { body: { posts: posts(page * 2, 2), has_more: page < 4 } };
    });
    expect(ids(got.pages)).toEqual(ALL);
    expect(got.queries).toHaveLength(5);
  });

  test("page, where the answer states the page it is", async () => {
    const got = await collect({ style: "page", parameter: "page", next: ["page"] }, (query) => {
      const page = Number(query.get("page") ?? 1);
      return { body: { posts: posts((page - 1) * 2, 2), page } };
    });
    expect(ids(got.pages)).toEqual(ALL);
    expect(got.pages.at(-1)?.end).toBe("complete");
  });

  test("offset", async () => {
    const got = await collect({ style: "offset", parameter: "offset" }, (query) => ({ body: posts(Number(query.get("offset") ?? 0), 2) }));
    expect(ids(got.pages)).toEqual(ALL);
    expect(got.queries[2]).toBe("?limit=2&offset=4");
  });

  test("Link header, whatever the style, of which only the query is used", async () => {
    const got = await collect({}, (query) => {
      const from = Number(query.get("after") ?? 0);
      const next = `<https://evil.test/v9/steal?after=${from + 2}&limit=2>; rel="next", <https://evil.test/>; rel="first"`;
      return { body: posts(from, 2), ...(from + 2 < 9 ? { headers: { link: next } } : {}) };
    });
    expect(ids(got.pages)).toEqual(ALL);
    expect(got.queries[1]).toBe("?after=2&limit=2");
  });

  test("a link in the body", async () => {
    const got = await collect({ style: "link", next: ["links.next"] }, (query) => {
      const from = Number(query.get("after") ?? 0);
      return { body: { posts: posts(from, 2), links: { next: from + 2 < 9 ? `/v1/posts?after=${from + 2}` : null } } };
    });
    expect(ids(got.pages)).toEqual(ALL);
  });

  test("one page, where there are no others", async () => {
    const got = await collect({ style: "none" }, () => ({ body: { posts: posts(0, 9), next_cursor: "x" } }));
    expect(got.pages).toMatchObject([{ end: "complete" }]);
  });
});

describe("never for ever", () => {
  test("a server that repeats a cursor is stopped", async () => {
    let at = 0;
    const got = await collect({}, () => ({ body: { posts: [{ id: `q${at++}` }], next_cursor: "same" } }));
    expect(got.pages.at(-1)?.end).toBe("repeated");
    expect(got.queries).toHaveLength(2);
  });

  test("a server that repeats a page is stopped", async () => {
    let at = 0;
    const got = await collect({}, () => ({ body: { posts: posts(0, 2), next_cursor: `c${at++}` } }));
    expect(ids(got.pages)).toEqual(["p0", "p1"]);
    expect(got.pages.at(-1)).toMatchObject({ end: "repeated", items: [] });
  });

  test("a server that ignores page numbers is stopped", async () => {
    const got = await collect({ style: "page", parameter: "page" }, () => ({ body: posts(0, 9) }));
    expect(got.queries).toHaveLength(2);
    expect(got.pages.at(-1)?.end).toBe("repeated");
  });

  test.each([
    [{}, MAX_PAGES],
    [{ maxPages: 3 }, 3],
    [{ maxPages: 1e9 }, MAX_PAGES],
  ])("an endless list ends at the bound %j", async (options, expected) => {
    let at = 0;
    const got = await collect({}, () => ({ body: { posts: [{ id: `q${at++}` }], next_cursor: `c${at}` } }), options);
    expect(got.queries).toHaveLength(expected);
    expect(got.pages.at(-1)?.end).toBe("bound");
  });
});

test("a list that grows while it is read shows nothing twice", async () => {
  const got = await collect({ style: "offset", parameter: "offset" }, (query) => {
    const from = Number(query.get("offset") ?? 0);
    return { body: from === 0 ? [{ id: "a" }, { id: "b" }] : from === 2 ? [{ id: "b" }, { id: "c" }] : [] };
  });
  expect(ids(got.pages)).toEqual(["a", "b", "c"]);
});

test.each([
  [404, { error: "no_such_list" }, Refused, "no_such_list"],
  [401, {}, Refused, "unauthorized"],
  [429, {}, Retryable, "page_unavailable"],
  [500, {}, Retryable, "page_unavailable"],
  [200, { nothing: 1 }, Retryable, "page_unavailable"],
])("a page answered by %i ends in an error, not in an end", async (status, body, type, code) => {
  const attempt = collect({}, () => ({ body, status }));
  await expect(attempt).rejects.toBeInstanceOf(type);
  await expect(attempt).rejects.toMatchObject({ code });
});
