/** Anybody may call the receiver: nothing that is not verified shapes a pattern, a log line or a cost, and all of it counts. */
import { once } from "node:events";
import { connect } from "node:net";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { resolveProfile } from "../../../src/contract/profile/profile.ts";
import { asHandle } from "../../../src/core/ids.ts";
import { createLogger } from "../../../src/core/log.ts";
import { Scrubber } from "../../../src/core/scrubber.ts";
import { Secret } from "../../../src/core/secret.ts";
import { virtualClock } from "../../../src/core/virtual-clock.ts";
import { createGate, type GateOptions } from "../../../src/webhooks/receiver/accept.ts";
import { createReceiver, MAX_BODY_BYTES, type SenderCheck, type Receiver } from "../../../src/webhooks/receiver/http.ts";
import { signDelivery } from "../../../src/webhooks/receiver/sign.ts";
import { SECRET } from "../../harness/webhook-secret.ts";

/** Of the log, for a few hundred bad requests: the same however large they are. */
const MAX_LOG_BYTES = 8_192;
const BURST = 60;
const STRANGER = "8.8.8.8";
const HEX = "0".repeat(64);

const open: Receiver[] = [];
const compiled: number[] = [];
beforeEach(() => {
  compiled.length = 0;
  vi.stubGlobal(
    "RegExp",
    new Proxy(RegExp, {
      construct(target, [source, flags]: [string | RegExp, string?]) {
        compiled.push(String(source).length);
        return new target(source, flags);
      },
    }),
  );
});
afterEach(async () => {
  vi.unstubAllGlobals();
  for (const receiver of open.splice(0)) await receiver.close();
});

async function receiving(options: Partial<GateOptions> = {}, { gate, timeoutMs }: { gate?: SenderCheck; timeoutMs?: number } = {}) {
  const clock = virtualClock();
  const lines: string[] = [];
  const log = createLogger({
    level: "debug",
    now: () => clock.now(),
    scrubber: new Scrubber(),
    sink: (line) => void lines.push(JSON.stringify(line)),
  });
  const own = createGate({
    clock,
    log,
    rules: resolveProfile({ extends: "set-b" }).webhooks,
    secretsOf: (handle) => (handle === asHandle("scout") ? [new Secret(SECRET)] : undefined),
    allowUnsigned: false,
    scrubber: new Scrubber(),
    put: async () => "stored",
    onHint: () => undefined,
    ...options,
  });
  const receiver = createReceiver({
    gate: gate ?? own,
    clock,
    onError: (error) => log.error("the webhook receiver failed", { message: String(error) }),
    ...(timeoutMs === undefined ? {} : { timeoutMs }),
  });
  open.push(receiver);
  const { url, port } = await receiver.listen({ port: 0, host: "127.0.0.1" });
  compiled.length = 0; // whatever the server's routes are made of
  const from = async (address: string, body: string | Buffer, { headers = {}, path = "scout" }: Extra = {}): Promise<number> => {
    const answer = await fetch(url + path, {
      method: "POST",
      headers: { "content-type": "application/json", "x-forwarded-for": address, ...headers },
      body: Uint8Array.from(Buffer.from(body)),
    });
    await answer.arrayBuffer();
    return answer.status;
  };
  return { gate: own, receiver, clock, from, url, port, logged: () => lines.join("\n"), signed: () => signed(clock.now()) };
}

interface Extra {
  readonly headers?: Readonly<Record<string, string>>;
  readonly path?: string;
}

function signed(at: number): { readonly body: Buffer; readonly headers: Readonly<Record<string, string>> } {
  return signDelivery({ scheme: "standard", secret: SECRET, payload: { id: "e1", type: "mention" }, id: "d1", at });
}

async function times<T>(count: number, once: () => Promise<T>): Promise<readonly T[]> {
  const all: T[] = [];
  for (let i = 0; i < count; i++) all.push(await once());
  return all;
}

const withSignature = (signature: string, rest: object = {}): string => JSON.stringify({ id: "e1", type: "mention", ...rest, signature });
/** As large as a body may be, and full of `item`. */
const full = (before: string, item: string, after: string): string =>
  before + item.repeat(Math.floor((MAX_BODY_BYTES - before.length - after.length) / item.length)) + after;

const HOSTILE: Readonly<Record<string, string>> = {
  "a signature of 200 KB that is all escapes": withSignature("\u0001(".repeat(30_000)),
  "a signature full of signs of a pattern": withSignature("(.*)*+[^\\".repeat(5_000)),
  "a signature of 60 KB of digits": withSignature("0".repeat(60_000)),
  "a signature that is a whole pattern": withSignature("(?=(a+)+$)"),
  "a member as many times as fits": full(`{"signature":"${HEX}"`, `,"signature":"${HEX}"`, "}"),
  "the text of a member as many times as fits": full(`{"a":"`, `\\"signature\\":\\"${HEX}\\"`, `","signature":"${HEX}"}`),
  "a value as many times as fits": full(`{"a":["${HEX}"`, `,"${HEX}"`, `],"signature":"${HEX}"}`),
  "commas and spaces": full(`{"a":[1`, `,${" ".repeat(99)}1`, `], "signature" : "${HEX}"}`),
  "spaces beside a signature": full(`{"a":1,`, " ", `"signature":"${HEX}"}`),
  "as many members as fit": `{${Array.from({ length: 24_000 }, (_, i) => `"k${i}":1`).join(",")},"signature":"${HEX}"}`,
  "the deepest lists": full("", "[", ""),
  "names of prototypes": full(`{"__proto__":{"a":1}`, `,"__proto__":1`, `,"signature":"${HEX}"}`),
};

describe("a body that nobody signed", () => {
  it("of 200 KB, called a signature, two hundred times: is refused, counted, turned away, and logged in one line", async () => {
    const { from, gate, receiver, logged } = await receiving();
    const answers = await times(200, () => from(STRANGER, withSignature("a".repeat(200_000))));
    expect(answers).toEqual([...Array<number>(BURST).fill(401), ...Array<number>(200 - BURST).fill(429)]);
    expect(gate.counts().refused).toMatchObject({ mismatch: BURST });
    expect(receiver.counts().rateLimited).toBe(200 - BURST);
    expect(Math.max(0, ...compiled)).toBe(0);
    expect(logged().split("\n")).toHaveLength(1);
  });

  it.each(Object.entries(HOSTILE))("with %s: is refused, counted, turned away, and logged in a few words", async (_what, body) => {
    const { from, logged } = await receiving();
    const answers = await Promise.all(Array.from({ length: BURST }, () => from(STRANGER, body)));
    expect(answers).toEqual(Array<number>(BURST).fill(401));
    expect(await from(STRANGER, body)).toBe(429);
    expect(Math.max(0, ...compiled)).toBe(0);
    expect(Buffer.byteLength(logged())).toBeLessThan(MAX_LOG_BYTES);
  });

  it("leaves room for one that somebody signed, from the next address", async () => {
    const { from, signed } = await receiving();
    await times(BURST + 1, () => from(STRANGER, withSignature("a".repeat(200_000))));
    const { body, headers } = signed();
    expect(await from("9.9.9.9", body, { headers })).toBe(202);
  });

  it("is logged no more often when it comes by a proxy that does not name its client", async () => {
    const { from, logged } = await receiving();
    expect(new Set(await times(100, () => from("127.0.0.1", withSignature("a".repeat(200_000)))))).toEqual(new Set([401]));
    expect(Buffer.byteLength(logged())).toBeLessThan(MAX_LOG_BYTES);
  });

  it("does not clear its address when it is taken as a hint", async () => {
    const { from } = await receiving({
      allowUnsigned: true,
      secretsOf: (handle) => (handle === asHandle("scout") ? [new Secret(SECRET)] : []),
    });
    await times(BURST - 1, () => from(STRANGER, "{}"));
    expect(await from(STRANGER, "{}", { path: "open" })).toBe(202);
    expect([await from(STRANGER, "{}"), await from(STRANGER, "{}")]).toEqual([401, 429]);
  });
});

/** Writes it and answers with the status that comes back, or undefined where none does. */
async function raw(port: number, text: string, { hangUp = false } = {}): Promise<number | undefined> {
  const socket = connect({ port, host: "127.0.0.1" });
  let answer = "";
  socket.on("data", (chunk: Buffer) => {
    answer += chunk.toString("latin1");
    if (answer.includes("\r\n\r\n")) socket.destroy();
  });
  socket.on("error", () => undefined); // it may be hung up on
  const closed = once(socket, "close");
  socket.write(text, () => void (hangUp && socket.destroy()));
  await closed;
  const status = /^HTTP\/1\.1 (\d{3})/.exec(answer)?.[1];
  return status === undefined ? undefined : Number(status);
}

const request = (line: string, headers: string, body = ""): string =>
  `${line} HTTP/1.1\r\nhost: x\r\nx-forwarded-for: ${STRANGER}\r\n${headers}\r\n${body}`;
const POST = "POST /webhooks/scout";

describe("every request that is not taken counts against its sender:", () => {
  const NOT_TAKEN: Readonly<Record<string, readonly [status: number, text: string]>> = {
    "another address": [404, request("POST /", "content-length: 0\r\n")],
    "somebody who is nobody here": [404, request("POST /webhooks/nobody", "content-length: 0\r\n")],
    "another method": [404, request("PUT /webhooks/scout", "content-length: 2\r\n", "{}")],
    "a method nobody has": [404, request("TRACE /webhooks/scout", "")],
    "a path that is no text": [404, request("POST /webhooks/%zz", "content-length: 0\r\n")],
    "half a letter in a path": [404, request("POST /webhooks/scout/%e2%82", "content-length: 0\r\n")],
    "a name longer than names are": [404, request(`POST /webhooks/${"a".repeat(5_000)}`, "content-length: 0\r\n")],
    "a token longer than tokens are": [404, request(`${POST}/${"a".repeat(5_000)}`, "content-length: 0\r\n")],
    "a body that says that it is too large": [413, request(POST, `content-length: ${MAX_BODY_BYTES + 1}\r\n`)],
    "a body that is too large": [413, request(POST, "transfer-encoding: chunked\r\n", `50000\r\n${"x".repeat(0x50000)}\r\n0\r\n\r\n`)],
    "more headers than a delivery has": [431, request(POST, "a: b\r\n".repeat(150))],
    "no host": [400, request(POST, "content-length: 2\r\n", "{}").replace("host: x\r\n", "")],
    "something that is expected of us": [417, request(POST, "expect: magic\r\ncontent-length: 2\r\n", "{}")],
    "no signature": [401, request(POST, "content-length: 2\r\n", "{}")],
  };

  it.each(Object.entries(NOT_TAKEN))("%s", async (_what, [status, text]) => {
    const { port } = await receiving();
    expect(await times(BURST, () => raw(port, text))).toEqual(Array<number>(BURST).fill(status));
    expect(await raw(port, text)).toBe(429);
    expect(await raw(port, request(POST, "content-length: 2\r\n", "{}"))).toBe(429);
  });

  it.each([
    ["no HTTP", 400, "hello\r\n\r\n"],
    ["a head that is too long", 431, request(POST, `a: ${"b".repeat(20_000)}\r\n`)],
    ["two lengths", 400, request(POST, "content-length: 2\r\ncontent-length: 3\r\n", "{}")],
    ["a request to be led elsewhere", undefined, "CONNECT 10.0.0.1:80 HTTP/1.1\r\nhost: x\r\n\r\n"],
    ["a head that never ends", 408, "POST /webhooks/scout HTTP/1.1\r\nhost: x\r\n", { timeoutMs: 200 }],
  ])("%s, by the address it comes from", async (_what, status, text, limits: { readonly timeoutMs?: number } = {}) => {
    const { port, receiver } = await receiving({}, limits);
    expect(await raw(port, text)).toBe(status);
    expect(receiver.counts().malformed).toBe(1);
  });

  it("a body that is broken off", async () => {
    const { port, receiver } = await receiving();
    for (let i = 1; i < BURST; i++) await raw(port, request(POST, "content-length: 20\r\n", "{"), { hangUp: true });
    await expect.poll(() => receiver.counts().open).toBe(0);
    expect(await raw(port, request(POST, "content-length: 2\r\n", "{}"))).toBe(401);
    expect(await raw(port, request(POST, "content-length: 2\r\n", "{}"))).toBe(429);
  });

  it("a body that never ends, once", async () => {
    const { port } = await receiving({}, { timeoutMs: 200 });
    const answers = await Promise.all(Array.from({ length: BURST - 1 }, () => raw(port, request(POST, "content-length: 20\r\n", "{"))));
    expect(answers).toEqual(Array<number>(BURST - 1).fill(408));
    expect(await raw(port, request(POST, "content-length: 2\r\n", "{}"))).toBe(401);
    expect(await raw(port, request(POST, "content-length: 2\r\n", "{}"))).toBe(429);
  });

  it("a request at which the receiver fails, which it logs in a few words", async () => {
    const error = new Error(`unexpected: ${"x".repeat(200_000)}`);
    const failing = { knows: () => true, accept: () => Promise.reject(error) };
    const { from, logged } = await receiving({}, { gate: failing });
    const answers = await times(200, () => from(STRANGER, "{}"));
    expect(answers).toEqual([...Array<number>(BURST).fill(503), ...Array<number>(200 - BURST).fill(429)]);
    expect(Buffer.byteLength(logged())).toBeLessThan(2 * MAX_LOG_BYTES);
    expect(logged()).toContain("unexpected");
  });

  it("a request at which the gate fails, which it logs in a few words", async () => {
    const { from, logged, gate } = await receiving({
      secretsOf: () => {
        throw new Error(`no secret: ${"x".repeat(200_000)}`);
      },
    });
    expect(await gate.accept("scout", { headers: {}, body: Buffer.from("{}") })).toEqual({ status: 503, retryAfterS: 5, verified: false });
    const answers = await times(200, () => from(STRANGER, "{}"));
    expect(answers).toEqual([...Array<number>(BURST).fill(503), ...Array<number>(200 - BURST).fill(429)]);
    expect(Buffer.byteLength(logged())).toBeLessThan(2 * MAX_LOG_BYTES);
    expect(logged()).toContain("no secret");
  });
});

it("a connection that is reset in the middle of a request causes no uncaught error", async () => {
  const faults: unknown[] = [];
  const note = (error: unknown): void => void faults.push(error);
  process.prependListener("uncaughtException", note);
  try {
    const { port, receiver } = await receiving();
    const texts = [
      "CONNECT a:1 HTTP/1.1\r\nhost: x\r\n\r\n",
      "hello\r\n\r\n",
      request(POST, "expect: magic\r\ncontent-length: 2\r\n", "{}"),
      request(POST, "content-length: 20\r\n", "{"),
      request(POST, "transfer-encoding: chunked\r\n", "zz\r\n"),
    ];
    for (const text of texts.flatMap((one) => Array<string>(20).fill(one))) {
      const socket = connect({ port, host: "127.0.0.1" });
      socket.on("error", () => undefined); // it is hung up on
      const closed = once(socket, "close");
      socket.write(text, () => setImmediate(() => socket.resetAndDestroy()));
      await closed;
    }
    await expect.poll(() => receiver.counts().open).toBe(0);
    expect(faults).toEqual([]);
  } finally {
    process.off("uncaughtException", note);
  }
});

describe("a sender who signs", () => {
  it.each([
    ["the inbox is full", async () => "full" as const],
    ["the store is lost", async () => Promise.reject(new Error(`disk I/O error ${"x".repeat(100_000)}`))],
  ])("is not held to account for it when %s, and the log stays short", async (_why, put) => {
    const { from, signed, logged } = await receiving({ put });
    const { body, headers } = signed();
    expect(await times(200, () => from(STRANGER, body, { headers }))).toEqual(Array<number>(200).fill(503));
    expect(Buffer.byteLength(logged())).toBeLessThan(2 * MAX_LOG_BYTES);
  });
});
