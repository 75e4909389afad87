/** Each fault, asked for and then seen. */
import { describe, expect, it } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { depthOf, parseJson } from "../../src/core/json.ts";
import { seededRandom } from "../../src/core/random.ts";
import { SECOND } from "../../src/core/units.ts";
import { ConnectionLost } from "../../src/local-network/server/exchange.ts";
import {
  LIMIT_DIALECTS,
  SPOILT_BODIES,
  type LimitDialect,
  type Fault,
  type SpoiltBody,
} from "../../src/local-network/faults/network-faults.ts";
import { createLocalNetwork } from "../../src/local-network/local-network.ts";
import { askingByHttp, lab, records, textAt, type Heard } from "../harness/visitor.ts";

/** One specialist, one fault for its next post, and what is in the world afterwards. */
function struck(fault: Fault) {
  const room = lab();
  const scout = room.join("scout");
  const rule = room.network.faults.add({ fault, times: 1, match: { operation: "posts.create" } });
  const post = (): Promise<Heard> => scout.b("POST", "/v1/posts", { body: { content: "once" } });
  return { ...room, scout, fault: rule, post, posts: () => room.network.truth.effects({ operation: "posts.create" }).length };
}

describe("a request", () => {
  it("is lost before it has an effect, and costs nothing", async () => {
    const { post, posts, network } = struck({ kind: "lose-request" });
    await expect(post()).rejects.toThrow(ConnectionLost);
    expect(posts()).toBe(0);
    expect(network.summary().network.requests).toBe(0);
  });

  it("has its effect though its answer is lost", async () => {
    const { post, posts } = struck({ kind: "lose-reply" });
    await expect(post()).rejects.toThrow(ConnectionLost);
    expect(posts()).toBe(1);
  });

  it("is answered late, the effect being at once", async () => {
    const { post, posts, clock } = struck({ kind: "delay-reply", ms: 40 * SECOND });
    const answer = post();
    await clock.advance(39 * SECOND);
    expect(posts()).toBe(1);
    await clock.advance(SECOND);
    expect((await answer).status).toBe(201);
  });

  it("reaches the network late", async () => {
    const { post, posts, clock } = struck({ kind: "delay-request", ms: 40 * SECOND });
    const answer = post();
    await clock.advance(39 * SECOND);
    expect(posts()).toBe(0);
    await clock.advance(SECOND);
    expect((await answer).status).toBe(201);
  });

  it("lands after its sender was told that the connection broke", async () => {
    const { post, posts, clock } = struck({ kind: "land-late", ms: 90 * SECOND });
    await expect(post()).rejects.toThrow(ConnectionLost);
    expect(posts()).toBe(0);
    await clock.advance(90 * SECOND);
    expect(posts()).toBe(1);
  });

  it("that is still on its way when the network stops never lands", async () => {
    const { post, network, clock } = struck({ kind: "land-late", ms: 90 * SECOND });
    await expect(post()).rejects.toThrow(ConnectionLost);
    await network.stop();
    expect(clock.pending()).toBe(0);
    await expect(post()).rejects.toThrow(ConnectionLost);
  });

  it.each([["delay-request"], ["delay-reply"]] as const)("under %s is lost when the network stops meanwhile", async (how) => {
    const { post, network, clock } = struck({ kind: how, ms: 90 * SECOND });
    const answer = post();
    const stopping = clock.advance(SECOND).then(() => network.stop());
    await expect(answer).rejects.toThrow(ConnectionLost);
    await stopping;
    expect(clock.pending()).toBe(0);
  });

  it("is processed twice, and the truth says so", async () => {
    const { post, network } = struck({ kind: "twice" });
    expect((await post()).status).toBe(201);
    expect(network.truth.duplicates()).toHaveLength(1);
    expect(network.truth.duplicates()[0]?.map(({ text }) => text)).toEqual(["once", "once"]);
  });

  it.each([
    ["before", 0],
    ["after", 1],
  ] as const)("fails with 503 %s its effect", async (when, effects) => {
    const { post, posts } = struck({ kind: "status", status: 503, when });
    expect((await post()).status).toBe(503);
    expect(posts()).toBe(effects);
  });

  it("is redirected", async () => {
    const { post, posts } = struck({ kind: "redirect", to: "https://elsewhere.example/v1/posts" });
    expect((await post()).headers["location"]).toBe("https://elsewhere.example/v1/posts");
    expect(posts()).toBe(0);
  });

  it.each([
    ["suspended", 403],
    ["challenge", 403],
    ["payment", 402],
  ] as const)("is stopped by %s with %i", async (answer, status) => {
    const { post, posts } = struck({ kind: "account", answer });
    expect((await post()).status).toBe(status);
    expect(posts()).toBe(0);
  });
});

const LIMITED: Readonly<Record<LimitDialect, Readonly<Record<string, string>>>> = {
  seconds: { "retry-after": "120" },
  date: { "retry-after": "Mon, 05 Jan 2026 00:02:00 GMT" },
  "past-date": { "retry-after": "Sun, 04 Jan 2026 23:00:00 GMT" },
  zero: { "retry-after": "0" },
  negative: { "retry-after": "-5" },
  huge: { "retry-after": "99999999999" },
  garbage: { "retry-after": "soon, please" },
  missing: {},
  body: {},
  "x-ratelimit": { "x-ratelimit-remaining": "0", "x-ratelimit-reset": `${Date.UTC(2026, 0, 5) / 1_000 + 120}` },
  "ratelimit-fields": { "ratelimit-remaining": "0", "ratelimit-reset": "120" },
  "ratelimit-draft": { ratelimit: '"hour";r=0;t=120' },
};

describe("a 429", () => {
  it.each(LIMIT_DIALECTS)("speaks %s", async (dialect) => {
    const { post, posts, network } = struck({ kind: "limited", dialect, seconds: 120 });
    const refused = await post();
    expect(refused.status).toBe(429);
    expect(refused.headers).toMatchObject(LIMITED[dialect]);
    expect("retry-after" in refused.headers).toBe("retry-after" in LIMITED[dialect]);
    expect(refused.text.includes('"retry_after":120')).toBe(dialect === "body");
    expect(posts()).toBe(0);
    expect(network.summary().network.refused429).toBe(0);
  });
});

const SPOILT: Readonly<Record<SpoiltBody, (heard: Heard) => void>> = {
  html: ({ text, headers }) => expect([text.slice(0, 6), headers["content-type"]]).toEqual(["<html>", "text/html"]),
  truncated: ({ text }) => expect(parseJson(text)).toBeUndefined(),
  huge: ({ text }) => expect(text.length).toBeGreaterThan(10_000_000),
  deep: ({ text }) => expect(depthOf(text)).toBe(100_000),
  "wrong-types": ({ json }) => expect(typeof json["content"]).toBe("number"),
  empty: ({ text }) => expect(text).toBe(""),
  garbage: ({ text }) => expect(parseJson(text)).toBeUndefined(),
};

describe("an answer", () => {
  it.each(SPOILT_BODIES)("comes %s, after its effect", async (body) => {
    const { post, posts } = struck({ kind: "body", body });
    SPOILT[body](await post());
    expect(posts()).toBe(1);
  });
});

describe("faults", () => {
  it("are injected only into what they match, as often as they say", async () => {
    const { join, network } = lab();
    const [scout, quill] = [join("scout"), join("quill")];
    const fault = network.faults.add({
      fault: { kind: "status", status: 500, when: "before" },
      match: { agent: "scout", writes: true, set: "b" },
      times: 2,
    });
    const write = (ask: typeof scout.b): Promise<number> =>
      ask("POST", "/v1/posts", { body: { content: "x" } }).then(({ status }) => status);
    expect(await write(quill.b)).toBe(201);
    expect(await write(scout.a)).toBe(201);
    expect((await scout.b("GET", "/v1/posts")).status).toBe(200);
    expect([await write(scout.b), await write(scout.b), await write(scout.b)]).toEqual([500, 500, 201]);
    expect(fault.hits).toBe(2);
  });

  it("with a probability strike as often as it says, the same requests for the same seed", async () => {
    const pattern = async (seed: number): Promise<string> => {
      const { join, network } = lab({ random: seededRandom(seed) });
      const { b } = join("scout");
      network.faults.add({ fault: { kind: "status", status: 500, when: "before" }, probability: 0.25 });
      let seen = "";
      for (let i = 0; i < 400; i++) seen += (await b("GET", "/v1/posts")).status === 500 ? "x" : ".";
      return seen;
    };
    const first = await pattern(1);
    expect(first.split("x").length - 1).toBeGreaterThan(70);
    expect(first.split("x").length - 1).toBeLessThan(130);
    expect(await pattern(1)).toBe(first);
    expect(await pattern(2)).not.toBe(first);
  });

  it("are over when removed or cleared", async () => {
    const { join, network } = lab();
    const { b } = join("scout");
    const fault = { kind: "lose-request" } as const;
    network.faults.add({ fault }).remove();
    network.faults.add({ fault });
    network.faults.clear();
    expect((await b("GET", "/v1/posts")).status).toBe(200);
  });
});

describe("a switched assumption", () => {
  it("read lag: what one just wrote is missing for a while, for its author", async () => {
    const { join, network, clock } = lab({ assume: { readLagMs: 5 * SECOND } });
    const { b } = join("scout");
    const id = textAt((await b("POST", "/v1/posts", { body: { content: "soon" } })).json, "id");
    expect(records(await b("GET", "/v1/posts"))).toEqual([]);
    expect((await b("GET", `/v1/posts/${id}`)).status).toBe(404);
    await clock.advance(5 * SECOND);
    expect(records(await b("GET", "/v1/posts"))).toHaveLength(1);
    expect(network.assumptions.readLagMs).toBe(5 * SECOND);
  });

  it("toggling votes: the same vote again takes it back", async () => {
    const { join, network } = lab();
    const [scout, quill] = [join("scout"), join("quill")];
    const id = textAt((await quill.b("POST", "/v1/posts", { body: { content: "vote" } })).json, "id");
    const vote = async (): Promise<unknown> => (await scout.b("POST", `/v1/posts/${id}/vote`, { body: { direction: "up" } })).json["votes"];
    expect([await vote(), await vote()]).toEqual([1, 1]);
    network.assume({ repeatedVote: "toggles" });
    expect([await vote(), await vote()]).toEqual([0, 1]);
  });

  it("one's own vote: told to each, said to be none, or left out", async () => {
    const { join, network } = lab();
    const [scout, quill] = [join("scout"), join("quill")];
    const id = textAt((await quill.b("POST", "/v1/posts", { body: { content: "vote" } })).json, "id");
    await scout.b("POST", `/v1/posts/${id}/vote`, { body: { direction: "up" } });
    const said = async (): Promise<unknown> => [
      (await scout.b("GET", `/v1/posts/${id}`)).json["my_vote"],
      (await quill.b("GET", `/v1/posts/${id}`)).json["my_vote"],
      (await scout.a("GET", `/v1/posts/${id}`)).json["liked"],
    ];
    expect(await said()).toEqual([1, 0, true]);
    network.assume({ ownVote: "blank" });
    expect(await said()).toEqual([0, 0, false]);
    network.assume({ ownVote: "left-out" });
    expect(await said()).toEqual([undefined, undefined, undefined]);
  });

  it("idempotency keys honoured: a repeated write acts once; ignored: twice", async () => {
    const { join, network } = lab();
    const { b } = join("scout");
    const post = (content: string): Promise<Heard> => b("POST", "/v1/posts", { body: { content }, headers: { "idempotency-key": "k-1" } });
    await post("hello");
    await post("hello");
    expect(network.truth.duplicates()).toHaveLength(1);
    network.assume({ idempotencyKeys: "honoured" });
    const [first, second] = [await post("once"), await post("once")];
    expect(second.json).toEqual(first.json);
    expect(second.headers["idempotency-replayed"]).toBe("true");
    expect(network.truth.effects({ operation: "posts.create" })).toHaveLength(3);
    expect((await post("something else")).status).toBe(422);
  });
});

describe("over real HTTP", () => {
  it("a lost answer resets the connection, and a truncated one ends early", async () => {
    const network = createLocalNetwork({ clock: systemClock(), random: seededRandom(1) });
    const { key } = network.provision({ handle: "scout", tier: "pro" });
    const listening = await network.listen();
    const ask = askingByHttp(listening.baseUrls.b ?? "", key);
    const post = (): Promise<Heard> => ask("POST", "/posts", { body: { content: "x" } });
    network.faults.add({ fault: { kind: "lose-reply" }, times: 1 });
    await expect(post()).rejects.toMatchObject({ code: "ECONNRESET" });
    network.faults.add({ fault: { kind: "body", body: "truncated" }, times: 1 });
    await expect(post()).rejects.toMatchObject({ code: "ECONNRESET" });
    expect(network.truth.effects({ operation: "posts.create" })).toHaveLength(2);
    expect((await post()).status).toBe(201);
    await listening.close();
    await network.stop();
  });
});
