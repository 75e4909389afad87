/** The MCP server over HTTP: real clients with the token, and nobody else. */
import { request } from "node:http";
import { expect, onTestFinished, test } from "vitest";
import { Secret } from "../../src/core/secret.ts";
import type { Desk } from "../../src/mcp/mcp-server.ts";
import { serveOverHttp } from "../../src/mcp/over-http.ts";
import { deskServer } from "../harness/mcp-desk.ts";
import { newOverHttp, oldOverHttp, textsOf } from "../harness/mcp-project.ts";

const TOKEN = "a-token-of-this-test";

async function served(desk: Partial<Desk> = {}) {
  const { sdk, factory, calls, errors } = await deskServer(desk);
  const server = await serveOverHttp(sdk, factory, { port: 0, token: new Secret(TOKEN), onError: (error) => errors.push(error) });
  onTestFinished(() => server.close());
  return { url: server.url, token: TOKEN, calls };
}

/** A request as any program could send it. */
function send(url: string, headers: { readonly [name: string]: string }, body: string, method = "POST") {
  return new Promise<{ readonly status: number | undefined; readonly text: string }>((resolve, reject) => {
    const sent = request(url, { agent: false, method, headers: { "content-type": "application/json", ...headers } }, (answer) => {
      let text = "";
      answer.setEncoding("utf8").on("data", (chunk: string) => void (text += chunk));
      answer.on("end", () => resolve({ status: answer.statusCode, text }));
    });
    sent.on("error", reject);
    sent.end(body);
  });
}

const CALL = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "posts_list", arguments: {} } });
const ACCEPT = "application/json, text/event-stream";
const BEARER = { authorization: `Bearer ${TOKEN}` };

test.each([
  ["the 2026-07-28 protocol", newOverHttp],
  ["the 2025 protocol", oldOverHttp],
])("a client of %s lists and calls", async (_name, connect) => {
  const server = await served();
  const client = await connect(server);
  expect((await client.listTools()).tools.map(({ name }) => name)).toContain("posts_create");
  expect(textsOf(await client.callTool({ name: "posts_list", arguments: { limit: 1 } }))[1]).toBe('["hello"]');
  expect(server.calls).toEqual([{ handle: "scout", operation: "posts.list", input: { limit: 1 } }]);
});

test.each([
  ["no token", {}, 401, "token_wrong"],
  ["a wrong token", { authorization: "Bearer another" }, 401, "token_wrong"],
  ["a forged origin", { ...BEARER, origin: "https://evil.example" }, 403, "origin_refused"],
  ["an origin that is none", { ...BEARER, origin: "null" }, 403, "origin_refused"],
  ["the host of a rebound name", { ...BEARER, host: "evil.example" }, 403, "host_refused"],
])("a request with %s calls nothing", async (_name, headers, status, code) => {
  const { url, calls } = await served();
  const answer = await send(url, headers, CALL);
  expect([answer.status, JSON.parse(answer.text)]).toMatchObject([status, { error: { code } }]);
  expect(calls).toEqual([]);
});

test("a body over the bound, one that is no JSON, and another path are refused", async () => {
  const { url, calls } = await served();
  expect(await send(url, BEARER, `"${"a".repeat(1_100_000)}"`)).toMatchObject({ status: 413 });
  expect((await send(url, { ...BEARER, accept: ACCEPT }, "{")).status).toBe(400);
  expect(await send(url.replace("/mcp", "/other"), BEARER, CALL)).toMatchObject({ status: 404 });
  expect(calls).toEqual([]);
});

test("a client that floods is cut off at 64 connections, no more than 4 calls run at once, and the next client is served", async () => {
  const gate = Promise.withResolvers<void>();
  let [running, most] = [0, 0];
  const server = await served({
    call: async () => {
      most = Math.max(most, ++running);
      await gate.promise;
      running--;
      return { kind: "read", value: [] };
    },
  });
  const flood = Array.from({ length: 200 }, () => send(server.url, { ...BEARER, accept: ACCEPT }, CALL));
  await Promise.any(
    flood.map((answer) =>
      answer.then(
        () => Promise.reject(new Error("served")),
        () => "cut off",
      ),
    ),
  );
  gate.resolve();
  const ends = await Promise.allSettled(flood);
  expect(ends.filter(({ status }) => status === "rejected").length).toBeGreaterThan(0);
  expect(most).toBe(4);
  expect(textsOf(await (await newOverHttp(server)).callTool({ name: "posts_list", arguments: {} }))[1]).toBe("[]");
});
