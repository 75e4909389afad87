/** The socket: what a hostile or broken server can do to a request, over real TCP. */
import { createServer, type RequestListener, type Server } from "node:http";
import { createServer as createTcpServer, type AddressInfo, type Server as TcpServer, type Socket } from "node:net";
import { gzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "vitest";
import manifest from "../../package.json" with { type: "json" };
import { createTransport, type SocketTransport, type WireAnswer, type WireRequest } from "../../src/client/transport.ts";
import { systemClock } from "../../src/core/clock.ts";
import { heldDeadline } from "../harness/held-deadline.ts";

const KIB = 1_024;
const closers: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function listen(server: Server | TcpServer): Promise<string> {
  const sockets = new Set<Socket>();
  server.on("connection", (socket: Socket) => {
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket));
    socket.on("error", () => undefined); // the client hangs up on purpose in these tests
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  closers.push(
    () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  );
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
}

const http = (listener: RequestListener): Promise<string> => listen(createServer(listener));
/** Answers every connection's first bytes with what `reply` writes. */
const tcp = (reply: (socket: Socket) => void): Promise<string> =>
  listen(createTcpServer((socket) => void socket.once("data", () => reply(socket))));

function transport(options: Partial<Parameters<typeof createTransport>[0]> = {}): SocketTransport {
  const made = createTransport({ clock: systemClock(), connectTimeoutMs: 2_000, ...options });
  closers.push(() => made.close());
  return made;
}

function request(origin: string, more: Partial<WireRequest> = {}): WireRequest {
  return {
    method: "POST",
    origin,
    path: "/v1/posts",
    headers: { "content-type": "application/json" },
    body: '{"content":"x"}',
    deadlineMs: 5_000,
    ...more,
  };
}

test("a plain answer comes back whole", async () => {
  const origin = await http((incoming, response) => {
    let body = "";
    incoming.on("data", (chunk: Buffer) => (body += chunk.toString()));
    incoming.on("end", () => response.writeHead(201, { "x-a": "1" }).end(`${incoming.method} ${incoming.url} ${body} é`));
  });
  const answer = await transport().send(request(origin));
  expect(answer).toMatchObject({ kind: "answer", status: 201, text: 'POST /v1/posts {"content":"x"} é', headers: { "x-a": "1" } });
});

test("connections are kept and used again", async () => {
  let connections = 0;
  const server = createServer((_, response) => response.end("{}"));
  server.on("connection", () => connections++);
  const origin = await listen(server);
  const { send } = transport();
  for (let i = 0; i < 20; i++) await send(request(origin));
  // A second one may open while the first is just being freed.
  expect(connections).toBeLessThanOrEqual(2);
});

describe("never left", () => {
  test("a request whose caller refuses it right before its first byte, however long it waited for a socket", async () => {
    const came: (string | undefined)[] = [];
    const held = Promise.withResolvers<void>();
    const origin = await http((incoming, response) => {
      came.push(incoming.url);
      void held.promise.then(() => response.end("{}"));
    });
    const { send } = transport({ connections: 1 });
    let isCurrent = true;
    const onLeaving = (): void => {
      if (!isCurrent) throw new Error("the store is lost");
    };
    const first = send(request(origin, { path: "/first", onLeaving }));
    const second = send(request(origin, { path: "/second", onLeaving }));
    const third = send(request(origin, { path: "/third" }));
    await expect.poll(() => came).toEqual(["/first"]);
    isCurrent = false;
    held.resolve();
    expect(await first).toMatchObject({ kind: "answer" });
    expect(await second).toEqual({ kind: "never-left", reason: "the store is lost" });
    expect(await third).toMatchObject({ kind: "answer" });
    expect(came).toEqual(["/first", "/third"]);
  });

  test("when nobody listens", async () => {
    const origin = await http((_, response) => response.end());
    await closers.pop()?.();
    expect(await transport().send(request(origin))).toMatchObject({ kind: "never-left" });
  });

  test("when the name does not exist", async () => {
    expect(await transport().send(request("http://no-such-host.invalid"))).toMatchObject({ kind: "never-left" });
  });

  test("when TLS cannot be agreed on", async () => {
    const origin = await http((_, response) => response.end());
    expect(await transport().send(request(origin.replace("http:", "https:")))).toMatchObject({ kind: "never-left" });
  });

  test("when aborted before, or while it waits for a socket; and then it does not arrive later", async () => {
    const paths: string[] = [];
    const held: (() => void)[] = [];
    const origin = await http((incoming, response) => {
      paths.push(incoming.url ?? "");
      held.push(() => response.end("{}"));
    });
    const { send } = transport({ connections: 1 });
    const first = send(request(origin, { path: "/first" }));
    const abort = new AbortController();
    const second = send(request(origin, { path: "/second", signal: abort.signal }));
    const late = send(request(origin, { path: "/late", deadlineMs: 30 }));
    abort.abort();
    expect(await second).toEqual({ kind: "never-left", reason: "aborted" });
    expect(await late).toMatchObject({ kind: "never-left" });
    expect(await send(request(origin, { signal: AbortSignal.abort() }))).toEqual({ kind: "never-left", reason: "aborted" });
    while (held.length === 0) await new Promise(setImmediate);
    held.pop()?.();
    expect(await first).toMatchObject({ kind: "answer" });
    const last = send(request(origin, { path: "/last" }));
    while (held.length === 0) await new Promise(setImmediate);
    held.pop()?.();
    await last;
    expect(paths).toEqual(["/first", "/last"]);
  });

  test("when a header cannot be sent", async () => {
    const origin = await http((_, response) => response.end());
    const answer = await transport().send(request(origin, { headers: { authorization: "Bearer hunter\r\n22" } }));
    expect(answer).toMatchObject({ kind: "never-left" });
    expect(JSON.stringify(answer)).not.toContain("hunter");
  });
});

describe("unknown", () => {
  const head = "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n";
  test.each<[string, (socket: Socket) => void]>([
    ["the connection is reset before an answer", (socket) => socket.resetAndDestroy()],
    ["the connection is closed before an answer", (socket) => socket.end()],
    [
      "the connection is reset in mid-body",
      (socket) => socket.write(`${head}content-length: 100\r\n\r\n{"id":`, () => socket.resetAndDestroy()),
    ],
    ["the body is shorter than announced", (socket) => socket.end(`${head}content-length: 100\r\n\r\n{"id":1}`)],
    ["a chunked body has no end", (socket) => socket.end(`${head}transfer-encoding: chunked\r\n\r\n8\r\n{"id":1}\r\n`)],
    ["what comes is no HTTP", (socket) => socket.end("SSH-2.0-OpenSSH_9.6\r\n")],
    ["headers never end", (socket) => socket.write(`${head}x-big: ${"a".repeat(20 * KIB)}\r\n\r\n{}`)],
    ["the body is announced too large", (socket) => socket.write(`${head}content-length: ${65 * KIB}\r\n\r\n{`)],
    [
      "the body grows too large",
      (socket) => socket.write(`${head}transfer-encoding: chunked\r\n\r\n${(80 * KIB).toString(16)}\r\n${"a".repeat(80 * KIB)}\r\n`),
    ],
    ["compression hides a bomb", (socket) => bomb(socket, head)],
    ["compression is broken", (socket) => socket.end(`${head}content-encoding: gzip\r\ncontent-length: 4\r\n\r\nabcd`)],
    ["compression is unheard of", (socket) => socket.end(`${head}content-encoding: lzma\r\ncontent-length: 4\r\n\r\nabcd`)],
    ["the server says nothing", () => undefined],
    ["the server stops in mid-body", (socket) => socket.write(`${head}content-length: 9\r\n\r\n{`)],
  ])("when %s", async (_, reply) => {
    let isReplied = false;
    const origin = await tcp((socket) => {
      reply(socket);
      isReplied = true;
    });
    const answer = await transport({ maxBodyBytes: 64 * KIB, clock: heldDeadline(() => isReplied) }).send(request(origin));
    expect(answer.kind).toBe("unknown");
  });

  test("when it is too large, at once and not at the deadline", async () => {
    const origin = await tcp((socket) =>
      socket.write(`${head}transfer-encoding: chunked\r\n\r\n${(80 * KIB).toString(16)}\r\n${"a".repeat(80 * KIB)}\r\n`),
    );
    const answer = await transport({ maxBodyBytes: 64 * KIB }).send(request(origin, { deadlineMs: 60_000 }));
    expect(answer).toMatchObject({ kind: "unknown", reason: "the answer is larger than 65536 bytes" });
  });

  function bomb(socket: Socket, head: string): void {
    const packed = gzipSync(Buffer.alloc(8 * KIB * KIB));
    socket.write(`${head}content-encoding: gzip\r\ncontent-length: ${packed.length}\r\n\r\n`);
    socket.write(packed);
  }

  test("when a silence lasts longer than allowed, before the deadline", async () => {
    const origin = await tcp((socket) => socket.write(`${head}content-length: 9\r\n\r\n{`));
    const answer = await transport({ idleTimeoutMs: 200 }).send(request(origin, { deadlineMs: 60_000 }));
    expect(answer).toMatchObject({ kind: "unknown", reason: expect.stringContaining("UND_ERR_BODY_TIMEOUT") });
  });

  test("when a byte now and then keeps an answer from ending", async () => {
    const timers: NodeJS.Timeout[] = [];
    let written = 0;
    const origin = await tcp((socket) => {
      socket.write(`${head}content-length: 1000\r\n\r\n`);
      timers.push(setInterval(() => void (socket.write("a") && written++), 10));
    });
    const clock = heldDeadline(() => written > 0);
    const answer = await transport({ clock }).send(request(origin, { deadlineMs: 2_000 }));
    for (const timer of timers) clearInterval(timer);
    expect(answer).toMatchObject({ kind: "unknown", status: 200, reason: "no complete answer within 2s" });
    expect(written).toBeLessThan(1_000);
  });

  test("when aborted after it may have left", async () => {
    const abort = new AbortController();
    const origin = await http(() => abort.abort());
    expect(await transport().send(request(origin, { signal: abort.signal }))).toMatchObject({ kind: "unknown", reason: "aborted" });
  });

  test("when a kept connection is reset under the next request, which is not sent again", async () => {
    let requests = 0;
    const origin = await http((incoming, response) => {
      requests++;
      if (requests === 1) response.end("{}");
      else incoming.socket.resetAndDestroy();
    });
    const { send } = transport({ connections: 1 });
    expect((await send(request(origin))).kind).toBe("answer");
    expect((await send(request(origin))).kind).toBe("unknown");
    expect(requests).toBe(2);
  });
});

test("a redirect is an answer, and is not followed", async () => {
  const seen: string[] = [];
  const origin = await http((incoming, response) => {
    seen.push(incoming.url ?? "");
    response.writeHead(307, { location: "/elsewhere" }).end();
  });
  expect(await transport().send(request(origin))).toMatchObject({ kind: "answer", status: 307 });
  expect(seen).toEqual(["/v1/posts"]);
});

test("we ask for no compression, and read it within the bound all the same", async () => {
  let asked: string | undefined;
  const origin = await http((incoming, response) => {
    asked = String(incoming.headers["accept-encoding"]);
    response.writeHead(200, { "content-encoding": "gzip" }).end(gzipSync('{"id":1}'));
  });
  const answer = await transport().send(request(origin, { headers: { "accept-encoding": "identity" } }));
  expect(asked).toBe("identity");
  expect(answer).toMatchObject({ kind: "answer", text: '{"id":1}' });
});

test("informational answers before the real one are no answers", async () => {
  const origin = await tcp((socket) =>
    socket.end("HTTP/1.1 103 Early Hints\r\nlink: </x>\r\n\r\nHTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}"),
  );
  expect(await transport().send(request(origin))).toMatchObject({ kind: "answer", status: 200, text: "{}" });
});

test("a hundred requests at once share the sockets and all come back", async () => {
  const origin = await http((_, response) => response.end("{}"));
  const { send } = transport({ connections: 4 });
  const answers: WireAnswer[] = await Promise.all(Array.from({ length: 100 }, () => send(request(origin))));
  expect(answers.filter(({ kind }) => kind === "answer")).toHaveLength(100);
});

test("undici's agent is imported by its own file, which is the one that the pinned release exports", async () => {
  const { Agent } = await import("undici");
  const file = await import("undici/lib/dispatcher/agent.js");
  expect(file.default).toBe(Agent);
  expect(manifest.dependencies.undici).toMatch(/^\d+\.\d+\.\d+$/);
});
