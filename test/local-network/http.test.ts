/** The HTTP shell: what it adds to the core, and what it withstands. */
import net from "node:net";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { seededRandom } from "../../src/core/random.ts";
import type { Listening, LocalNetwork } from "../../src/local-network/options.ts";
import { createLocalNetwork } from "../../src/local-network/local-network.ts";
import { askingByHttp, records, textAt, type Ask } from "../harness/visitor.ts";

let network: LocalNetwork;
let listening: Listening;
let key: string;
let ask: Ask;
const errors: unknown[] = [];

beforeEach(async () => {
  errors.length = 0;
  network = createLocalNetwork({ clock: systemClock(), random: seededRandom(2) });
  listening = await network.listen({ onError: (error) => errors.push(error) });
  key = network.provision({ handle: "scout", tier: "pro" }).key;
  ask = askingByHttp(listening.baseUrls.b ?? "", key);
});
afterEach(async () => {
  await listening.close();
  await network.stop();
  if (errors.length > 0) throw new AggregateError(errors, "the network had faults of its own");
});

/** Sends bytes as they are and gives the answer's first line. */
function raw(bytes: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = net.connect(Number(new URL(listening.origin).port), "127.0.0.1", () => socket.write(bytes));
    let text = "";
    socket.on("data", (chunk) => (text += chunk.toString()));
    socket.on("error", reject);
    socket.on("close", () => resolve(text.split("\r\n", 1)[0] ?? ""));
  });
}

describe("over HTTP", () => {
  it("queries and paths arrive decoded", async () => {
    await ask("POST", "/posts", { body: { content: "ünï — ✓ 😀" } });
    const found = records(await ask("GET", "/posts", { query: { author: "scout", limit: "1" } }));
    expect(found[0]?.["content"]).toBe("ünï — ✓ 😀");
    expect((await ask("GET", `/posts/${encodeURIComponent("post_1")}?x=%E2%9C%93`)).status).toBe(200);
    expect((await ask("GET", "/posts/%ZZ")).status).toBe(400);
  });

  it("a body of nearly the limit is taken, one over it is 413, one far over it too", async () => {
    const input = (length: number) => ask("POST", "/jobs", { body: { title: "t", description: "d", input: "x".repeat(length) } });
    expect((await input(1_000_000)).status).toBe(201);
    expect((await input(1_100_000)).status).toBe(413);
    expect((await input(9_000_000)).status).toBe(413);
  });

  it("methods and addresses that do not exist are refused, not dropped", async () => {
    expect((await ask("PUT", "/posts")).status).toBe(405);
    expect((await ask("OPTIONS", "/posts")).status).toBe(405);
    expect((await askingByHttp(listening.origin, key)("GET", "/nowhere")).status).toBe(404);
    expect((await askingByHttp(listening.origin, key)("GET", "/b/v1/v1/posts")).status).toBe(404);
  });

  it("malformed requests neither crash it nor reach the world", async () => {
    expect(await raw("NONSENSE\r\n\r\n")).toContain("400");
    expect(await raw(`GET /b/v1/posts HTTP/1.1\r\nhost: x\r\nx: ${"y".repeat(40_000)}\r\n\r\n`)).toMatch(/431|400/);
    expect(await raw("POST /b/v1/posts HTTP/1.1\r\nhost: x\r\ncontent-length: 5\r\ntransfer-encoding: chunked\r\n\r\n0\r\n\r\n")).toContain(
      "400",
    );
    expect(network.truth.requests()).toEqual([]);
    expect((await ask("GET", "/posts")).status).toBe(200);
  });

  it("a port in use is said so", async () => {
    const port = Number(new URL(listening.origin).port);
    await expect(network.listen({ port })).rejects.toMatchObject({ code: "port_in_use" });
  });

  it("a fault of its own is a 500 that somebody is told of", async () => {
    const broken: LocalNetwork = { ...network, handle: () => Promise.reject(new Error("bug")) };
    const { listen } = await import("../../src/local-network/server/http-server.ts");
    const told: unknown[] = [];
    const other = await listen(broken, { onError: (error) => told.push(error) });
    expect((await askingByHttp(other.baseUrls.b ?? "", key)("GET", "/posts")).status).toBe(500);
    expect(told).toEqual([expect.objectContaining({ message: "bug" })]);
    await other.close();
  });

  it("both sets speak of the same world", async () => {
    const { json } = await ask("POST", "/posts", { body: { content: "one world" } });
    const seen = await askingByHttp(listening.baseUrls.a ?? "", key)("GET", `/v1/posts/${textAt(json, "id")}`);
    expect(seen.json).toMatchObject({ content: "one world", author: { handle: "scout" }, likes: 0 });
  });
});
