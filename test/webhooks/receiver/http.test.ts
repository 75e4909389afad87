/** The receiver over real HTTP: what is answered, in which order things are checked, and what it never does. */
import { connect } from "node:net";
import { afterEach, describe, expect, it } from "vitest";
import { resolveProfile } from "../../../src/contract/profile/profile.ts";
import { systemClock } from "../../../src/core/clock.ts";
import { asHandle } from "../../../src/core/ids.ts";
import { createLogger, type LogLine } from "../../../src/core/log.ts";
import { Scrubber } from "../../../src/core/scrubber.ts";
import { Secret } from "../../../src/core/secret.ts";
import { createGate, type GateOptions, type VerifiedDelivery } from "../../../src/webhooks/receiver/accept.ts";
import { createReceiver, MAX_BODY_BYTES, type Receiver } from "../../../src/webhooks/receiver/http.ts";
import { signDelivery, type SignedDelivery } from "../../../src/webhooks/receiver/sign.ts";
import { SECRET } from "../../harness/webhook-secret.ts";

const open: Receiver[] = [];
afterEach(async () => {
  for (const receiver of open.splice(0)) await receiver.close();
});

async function receiving(options: Partial<GateOptions> = {}) {
  const stored: VerifiedDelivery[] = [];
  const hints: string[] = [];
  const log: LogLine[] = [];
  const clock = systemClock();
  const gate = createGate({
    clock,
    scrubber: new Scrubber(),
    log: createLogger({ level: "debug", now: () => clock.now(), scrubber: new Scrubber(), sink: (line) => void log.push(line) }),
    rules: resolveProfile({ extends: "set-b" }).webhooks,
    secretsOf: (handle) => (handle === asHandle("scout") ? [new Secret(SECRET)] : undefined),
    allowUnsigned: false,
    async put(delivery) {
      const known = stored.some(({ id }) => id === delivery.id);
      if (!known) stored.push(delivery);
      return known ? "known" : "stored";
    },
    onHint: (handle) => void hints.push(handle),
    ...options,
  });
  const receiver = createReceiver({ gate, clock: systemClock() });
  open.push(receiver);
  const { port, url } = await receiver.listen({ port: 0, host: "127.0.0.1" });
  return { gate, receiver, stored, hints, log, port, url };
}

const sign = (payload: object | string = { id: "e1", type: "mention" }, at = Date.now(), secret = SECRET): SignedDelivery =>
  signDelivery({ scheme: "standard", secret, payload, id: "d1", at });

interface Answer {
  readonly status: number;
  readonly retryAfter: string | null;
  readonly body: string;
}
async function post(url: string, { headers, body }: SignedDelivery, extra: Readonly<Record<string, string>> = {}): Promise<Answer> {
  const response = await fetch(url, { method: "POST", headers: { ...headers, ...extra }, body: Uint8Array.from(body) });
  return { status: response.status, retryAfter: response.headers.get("retry-after"), body: await response.text() };
}

/** Everything that comes back over one connection until it is closed or `until` was seen. */
function raw(port: number, pieces: readonly (string | Buffer)[], until = "\r\n\r\n"): Promise<string> {
  return new Promise((resolve) => {
    const socket = connect({ port, host: "127.0.0.1" });
    let text = "";
    const done = (): void => {
      socket.destroy();
      resolve(text);
    };
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString();
      if (text.includes(until)) done();
    });
    socket.once("close", done).once("error", done);
    for (const piece of pieces) socket.write(piece);
  });
}

describe("a delivery that holds a secret", () => {
  const KEY = "sk_live_0123456789abcdef";
  const knowing = (): Scrubber => {
    const scrubber = new Scrubber();
    for (const secret of [KEY, SECRET]) scrubber.add(new Secret(secret));
    return scrubber;
  };

  it("is checked as it came, and stored without", async () => {
    const { url, stored } = await receiving({ scrubber: knowing() });
    const body = `{"type":"mention","id":"m-${KEY}-1","\\u0073${KEY.slice(1)}":["${SECRET}",12345678901234567890]}`;
    const signed = signDelivery({
      scheme: "standard",
      secret: SECRET,
      payload: body,
      id: `d-${KEY}-1`,
      kind: "k".repeat(90) + KEY,
      at: Date.now(),
    });
    expect(await post(`${url}scout`, signed)).toMatchObject({ status: 202 });
    expect(await post(`${url}scout`, signed)).toMatchObject({ status: 200 });
    expect(stored).toMatchObject([{ id: "id:d-[secret]-1", kind: `${"k".repeat(90)}[secret]` }]);
    expect(Buffer.from(stored[0]?.body ?? []).toString()).toBe(
      `{"type":"mention","id":"m-[secret]-1","[secret]":["[secret]",12345678901234567890]}`,
    );
  });

  it("is not taken for another whose id or words differ beside it", async () => {
    const { url, stored } = await receiving({ scrubber: knowing() });
    const ids = ["1", "2"].map((tail) =>
      signDelivery({ scheme: "standard", secret: SECRET, payload: {}, id: `${KEY}-${tail}`, at: Date.now() }),
    );
    // These two are known by a hash of their bytes, and read the same once they are cleaned.
    const words = [KEY, SECRET].map((secret) =>
      signDelivery({ scheme: "github", secret: SECRET, payload: { text: secret }, at: Date.now() }),
    );
    for (const signed of [...ids, ...words]) expect(await post(`${url}scout`, signed)).toMatchObject({ status: 202 });
    expect(stored).toHaveLength(4);
  });

  it("gives no hint with it", async () => {
    const bodies: string[] = [];
    const { url } = await receiving({
      scrubber: knowing(),
      allowUnsigned: true,
      secretsOf: () => [],
      onHint: (_handle, { kind, body }) => void bodies.push(`${kind} ${Buffer.from(body).toString()}`),
    });
    const unsigned = { headers: { "content-type": "application/json", "x-event-type": KEY }, body: Buffer.from(`{"id":"${KEY}"}`) };
    expect(await post(`${url}scout`, unsigned)).toMatchObject({ status: 202 });
    expect(bodies).toEqual([`[secret] {"id":"[secret]"}`]);
  });
});

describe("a request is answered", () => {
  it("with 202 once stored, with 200 when it was there already", async () => {
    const { url, stored } = await receiving();
    expect(await post(`${url}scout`, sign())).toMatchObject({ status: 202, body: "" });
    expect(await post(`${url}scout`, sign())).toMatchObject({ status: 200, body: "" });
    expect(stored).toHaveLength(1);
    expect(stored[0]).toMatchObject({ specialist: "scout", id: "id:d1", scheme: "standard" });
  });

  it("with the same 401 whichever check failed, each of which is counted", async () => {
    const { url, gate, log } = await receiving();
    const signed = sign();
    const answers = [
      await post(`${url}scout`, sign({}, Date.now(), "another-secret-0001")),
      await post(`${url}scout`, sign({}, Date.now() - 400_000)),
      await post(`${url}scout`, sign({}, Date.now() + 100_000)),
      await post(`${url}scout`, { headers: { "content-type": "application/json" }, body: signed.body }),
      await post(`${url}scout`, signed, { "webhook-id": "another" }),
    ];
    expect(new Set(answers.map((answer) => JSON.stringify(answer)))).toEqual(
      new Set([JSON.stringify({ status: 401, retryAfter: null, body: "" })]),
    );
    expect(gate.counts().refused).toEqual({ mismatch: 2, stale: 1, early: 1, unsigned: 1 });
    // A flood of forgeries is one line a minute.
    expect(log.filter(({ message }) => message.includes("refused"))).toHaveLength(1);
    expect(JSON.stringify(log)).not.toContain(SECRET);
  });

  it("with 404 for whom we do not look after, before its body is read", async () => {
    const { url, port } = await receiving();
    for (const name of ["nobody", "__proto__", "constructor", "scout%00", "Scout"])
      expect((await post(`${url}${name}`, sign())).status).toBe(404);
    const answer = await raw(port, [
      "POST /webhooks/nobody HTTP/1.1\r\nhost: x\r\ncontent-type: application/json\r\ncontent-length: 9999\r\n\r\n",
    ]);
    expect(answer).toMatch(/^HTTP\/1\.1 404/);
  });

  it("with 404 for anything but a delivery", async () => {
    const { url } = await receiving();
    expect((await fetch(`${url}scout`)).status).toBe(404);
    expect((await fetch(`${url}scout`, { method: "PUT", body: "{}" })).status).toBe(404);
  });

  it.each(["text/plain", "application/x-www-form-urlencoded", "application/cloudevents+json; charset=utf-8", "", "json", ";", undefined])(
    "by its signature, whatever it calls its content: %s",
    async (type) => {
      const { port, stored } = await receiving();
      const deliver = (signed: SignedDelivery): Promise<string> => {
        const headers = { ...signed.headers, host: "x", "content-length": String(signed.body.length), "content-type": type };
        const lines = Object.entries(headers).flatMap(([name, value]) => (value === undefined ? [] : [`${name}: ${value}\r\n`]));
        return raw(port, [`POST /webhooks/scout HTTP/1.1\r\n${lines.join("")}\r\n`, Buffer.from(signed.body)]);
      };
      expect(await deliver(sign())).toMatch(/^HTTP\/1\.1 202/);
      expect(stored).toHaveLength(1);
      expect(await deliver(sign({ id: "e2" }, Date.now(), "another-secret-of-somebody"))).toMatch(/^HTTP\/1\.1 401/);
    },
  );

  it("with 413 as soon as it says, or shows, that it is too large", async () => {
    const { port, receiver, stored } = await receiving();
    const type = "content-type: application/json\r\n";
    const said = await raw(port, [`POST /webhooks/scout HTTP/1.1\r\nhost: x\r\n${type}content-length: ${MAX_BODY_BYTES + 1}\r\n\r\n`]);
    expect(said).toMatch(/^HTTP\/1\.1 413/);
    const chunk = `10000\r\n${"x".repeat(65_536)}\r\n`;
    const shown = await raw(port, [
      `POST /webhooks/scout HTTP/1.1\r\nhost: x\r\n${type}transfer-encoding: chunked\r\n\r\n`,
      ...Array<string>(5).fill(chunk),
    ]);
    expect(shown).toMatch(/^HTTP\/1\.1 413/);
    expect(receiver.counts().tooLarge).toBe(2);
    expect(stored).toEqual([]);
  });

  it("in full at the size limit itself", async () => {
    const { url, stored } = await receiving();
    const payload = `"${"x".repeat(MAX_BODY_BYTES - 2)}"`;
    expect((await post(`${url}scout`, sign(payload))).status).toBe(202);
    expect(stored[0]?.body.byteLength).toBe(MAX_BODY_BYTES);
  });

  it("with 503 and a time to come back when it cannot be stored, and never with 410", async () => {
    const full = await receiving({ put: async () => "full" });
    expect(await post(`${full.url}scout`, sign())).toEqual({ status: 503, retryAfter: "5", body: "" });
    const broken = await receiving({ put: () => Promise.reject(new Error("disk full")) });
    expect(await post(`${broken.url}scout`, sign())).toEqual({ status: 503, retryAfter: "5", body: "" });
    expect(broken.gate.counts()).toMatchObject({ failed: 1, stored: 0 });
    expect(broken.log.some(({ level }) => level === "error")).toBe(true);
  });

  it("only after it is on disk", async () => {
    const stored: (() => void)[] = [];
    const { url } = await receiving({ put: () => new Promise((resolve) => stored.push(() => resolve("stored"))) });
    let answered = false;
    const answer = post(`${url}scout`, sign()).then((given) => {
      answered = true;
      return given;
    });
    await expect.poll(() => stored.length).toBe(1);
    expect(answered).toBe(false);
    stored[0]?.();
    expect((await answer).status).toBe(202);
  });

  it("with 431 for more headers than a delivery has", async () => {
    const { port } = await receiving();
    expect(await raw(port, [`POST /webhooks/scout HTTP/1.1\r\nhost: x\r\n${"a: b\r\n".repeat(200)}\r\n`])).toMatch(/^HTTP\/1\.1 431/);
  });
});

describe("one connection", () => {
  const asText = ({ headers, body }: SignedDelivery, extra = ""): string => {
    const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    return `POST /webhooks/scout HTTP/1.1\r\nhost: x\r\n${extra}${head.join("")}content-length: ${body.length}\r\n\r\n${body.toString()}`;
  };
  const signed = (id: string): SignedDelivery =>
    signDelivery({ scheme: "standard", secret: SECRET, payload: { id, type: "mention" }, id, at: Date.now() });
  const statuses = (text: string): readonly string[] => [...text.matchAll(/HTTP\/1\.1 (\d{3})/g)].map(([, status = ""]) => status);
  const LAST = "connection: close\r\n";

  it("may carry many deliveries in one write, each answered once and in order", async () => {
    const { port, stored } = await receiving();
    const ids = [...Array.from({ length: 30 }, (_, i) => `p${i}`), "p0"];
    const requests = ids.map((id, i) => asText(signed(id), i === ids.length - 1 ? LAST : ""));
    const text = await raw(port, [requests.join("")], "\0");
    expect(statuses(text)).toEqual([...Array<string>(30).fill("202"), "200"]);
    expect(stored.map(({ id }) => id)).toEqual(ids.slice(0, 30).map((id) => `id:${id}`));
  });

  it("that goes on after a refusal that ends it has no answer, and what it brought is known when it comes again", async () => {
    const { port, url, stored } = await receiving();
    const forged = asText(sign({}, Date.now(), "another-secret-0001"));
    const unknown = asText(signed("p1")).replace("/scout", "/nobody");
    expect(statuses(await raw(port, [forged + asText(signed("p2"), LAST)], "\0"))).toEqual(["401", "202"]);
    expect(statuses(await raw(port, [unknown + asText(signed("p3"))], "\0"))).toEqual(["404"]);
    // Whether or not the second was read before the end: it is one delivery.
    expect([200, 202]).toContain((await post(`${url}scout`, signed("p3"))).status);
    expect(stored.map(({ id }) => id)).toEqual(["id:p2", "id:p3"]);
  });

  it("that waits to be told to go on is told so once, and nothing else can be expected", async () => {
    const { port, stored } = await receiving();
    expect(statuses(await raw(port, [asText(signed("e1"), `expect: 100-continue\r\n${LAST}`)], "\0"))).toEqual(["100", "202"]);
    expect(statuses(await raw(port, [asText(signed("e2"), `expect: cookies\r\n${LAST}`)], "\0"))).toEqual(["417"]);
    expect(stored.map(({ id }) => id)).toEqual(["id:e1"]);
  });

  it("that says two lengths, or a length and chunks, is closed as no HTTP", async () => {
    const { port, stored, receiver } = await receiving();
    const delivery = signed("s1");
    for (const extra of [`content-length: ${delivery.body.length + 5}\r\n`, "transfer-encoding: chunked\r\n"])
      expect(statuses(await raw(port, [asText(delivery, extra)], "\0"))).toEqual(["400"]);
    expect(stored).toEqual([]);
    expect(receiver.counts().malformed).toBe(2);
  });
});

it("bodies that are begun and never ended take no room from a delivery", async () => {
  const { url, port } = await receiving();
  const head = `POST /webhooks/scout HTTP/1.1\r\nhost: x\r\ncontent-length: ${MAX_BODY_BYTES}\r\n\r\n`;
  const begun = Buffer.concat([Buffer.from(head), Buffer.alloc(MAX_BODY_BYTES - 1, "x")]);
  const answers: string[] = [];
  const sockets = Array.from({ length: 160 }, () => {
    const socket = connect({ port, host: "127.0.0.1" });
    socket.on("data", (chunk: Buffer) => void answers.push(chunk.toString().slice(0, 12)));
    socket.on("error", () => undefined); // it is hung up on
    socket.write(begun);
    return socket;
  });
  try {
    // More than may be held at once: those that have been at it longest are told to come again.
    await expect.poll(() => answers.length).toBeGreaterThanOrEqual(30);
    expect(new Set(answers)).toEqual(new Set(["HTTP/1.1 503"]));
    expect(await post(`${url}scout`, sign({ id: "e1", type: "mention", text: "x".repeat(5_000) }))).toMatchObject({ status: 202 });
  } finally {
    for (const socket of sockets) socket.destroy();
  }
});

it("however many ids somebody writes into headers that are not signed, a delivery is one", async () => {
  const { url, stored } = await receiving();
  const github = signDelivery({ scheme: "github", secret: SECRET, payload: { id: "e1", type: "mention" }, at: 0 });
  const answers = await Promise.all(
    Array.from({ length: 300 }, (_, i) => post(`${url}scout`, github, { "x-github-delivery": `d${i}`, "webhook-id": `w${i}` })),
  );
  expect(answers.filter(({ status }) => status === 202)).toHaveLength(1);
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(299);
  expect(stored).toHaveLength(1);
});

describe("secrets", () => {
  it("overlap while they are rotated, and which one is still in use can be seen", async () => {
    const { url, gate } = await receiving({ secretsOf: () => [new Secret("the-new-secret-0001"), new Secret(SECRET)] });
    const old = signDelivery({ scheme: "github", secret: SECRET, payload: { a: 1 }, at: 0 });
    const fresh = signDelivery({ scheme: "github", secret: "the-new-secret-0001", payload: { a: 2 }, at: 0 });
    expect([(await post(`${url}scout`, old)).status, (await post(`${url}scout`, fresh)).status]).toEqual([202, 202]);
    expect(gate.counts().bySecret).toEqual([1, 1]);
  });
});

describe("without a secret", () => {
  it("nothing is believed: a delivery is a hint, and is not stored", async () => {
    const { url, hints, stored } = await receiving({ secretsOf: () => [], allowUnsigned: true });
    expect((await post(`${url}scout`, signDelivery({ scheme: "none", secret: "", payload: { type: "mention" }, at: 0 }))).status).toBe(202);
    expect(hints).toEqual(["scout"]);
    expect(stored).toEqual([]);
  });

  it("and without being told to do so, everything is refused", async () => {
    const { url, hints } = await receiving({ secretsOf: () => [] });
    expect((await post(`${url}scout`, signDelivery({ scheme: "none", secret: "", payload: {}, at: 0 }))).status).toBe(401);
    expect((await post(`${url}scout`, sign())).status).toBe(401);
    expect(hints).toEqual([]);
  });

  it("a secret that is set is asked for, whatever else is allowed", async () => {
    const { url, hints } = await receiving({ allowUnsigned: true });
    expect((await post(`${url}scout`, signDelivery({ scheme: "none", secret: "", payload: {}, at: 0 }))).status).toBe(401);
    expect(hints).toEqual([]);
  });
});

it("a port that is taken is said to be", async () => {
  const { port } = await receiving();
  const other = createReceiver({ gate: (await receiving()).gate, clock: systemClock() });
  await expect(other.listen({ port, host: "127.0.0.1" })).rejects.toMatchObject({ code: "port_in_use" });
});
