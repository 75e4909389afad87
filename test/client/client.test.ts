/** The client: what leaves for a call, and what is refused before anything leaves. */
import { describe, expect, test } from "vitest";
import { createClient, type Client, type Exchange } from "../../src/client/client.ts";
import { methods } from "../../src/client/methods.ts";
import type { Transport, WireAnswer, WireRequest } from "../../src/client/transport.ts";
import type { Call, Outcome } from "../../src/contract/call.ts";
import type { Observation } from "../../src/contract/reading/pinned-fields.ts";
import { ENDPOINT_ROWS, OPERATIONS, type EndpointSet } from "../../src/contract/operations.ts";
import { resolveProfile, shippedProfile, type Profile } from "../../src/contract/profile/profile.ts";
import { Refused } from "../../src/core/errors.ts";
import type { JsonObject } from "../../src/core/json.ts";
import { Scrubber } from "../../src/core/scrubber.ts";
import { Secret } from "../../src/core/secret.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";

const key = new Secret("sk_live_0123456789");

interface Probe {
  readonly client: Client;
  readonly sent: WireRequest[];
  readonly drift: [string, readonly Observation[]][];
}

function probe(profile: Profile, body = '{"id":"x1"}', baseUrl = "http://net.test/v1"): Probe {
  const sent: WireRequest[] = [];
  const drift: Probe["drift"] = [];
  const client = createClient({
    profile,
    baseUrl,
    clock: virtualClock(),
    transport: (request) => {
      sent.push(request);
      return Promise.resolve({ kind: "answer", status: 200, headers: {}, text: body, elapsedMs: 1 });
    },
    onDrift: (operation, observations) => void drift.push([operation, observations]),
  });
  return { client, sent, drift };
}

const INPUTS: Record<string, JsonObject> = {
  "auth.refresh": { refreshToken: "r" },
  "agents.create": { handle: "h" },
  "posts.create": { content: "c" },
  "posts.reply": { content: "c" },
  "jobs.create": { title: "t", description: "d" },
  "jobs.submit": { deliverable: { a: 1 } },
  "search.web": { query: "q" },
  "search.agents": { query: "q" },
  "search.jobs": { query: "q" },
  "webhooks.create": { url: "https://me.example/hook" },
};

test.each(ENDPOINT_ROWS)("Set $set: $operation leaves as $method $path", async ({ set, operation, method, path }) => {
  const { client, sent } = probe(shippedProfile(set));
  const needsTarget = OPERATIONS[operation].target !== undefined;
  await client.send({ operation, input: INPUTS[operation] ?? {}, ...(needsTarget ? { target: "t/1 ü" } : {}) }, { key });
  expect(sent).toHaveLength(1);
  expect(sent[0]).toMatchObject({ method, origin: "http://net.test", path: path.replace(/:\w+/, "t%2F1%20%C3%BC") });
  expect(sent[0]?.headers["authorization"]).toBe("Bearer sk_live_0123456789");
  expect(sent[0]?.headers["content-type"]).toBe(sent[0]?.body === undefined ? undefined : "application/json");
  const mayHaveBody = method !== "GET" && method !== "DELETE";
  expect(sent[0]?.body === undefined || mayHaveBody).toBe(true);
});

test("a profile's templates, words, headers and key place shape the request", async () => {
  const profile = resolveProfile({
    extends: "set-b",
    auth: { header: "X-API-Key", prefix: "" },
    headers: { "X-Client": "retinue" },
    idempotencyHeader: "X-Once",
    operations: {
      "posts.reply": {
        path: "/v1/comments",
        body: { post: "{target}", text: "{content}", tags: ["{nothing}"] },
        input: { nothing: { type: "text" } },
      },
      "posts.vote": { path: "/v1/posts/:id/votes", body: { value: "{direction}" }, values: { direction: { up: 1, down: -1 } } },
      "posts.list": { query: { by: "{author}", sort: "new" } },
    },
    extra: {
      "bids.take": {
        method: "POST",
        path: "/v1/bids/{target}/{side}",
        target: "job",
        effect: "at-most-once",
        input: { side: { type: "text", required: true } },
        body: null,
      },
    },
  });
  const { client, sent } = probe(profile);
  const options = { key, idempotencyKey: "once-1" };
  await client.send({ operation: "posts.reply", target: "7", input: { content: "hi" } }, options);
  await client.send({ operation: "posts.vote", target: "7", input: { direction: "down" } }, options);
  await client.send({ operation: "posts.list", input: { author: "bo" } }, options);
  await client.send({ operation: "bids.take", target: "7", input: { side: "left" } }, options);
  expect(sent.map(({ method, path, body }) => [method, path, body])).toEqual([
    ["POST", "/v1/comments", '{"post":"7","text":"hi","tags":[]}'],
    ["POST", "/v1/posts/7/votes", '{"value":-1}'],
    ["GET", "/v1/posts?by=bo&sort=new", undefined],
    ["POST", "/v1/bids/7/left", undefined],
  ]);
  expect(sent[0]?.headers).toMatchObject({ "x-api-key": "sk_live_0123456789", "x-client": "retinue", "x-once": "once-1" });
  expect(sent[0]?.headers["authorization"]).toBeUndefined();
  expect(sent[2]?.headers["x-once"]).toBeUndefined();
});

describe("refused before any request", () => {
  test.each<[string, EndpointSet, string, string | undefined, JsonObject, string, string]>([
    ["an unknown operation", "b", "posts.shout", undefined, {}, "operation_unknown", "posts.shout"],
    ["an operation of the other set", "b", "search.web", undefined, { query: "x" }, "operation_not_in_set", "Set A has it"],
    ["an operation of the other set", "a", "webhooks.list", undefined, {}, "operation_not_in_set", "Set B has it"],
    ["a name that every object has", "b", "constructor", undefined, {}, "operation_unknown", "constructor"],
  ])("%s (Set %s)", async (_, set, operation, target, input, code, says) => {
    const { client, sent } = probe(shippedProfile(set));
    const call = { operation, input, ...(target === undefined ? {} : { target }) };
    const error = await client.send(call, { key }).catch((thrown: unknown) => thrown);
    expect(error).toBeInstanceOf(Refused);
    expect(error).toMatchObject({ code, message: expect.stringContaining(says) as string });
    expect(() => client.check(call)).toThrow(Refused);
    expect(sent).toEqual([]);
  });
});

test("a changed shape is reported with the operation", async () => {
  let text = '[{"id":"p1","content":"x"}]';
  const seen: unknown[] = [];
  const client = createClient({
    profile: shippedProfile("b"),
    baseUrl: "http://net.test",
    clock: virtualClock(),
    transport: () => Promise.resolve({ kind: "answer", status: 200, headers: {}, text, elapsedMs: 1 }),
    onDrift: (operation, observations) => void seen.push([operation, observations.map(({ kind, path }) => `${kind} ${path}`)]),
  });
  const api = methods((call) => client.send(call, { key }));
  expect(await api.posts.list()).toMatchObject({ class: "confirmed" });
  text = '[{"uuid":"p2","content":"x"}]';
  expect(await api.posts.list()).toMatchObject({ class: "unknown", unreadable: true });
  expect(seen).toEqual([["posts.list", ["winner-change id at uuid"]]]);
});

test("ids beyond 2^53 come through a whole exchange exactly", async () => {
  const { client } = probe(shippedProfile("b"), '{"posts":[{"id":9007199254740993,"author_id":18446744073709551615}]}');
  const outcome = await client.send({ operation: "posts.list", input: {} }, { key });
  expect(outcome).toMatchObject({ items: [{ id: "9007199254740993", authorId: "18446744073709551615" }] });
});

test("a send costs little: 5,000 of them in well under a second of work", async () => {
  const { client } = probe(
    shippedProfile("b"),
    '{"id":"r1","content":"hello","author":{"id":"a1","handle":"bo"},"created_at":"2026-01-01T00:00:00Z"}',
  );
  const call = { operation: "posts.reply", target: "p1", input: { content: "hi" } };
  await client.send(call, { key });
  // Of this process's own time: what others do on the machine is not what a send costs.
  const started = process.cpuUsage();
  for (let i = 0; i < 5_000; i++) await client.send(call, { key });
  const { user, system } = process.cpuUsage(started);
  expect((user + system) / 5_000).toBeLessThan(100); // in µs each
});

describe("a network that repeats the key, or what a call told it", () => {
  const said = "sk_live_0123456789 \\u0073k_live_0123456789 sk%5Flive_0123456789 the-hook-secret-77 SK_LIVE_0123456789";
  const fields = `"id":"x-sk_live_0123456789-1","type":"${said}","status":"${said}","message":"${"m".repeat(990)}${said}","${said}":["${said}"]`;
  const body = `{${fields},"error":{"code":"no-sk_live_0123456789","message":"${"m".repeat(990)}${said}"},"approval":{"id":"ap-sk_live_0123456789"}}`;
  const record = `{${fields},"content":"${said}","url":"https://me.example/${said}","secret":"the-hook-secret-77","api_key":"sk_live_0123456789"}`;
  const headers = {
    "x-said": said,
    "x-sk_live_0123456789": "1",
    link: `<http://net.test/v1/posts?cursor=c2&key=sk_live_0123456789>; rel="next"`,
  };
  const answer = (status: number, text: string): WireAnswer => ({ kind: "answer", status, headers, text, elapsedMs: 1 });
  const heard = async (wire: WireAnswer, call: Call): Promise<Exchange> => {
    const scrubber = new Scrubber();
    // A read knows of the webhook's secret only by another request.
    if (call !== WRITE) scrubber.add(new Secret("the-hook-secret-77"));
    const transport: Transport = () => Promise.resolve(wire);
    const client = createClient({
      profile: shippedProfile("b"),
      baseUrl: "http://net.test/v1",
      clock: virtualClock(),
      transport,
      scrubber,
    });
    return client.exchange(call, { key });
  };
  const READ: Call = { operation: "posts.get", target: "p", input: {} };
  const LIST: Call = { operation: "posts.list", input: {} };
  const WRITE: Call = { operation: "webhooks.create", input: { url: "https://me.example/hook", secret: "the-hook-secret-77" } };
  const pending = body.replace(/"status":"[^"]*"/, '"status":"pending_approval"');
  test.each<[string, Outcome["class"], WireAnswer, Call]>([
    ["a read", "confirmed", answer(200, record), READ],
    ["a list", "confirmed", answer(200, `{"items":[${record}],"note":"${said}"}`), LIST],
    ["a write", "confirmed", answer(201, record), WRITE],
    ["a refusal", "refused", answer(422, body), WRITE],
    ["a refusal with a good status", "refused", answer(200, `{"ok":false,${body.slice(1)}`), READ],
    ["a wait", "limited", answer(429, body), WRITE],
    ["a refused key", "unauthorized", answer(401, body), WRITE],
    ["an approval", "pending", answer(202, pending), WRITE],
    ["a redirect", "refused", answer(302, said), READ],
    ["what is no JSON", "unknown", answer(200, `<p>${said}</p>`), READ],
    ["a failure", "unknown", answer(500, said), WRITE],
    ["an answer that broke off", "unknown", { kind: "unknown", reason: `reset by ${said}`, status: 200, headers }, WRITE],
    ["no answer", "never-left", { kind: "never-left", reason: `no way to ${said}` }, WRITE],
  ])("has it taken out of %s", async (_what, outcome, wire, call) => {
    const exchange = await heard(wire, call);
    expect(exchange.outcome.class).toBe(outcome);
    const all = JSON.stringify(exchange).toLowerCase();
    expect(all).toContain("[secret]");
    for (const part of ["live_012", "live_0123456789", "\\u0073", "5flive", "hook-secret-77"]) expect(all).not.toContain(part);
  });

  test("still has its records read, each with an id of its own", async () => {
    const items = ["-a", "-b", "-c"].map((tail) => record.replace('-1"', `${tail}"`));
    const { outcome } = await heard(answer(200, `{"items":[${items.join()}]}`), LIST);
    expect(outcome).toMatchObject({
      items: [{ id: "x-[secret]-a" }, { id: "x-[secret]-b" }, { id: "x-[secret]-c" }],
      next: { url: expect.stringContaining("cursor=c2&key=[secret]") as string },
    });
  });

  test("hands a token to the caller alone, also when it is handed out twice", async () => {
    const set = shippedProfile("a");
    const token = `{"access_token":"at_first_token_1","refresh_token":"rt_first_token_1","expires_in":60,"note":"at_first_token_1 rt_first_token_1"}`;
    const scrubber = new Scrubber();
    const client = createClient({
      profile: set,
      baseUrl: "http://net.test",
      clock: virtualClock(),
      scrubber,
      transport: ({ path }) =>
        Promise.resolve(answer(200, path.includes("auth") ? token : `{"items":[{"id":"p","content":"at_first_token_1"}]}`)),
    });
    for (const call of [
      { operation: "auth.token", input: {} },
      { operation: "auth.refresh", input: { refreshToken: "rt_first_token_1" } },
    ]) {
      const { outcome, wire } = await client.exchange(call, { key });
      const { secrets, ...rest } = outcome.class === "confirmed" ? outcome : {};
      expect([secrets?.accessToken?.reveal(), secrets?.refreshToken?.reveal()]).toEqual(["at_first_token_1", "rt_first_token_1"]);
      expect(JSON.stringify([rest, wire])).not.toMatch(/[ar]t_first/);
    }
    expect(JSON.stringify(await client.send(LIST, { key }))).not.toContain("at_first");
    expect(scrubber.clean("at_first_token_1")).toBe("[secret]");
  });

  test("blanks nothing else because an agent's public record names a key", async () => {
    const scrubber = new Scrubber();
    const client = createClient({
      profile: shippedProfile("b"),
      baseUrl: "http://net.test/v1",
      clock: virtualClock(),
      scrubber,
      transport: () => Promise.resolve(answer(200, `{"id":"a1","handle":"quill","key":"ordinary words"}`)),
    });
    await client.send({ operation: "agents.get", target: "a1", input: {} }, { key });
    expect(scrubber.holds("ordinary words")).toBe(false);
  });
});
