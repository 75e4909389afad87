/** Posts, agents, communities, keys, tokens, money: what the world allows and remembers. */
import { describe, expect, it } from "vitest";
import { DAY, HOUR } from "../../src/core/units.ts";
import { ASSUMPTIONS, DEFAULT_ASSUMPTIONS } from "../../src/local-network/assumptions.ts";
import { asking, at, lab, records, textAt, type Ask } from "../harness/visitor.ts";

const refusal = async (answer: ReturnType<Ask>): Promise<unknown[]> => {
  const { status, json } = await answer;
  return [status, textAt(json, "error.code")];
};

describe("posts", () => {
  it("are listed newest first, page by page, none twice and none left out", async () => {
    const { join } = lab();
    const { a, b } = join("scout");
    for (let i = 0; i < 45; i++) await b("POST", "/v1/posts", { body: { content: `${i}` } });
    for (const ask of [a, b]) {
      const seen: string[] = [];
      let cursor = "";
      for (let page = 0; page < 10; page++) {
        const heard = await ask("GET", "/v1/posts", { query: { limit: "20", ...(cursor === "" ? {} : { cursor }) } });
        seen.push(...records(heard).map((post) => textAt(post, "content")));
        const next = ask === a ? heard.json["next_cursor"] : at(heard.json, "pagination.next_cursor");
        if (typeof next !== "string") break;
        cursor = next;
      }
      expect(seen).toEqual(Array.from({ length: 45 }, (_, i) => `${44 - i}`));
    }
  });

  it("are found by author and community", async () => {
    const { join } = lab();
    const [scout, quill] = [join("scout"), join("quill")];
    await scout.b("POST", "/v1/posts", { body: { content: "mine", community: "data" } });
    await quill.b("POST", "/v1/posts", { body: { content: "yours" } });
    const contents = async (query: Record<string, string>): Promise<string[]> =>
      records(await quill.b("GET", "/v1/posts", { query })).map((post) => textAt(post, "content"));
    expect(await contents({ author: scout.id })).toEqual(["mine"]);
    expect(await contents({ author: "quill" })).toEqual(["yours"]);
    expect(await contents({ community: "data" })).toEqual(["mine"]);
    expect(await contents({ author: "nobody" })).toEqual([]);
    expect(await refusal(scout.b("POST", "/v1/posts", { body: { content: "x", community: "none" } }))).toEqual([422, "invalid_field"]);
  });

  it("keep replies out of the feed and in their thread, oldest first", async () => {
    const { join } = lab();
    const [scout, quill] = [join("scout"), join("quill")];
    const id = textAt((await scout.b("POST", "/v1/posts", { body: { content: "question" } })).json, "id");
    for (const content of ["one", "two"]) await quill.b("POST", `/v1/posts/${id}/reply`, { body: { content } });
    expect(records(await scout.b("GET", "/v1/posts"))).toHaveLength(1);
    const { json } = await scout.a("GET", `/v1/posts/${id}`);
    expect(json).toMatchObject({
      reply_count: 2,
      replies: [{ content: "one", parent_id: id, author: { handle: "quill" } }, { content: "two" }],
    });
  });

  it("are deleted by their author only, with their place in the thread's count", async () => {
    const { join } = lab();
    const [scout, quill] = [join("scout"), join("quill")];
    const id = textAt((await scout.a("POST", "/v1/posts", { body: { content: "question" } })).json, "id");
    const reply = textAt((await quill.a("POST", `/v1/posts/${id}/reply`, { body: { content: "answer" } })).json, "id");
    expect(await refusal(scout.a("DELETE", `/v1/posts/${reply}`))).toEqual([403, "not_yours"]);
    await quill.a("DELETE", `/v1/posts/${reply}`);
    expect((await scout.a("GET", `/v1/posts/${id}`)).json).toMatchObject({ reply_count: 0, replies: [] });
    await scout.a("DELETE", `/v1/posts/${id}`);
    expect(await refusal(scout.a("GET", `/v1/posts/${id}`))).toEqual([404, "not_found"]);
    expect(await refusal(scout.a("DELETE", `/v1/posts/${id}`))).toEqual([404, "not_found"]);
  });

  it("take one vote each: the same again changes nothing, the opposite replaces it, one's own is refused", async () => {
    const { join, network } = lab();
    const [scout, quill] = [join("scout"), join("quill")];
    const id = textAt((await scout.b("POST", "/v1/posts", { body: { content: "vote" } })).json, "id");
    const vote = async (direction: string): Promise<unknown> =>
      (await quill.b("POST", `/v1/posts/${id}/vote`, { body: { direction } })).json["votes"];
    expect([await vote("up"), await vote("up"), await vote("down")]).toEqual([1, 1, -1]);
    expect(network.truth.effects({ operation: "posts.vote" })).toHaveLength(2);
    expect(await refusal(scout.b("POST", `/v1/posts/${id}/vote`, { body: { direction: "up" } }))).toEqual([403, "own_post"]);
    expect(await refusal(quill.b("POST", `/v1/posts/${id}/vote`, { body: { direction: "sideways" } }))).toEqual([422, "invalid_field"]);
  });

  it.each([
    ["no content", {}],
    ["blank content", { content: " " }],
    ["content of another type", { content: 5 }],
    ["endless content", { content: "x".repeat(10_001) }],
  ])("with %s are refused and leave no trace", async (_name, body) => {
    const { join, network } = lab();
    expect(await refusal(join("scout").b("POST", "/v1/posts", { body }))).toEqual([422, "invalid_field"]);
    expect(network.truth.effects()).toEqual([]);
  });
});

describe("requests that cannot be read", () => {
  it("are refused by what is wrong with them", async () => {
    const { network, join } = lab();
    const { key, b } = join("scout");
    const raw = async (body: string, headers: Record<string, string>, path = "/v1/posts"): Promise<unknown[]> => {
      const reply = await network.handle("b", {
        method: "POST",
        path,
        query: {},
        headers: { authorization: `Bearer ${key}`, ...headers },
        body,
      });
      return [reply.status, (JSON.parse(reply.body) as { error: { code: string } }).error.code];
    };
    const json = { "content-type": "application/json" };
    expect(await raw("{", json)).toEqual([400, "invalid_json"]);
    expect(await raw("[1]", json)).toEqual([400, "invalid_json"]);
    expect(await raw(`{"content":${"[".repeat(200)}${"]".repeat(200)}}`, json)).toEqual([400, "invalid_json"]);
    expect(await raw("content=x", { "content-type": "application/x-www-form-urlencoded" })).toEqual([415, "unsupported_media_type"]);
    expect(await raw(JSON.stringify({ content: "x".repeat(1_100_000) }), json)).toEqual([413, "body_too_large"]);
    expect(await raw("", json, "/v1/posts/%E0%A4%A/reply")).toEqual([400, "bad_path"]);
    expect(await refusal(b("GET", "/v1/posts", { query: { limit: "0" } }))).toEqual([400, "invalid_limit"]);
    expect(await refusal(b("GET", "/v1/posts", { query: { cursor: "!!" } }))).toEqual([400, "invalid_cursor"]);
    expect(await refusal(b("GET", "/v1/posts/__proto__"))).toEqual([404, "not_found"]);
    expect(await refusal(b("GET", "/v1/constructor/toString"))).toEqual([404, "no_such_endpoint"]);
  });
});

describe("agents", () => {
  it("are created with a key that works at once, shown once, and end when deleted", async () => {
    const { join, network } = lab();
    const { b } = join("scout");
    const { json } = await b("POST", "/v1/agents", { body: { handle: "Fresh", bio: "new", skills: ["csv"] } });
    const id = textAt(json, "id");
    const fresh = asking(network, "b", textAt(json, "api_key"));
    expect(await refusal(b("POST", "/v1/agents", { body: { handle: "fresh" } }))).toEqual([409, "handle_taken"]);
    expect(await refusal(b("POST", "/v1/agents", { body: { handle: "no spaces" } }))).toEqual([422, "handle_invalid"]);
    const seen = await fresh("GET", `/v1/agents/${id}`);
    expect(seen.json).toMatchObject({ handle: "fresh", tier: "free", trust: "newcomer" });
    expect(seen.text).not.toContain("sk_live_");
    await b("DELETE", `/v1/agents/${id}`);
    expect((await fresh("GET", "/v1/posts")).status).toBe(401);
    expect((await b("GET", `/v1/agents/${id}`)).status).toBe(404);
  });

  it("in Set A update themselves only; in Set B any specialist of the Guardian, but no resident", async () => {
    const { join, network } = lab({ residents: {} });
    const [scout, quill] = [join("scout"), join("quill")];
    network.start();
    expect(await refusal(scout.a("PATCH", "/v1/agents/quill", { body: { bio: "x" } }))).toEqual([403, "not_yours"]);
    expect((await scout.b("PATCH", `/v1/agents/${quill.id}`, { body: { name: "Quill" } })).json).toMatchObject({ name: "Quill" });
    const resident = network.find("mira-vance");
    expect(await refusal(scout.b("DELETE", `/v1/agents/${resident?.id}`))).toEqual([403, "not_yours"]);
    expect(records(await scout.b("GET", "/v1/agents")).map((agent) => agent["handle"])).toEqual(["quill", "scout"]);
    expect(records(await scout.a("GET", "/v1/agents")).length).toBeGreaterThan(2);
    await network.stop();
  });

  it("may be suspended, and the Guardian's key manages them", async () => {
    const { join, network } = lab();
    const { b, id } = join("scout");
    network.suspend("scout");
    expect(await refusal(b("GET", "/v1/posts"))).toEqual([403, "account_suspended"]);
    const guardian = asking(network, "b", network.guardianKey());
    expect((await guardian("GET", `/v1/agents/${id}`)).status).toBe(200);
    expect(() => network.provision({ handle: "guardian", tier: "free" })).toThrow(/taken/);
    expect(records(await guardian("GET", "/v1/agents"))).toHaveLength(1);
    network.suspend("scout", false);
    expect((await b("GET", "/v1/posts")).status).toBe(200);
  });
});

describe("keys", () => {
  it("have the prefix of their set, work on both, and die at once when regenerated", async () => {
    const { network } = lab();
    const { key } = network.provision({ handle: "scout", tier: "pro", set: "a" });
    expect(key).toMatch(/^sk-agent-\w{8}-\w{8}-\w{8}-\w{8}$/);
    expect(network.isKeyOf("scout", key)).toBe(true);
    const fresh = network.regenerateKey("scout", "b");
    expect([network.isKeyOf("scout", key), network.isKeyOf("scout", fresh), network.isKeyOf("quill", fresh)]).toEqual([false, true, false]);
    expect(fresh).toMatch(/^sk_live_\w{32}$/);
    for (const set of ["a", "b"] as const) {
      expect(await refusal(asking(network, set, key)("GET", "/v1/posts"))).toEqual([401, "invalid_api_key"]);
      expect((await asking(network, set, fresh)("GET", "/v1/posts")).status).toBe(200);
    }
    expect(() => network.regenerateKey("nobody")).toThrow(/no specialist/);
  });

  it("buy tokens in Set A, which end with their time, their use or their key", async () => {
    const { join, network, clock } = lab();
    const { a } = join("scout");
    const pair = (await a("POST", "/v1/auth/token")).json;
    const byToken = asking(network, "a", textAt(pair, "access_token"));
    expect((await byToken("GET", "/v1/posts")).status).toBe(200);
    expect((await asking(network, "b", textAt(pair, "access_token"))("GET", "/v1/posts")).status).toBe(401);
    await clock.advance(HOUR);
    expect((await byToken("GET", "/v1/posts")).status).toBe(401);
    const refresh = { body: { refresh_token: textAt(pair, "refresh_token") } };
    const next = (await a("POST", "/v1/auth/refresh", refresh)).json;
    expect(await refusal(a("POST", "/v1/auth/refresh", refresh))).toEqual([401, "invalid_refresh_token"]);
    const byNext = asking(network, "a", textAt(next, "access_token"));
    expect((await byNext("GET", "/v1/posts")).status).toBe(200);
    network.regenerateKey("scout");
    expect((await byNext("GET", "/v1/posts")).status).toBe(401);
  });
});

describe("communities", () => {
  it("are joined and left as often as one likes, counting once", async () => {
    const { join, network } = lab();
    const { b } = join("scout");
    for (let i = 0; i < 2; i++)
      expect((await b("POST", "/v1/communities/data/join")).json).toMatchObject({ member_count: 1, is_member: true });
    for (let i = 0; i < 2; i++) expect((await b("DELETE", "/v1/communities/data/leave")).status).toBe(200);
    expect((await b("GET", "/v1/communities/data")).json).toMatchObject({ member_count: 0, is_member: false });
    expect(network.truth.effects().map(({ operation }) => operation)).toEqual(["communities.join", "communities.leave"]);
  });
});

describe("spending", () => {
  const offer = (ask: Ask, reward: number) => ask("POST", "/v1/jobs", { body: { title: "Work", description: "of mine", reward } });

  it("over a limit waits for the Guardian, and happens once approved", async () => {
    const { join, network } = lab();
    const { b } = join("scout");
    network.setSpending("scout", { perTransaction: 20, perMonth: 50 });
    expect((await offer(b, 20)).status).toBe(201);
    const pending = await offer(b, 21);
    expect([pending.status, textAt(pending.json, "status")]).toEqual([202, "pending_approval"]);
    expect(network.jobs()).toHaveLength(1);
    const id = textAt(pending.json, "approval.id");
    network.decide(id, true);
    expect(network.jobs()).toHaveLength(2);
    expect(() => network.decide(id, true)).toThrow(/nothing pending/);
    expect((await offer(b, 10)).status).toBe(202);
    network.decide(network.approvals().at(-1)?.id ?? "", false);
    expect(network.jobs()).toHaveLength(2);
  });

  it("begins anew with the month, and is refused where the network does not ask", async () => {
    const { join, network, clock } = lab({ assume: { overSpending: "refused" } });
    const { b } = join("scout");
    network.setSpending("scout", { perMonth: 30 });
    expect((await offer(b, 30)).status).toBe(201);
    expect(await refusal(offer(b, 1))).toEqual([403, "spending_limit"]);
    await clock.advance(27 * DAY);
    expect((await offer(b, 30)).status).toBe(201);
  });
});

describe("assumptions that can be switched on", () => {
  it("prices: every action counts against the month", async () => {
    const { join, network } = lab({ assume: { prices: { "posts.create": 2 } } });
    const { b } = join("scout");
    network.setSpending("scout", { perMonth: 5 });
    const post = async (): Promise<number> => (await b("POST", "/v1/posts", { body: { content: "paid" } })).status;
    expect([await post(), await post(), await post()]).toEqual([201, 201, 202]);
    expect(network.find("scout")?.spent.credits).toBe(4);
  });

  it("trust gates: newcomers may not apply for well-paid jobs", async () => {
    const { join } = lab({ assume: { trustGates: true } });
    const [scout, quill] = [join("scout"), join("quill")];
    const offer = async (reward: number): Promise<string> =>
      textAt((await quill.b("POST", "/v1/jobs", { body: { title: "t", description: "d", reward } })).json, "id");
    expect(await refusal(scout.b("POST", `/v1/jobs/${await offer(101)}/apply`))).toEqual([403, "trust_too_low"]);
    expect((await scout.b("POST", `/v1/jobs/${await offer(100)}/apply`)).status).toBe(201);
  });
});

describe("the list of assumptions", () => {
  it("names every switch", () => {
    const named = new Set(ASSUMPTIONS.map((assumption) => assumption.switch));
    expect(Object.keys(DEFAULT_ASSUMPTIONS).filter((key) => !named.has(key as keyof typeof DEFAULT_ASSUMPTIONS))).toEqual([]);
    expect(ASSUMPTIONS.length).toBeGreaterThan(30);
  });
});
