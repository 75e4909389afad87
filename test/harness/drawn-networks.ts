/** Small networks that nobody tuned for: the same world under names, envelopes, pagings and errors drawn by a seed. */
import type { Transport, WireAnswer } from "../../src/client/transport.ts";
import { isObject, type Json } from "../../src/core/json.ts";
import { seededRandom } from "../../src/core/random.ts";

export interface Accent {
  readonly transport: Transport;
  /** What a reader should make of the first post and job. */
  readonly truth: { readonly post: Record<string, unknown>; readonly job: Record<string, unknown>; readonly posts: number };
  readonly requests: () => number;
  /** Requests that are neither GET nor a search. */
  readonly writes: () => number;
  readonly words: string;
}

const POSTS = 7;
const START = Date.UTC(2026, 0, 5, 9);

export function accent(seed: number): Accent {
  const random = seededRandom(`accent-${seed}`);
  const pick = <T>(...items: readonly T[]): T => random.pick(items);
  const camel = random.int(2) === 0;
  const name = (words: string): string =>
    camel ? words.replaceAll(/ (\w)/g, (_, letter: string) => letter.toUpperCase()) : words.replaceAll(" ", "_");
  const idName = pick("id", "uid", "post id", "pk", "key", "guid");
  const jobIdName = pick("id", "uid", "task id", "job ref", "guid");
  const idOf = pick<(kind: string, n: number) => string | number>(
    (kind, n) => `${kind}-${n}`,
    (kind, n) => (kind === "p" ? 1_000 : 2_000) + n,
    (kind, n) => `${kind}${n.toString(36)}zzz`,
  );
  const contentName = pick("content", "text", "body", "markdown", "message", "msg", "post text");
  const who = pick("author", "user", "agent", "creator", "poster", "sender");
  const handleName = pick("handle", "username", "name", "nick", "login");
  const person = pick<(n: number) => Record<string, Json>>(
    (n) => ({ [who]: { [pickId()]: `a${n}`, [handleName]: `bot${n}` } }),
    (n) => ({ [name(`${who} id`)]: `a${n}`, [name(`${who} ${handleName}`)]: `bot${n}` }),
  );
  const personIdName = pick("id", "uid");
  function pickId(): string {
    return personIdName;
  }
  const timeName = pick("created at", "posted at", "timestamp", "created", "published on");
  const time = pick<(ms: number) => Json>(
    (ms) => new Date(ms).toISOString(),
    (ms) => ms / 1_000,
    (ms) => ms,
    (ms) => new Date(ms).toISOString().replace("T", " ").slice(0, 19),
  );
  const titleName = pick("title", "subject", "headline", "summary");
  const statusName = pick("status", "state", "phase", "stage");
  const post = (n: number): Json => ({
    [name(idName)]: idOf("p", n),
    ...person(n),
    [name(contentName)]: `These are the words of post number ${n}.`,
    [name(timeName)]: time(START - n * 60_000),
    flags: [],
    weight: n,
  });
  const job = (n: number): Json => ({
    [name(jobIdName)]: idOf("j", n),
    [titleName]: `Task ${n}`,
    details: `A longer text on what task ${n} asks for.`,
    [statusName]: "open",
    [name(timeName)]: time(START - n * 60_000),
  });

  const envelope = pick<(kind: string, items: Json[]) => Json>(
    (_, items) => items,
    (kind, items) => ({ [kind]: items }),
    (_, items) => ({ data: items }),
    (_, items) => ({ payload: { rows: items } }),
    (kind, items) => ({ response: { [kind]: items, total: items.length } }),
    (_, items) => ({ hits: items, took: 3 }),
  );
  const single = pick<(kind: string, item: Json) => Json>(
    (_, item) => item,
    (kind, item) => ({ [kind]: item }),
    (_, item) => ({ data: item }),
    (kind, item) => ({ response: { [kind]: item } }),
  );
  const failure = pick<(message: string) => Json>(
    (message) => ({ error: { code: "not_found", message } }),
    (message) => ({ fault: { kind: "NotFound", text: message } }),
    (message) => ({ problem: message, slug: "not_found" }),
    (message) => ({ type: "https://e.example/nf", title: message, status: 404 }),
  );
  const limitName = pick("limit", "per_page", "page_size");
  const style = pick("cursor", "page", "offset", "link");
  const cursorName = pick("cursor", "after", "page_token");
  const nextName = pick("next_cursor", "nextCursor", "continuation", "next_token");
  let requests = 0;
  let writes = 0;

  const page = (query: URLSearchParams): { readonly body: Json; readonly headers: Record<string, string> } => {
    const limit = Number(query.get(limitName) ?? POSTS);
    const from =
      style === "page"
        ? (Number(query.get("page") ?? 1) - 1) * limit
        : style === "offset"
          ? Number(query.get("offset") ?? 0)
          : Number((query.get(cursorName) ?? "c0").slice(1));
    const items = Array.from({ length: Math.max(0, Math.min(limit, POSTS - from)) }, (_, i) => post(from + i));
    const body = envelope("posts", items);
    const hasMore = from + limit < POSTS;
    const nextCursor = style === "cursor" && hasMore ? { [nextName]: `c${from + limit}` } : {};
    const headers: Record<string, string> =
      style === "link" && hasMore ? { link: `</v1/posts?${cursorName}=c${from + limit}&${limitName}=${limit}>; rel="next"` } : {};
    // A bare list has no room for a cursor: such a network wraps it.
    if (style === "cursor" && Array.isArray(body)) return { body: { posts: body, ...nextCursor }, headers };
    return { body: isObject(body) ? { ...body, ...nextCursor } : body, headers };
  };

  const transport: Transport = (request) => {
    requests++;
    if (request.method !== "GET" && !request.path.startsWith("/v1/search/")) writes++;
    const url = new URL(request.path, request.origin);
    const [, , kind = "", id] = url.pathname.split("/").map(decodeURIComponent);
    const make = kind === "posts" ? post : kind === "jobs" ? job : undefined;
    if (make === undefined) return Promise.resolve(answer(404, failure("There is no such address here")));
    if (id === undefined) {
      const { body, headers } =
        kind === "posts"
          ? page(url.searchParams)
          : {
              body: envelope(
                kind,
                Array.from({ length: 4 }, (_, i) => make(i)),
              ),
              headers: {},
            };
      return Promise.resolve(answer(200, body, { "x-ratelimit-remaining": "50", ...headers }));
    }
    const letter = kind === "posts" ? "p" : "j";
    const n = Array.from({ length: POSTS }, (_, i) => i).find((i) => String(idOf(letter, i)) === id);
    return Promise.resolve(
      n === undefined ? answer(404, failure("There is no such thing")) : answer(200, single(kind.slice(0, -1), make(n))),
    );
  };
  return {
    transport,
    truth: {
      post: {
        id: String(idOf("p", 0)),
        authorId: "a0",
        authorHandle: "bot0",
        content: "These are the words of post number 0.",
        createdAtMs: START,
      },
      job: { id: String(idOf("j", 0)), title: "Task 0", status: "open" },
      posts: POSTS,
    },
    requests: () => requests,
    writes: () => writes,
    words: JSON.stringify({
      post: post(0),
      job: job(0),
      list: envelope("posts", []),
      one: single("post", {}),
      style,
      limitName,
      cursorName,
      nextName,
      error: failure("x y"),
    }),
  };
}

function answer(status: number, body: Json, headers: Record<string, string> = {}): WireAnswer {
  return { kind: "answer", status, headers, text: JSON.stringify(body), elapsedMs: 5 };
}
