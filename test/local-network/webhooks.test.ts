/** Webhook deliveries: to whom, signed how, tried how often. */
import { createHmac } from "node:crypto";
import http from "node:http";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "vitest";
import { Webhook } from "standardwebhooks";
import { systemClock } from "../../src/core/clock.ts";
import { parseJson } from "../../src/core/json.ts";
import { seededRandom } from "../../src/core/random.ts";
import { MINUTE, SECOND } from "../../src/core/units.ts";
import type { WebhookScheme } from "../../src/local-network/assumptions.ts";
import type { DeliveryRequest } from "../../src/local-network/webhooks/deliver.ts";
import { createLocalNetwork } from "../../src/local-network/local-network.ts";
import { asking, lab, textAt, type Lab } from "../harness/visitor.ts";

const SECRET = "whsec_c2VjcmV0LW9mLXRoZS10ZXN0cw==";

/** A world whose deliveries arrive in a list; `answers` says what the receiver does, one after the other. */
function receiving(answers: (number | Error)[] = [], scheme: WebhookScheme = "sha256-header") {
  const got: (Omit<DeliveryRequest, "signal"> & { at: number })[] = [];
  const room: Lab = lab({
    assume: { webhookScheme: scheme },
    webhooks: {
      async deliver({ url, headers, body }) {
        got.push({ url, headers, body, at: room.clock.now() });
        const answer = answers.shift() ?? 202;
        if (answer instanceof Error) throw answer;
        return answer;
      },
    },
  });
  const kinds = (): string[] => got.map(({ body }) => textAt(parseJson(body), "type"));
  return { ...room, got, kinds };
}

describe("webhooks", () => {
  it("tell of replies, likes, mentions and others' posts, and of nothing one did oneself", async () => {
    const { join, network, clock, kinds, got } = receiving();
    const [scout, quill] = [join("scout"), join("quill")];
    network.start();
    await scout.b("POST", "/v1/webhooks", { body: { url: "http://127.0.0.1:1/hook" } });
    const mine = textAt((await scout.b("POST", "/v1/posts", { body: { content: "hello @scout" } })).json, "id");
    await quill.b("POST", `/v1/posts/${mine}/reply`, { body: { content: "hi @scout" } });
    await quill.a("POST", `/v1/posts/${mine}/like`);
    await quill.b("POST", `/v1/posts/${mine}/vote`, { body: { direction: "down" } });
    await quill.b("POST", "/v1/posts", { body: { content: "look, @scout!" } });
    await clock.advance(SECOND);
    expect(kinds()).toEqual(["post.replied", "post.liked", "post.created", "mention"]);
    expect(textAt(parseJson(got[0]?.body ?? ""), "data.reply_to")).toBe(mine);
    expect(network.deliveries().every(({ status }) => status === "delivered")).toBe(true);
    await network.stop();
    expect(clock.pending()).toBe(0);
  });

  it("only carry the events that were asked for, and end when deleted", async () => {
    const { join, network, clock, kinds } = receiving();
    const [scout, quill] = [join("scout"), join("quill")];
    network.start();
    const { json } = await scout.b("POST", "/v1/webhooks", { body: { url: "http://127.0.0.1:1/", events: ["mention"] } });
    await quill.b("POST", "/v1/posts", { body: { content: "@scout" } });
    await clock.advance(SECOND);
    expect(kinds()).toEqual(["mention"]);
    expect((await quill.b("DELETE", `/v1/webhooks/${textAt(json, "id")}`)).status).toBe(404);
    await scout.b("DELETE", `/v1/webhooks/${textAt(json, "id")}`);
    await quill.b("POST", "/v1/posts", { body: { content: "@scout again" } });
    await clock.advance(SECOND);
    expect(kinds()).toEqual(["mention"]);
    await network.stop();
  });

  it("are tried at 0 s, 5 s, 5 min, 30 min, and no more once received", async () => {
    const { join, network, clock, got } = receiving([500, new Error("refused"), 302]);
    const [scout, quill] = [join("scout"), join("quill")];
    network.start();
    await scout.b("POST", "/v1/webhooks", { body: { url: "http://127.0.0.1:1/" } });
    const from = clock.now();
    await quill.b("POST", "/v1/posts", { body: { content: "news" } });
    await clock.advance(24 * 60 * MINUTE);
    expect(got.map((one) => one.at - from)).toEqual([0, 5 * SECOND, 5 * MINUTE, 30 * MINUTE]);
    expect(new Set(got.map(({ body }) => body)).size).toBe(1);
    const [delivery] = network.deliveries();
    expect(delivery?.status).toBe("delivered");
    expect(delivery?.attempts.map(({ status }) => status)).toEqual([500, 0, 302, 202]);
    await network.stop();
  });

  it("are given up after the last retry", async () => {
    const { join, network, clock, got } = receiving(Array.from({ length: 20 }, () => 503));
    const [scout, quill] = [join("scout"), join("quill")];
    network.start();
    await scout.b("POST", "/v1/webhooks", { body: { url: "http://127.0.0.1:1/" } });
    await quill.b("POST", "/v1/posts", { body: { content: "news" } });
    await clock.advance(48 * 60 * MINUTE);
    expect(got).toHaveLength(network.assumptions.webhookRetriesMs.length);
    expect(network.deliveries()[0]?.status).toBe("failed");
    await network.stop();
  });

  it("are delivered once more on a person's order, under the same id, and only once", async () => {
    const { join, network, clock, got } = receiving([202, 503]);
    const [scout, quill] = [join("scout"), join("quill")];
    network.start();
    await scout.b("POST", "/v1/webhooks", { body: { url: "http://127.0.0.1:1/" } });
    await quill.b("POST", "/v1/posts", { body: { content: "news" } });
    await clock.advance(MINUTE);
    const [delivery] = network.deliveries();
    const id = delivery?.id ?? "";
    network.redeliver(id);
    await clock.advance(48 * 60 * MINUTE);
    expect(got.map(({ body }) => textAt(parseJson(body), "id"))).toEqual([id, id]);
    expect(network.deliveries()[0]).toMatchObject({ status: "failed", attempts: [{ status: 202 }, { status: 503 }] });
    network.redeliver(id);
    await clock.advance(MINUTE);
    expect(network.deliveries()[0]).toMatchObject({ status: "delivered" });
    expect(() => network.redeliver("evt_none")).toThrow(expect.objectContaining({ code: "nothing_found" }));
    await network.stop();
  });

  it.each<[WebhookScheme, (body: string, headers: Readonly<Record<string, string>>) => boolean]>([
    [
      "sha256-header",
      (body, headers) => headers["x-signature-256"] === `sha256=${createHmac("sha256", SECRET).update(body).digest("hex")}`,
    ],
    ["github", (body, headers) => headers["x-hub-signature-256"] === `sha256=${createHmac("sha256", SECRET).update(body).digest("hex")}`],
    [
      "standard",
      (body, headers) => {
        const at = Number(headers["webhook-timestamp"]) * 1_000;
        const signature = new Webhook(SECRET).sign(headers["webhook-id"] ?? "", new Date(at), body);
        return headers["webhook-signature"] === signature;
      },
    ],
    [
      "stripe",
      (body, headers) => {
        const [, seconds, signature] = /^t=(\d+),v1=(\w+)$/.exec(headers["stripe-signature"] ?? "") ?? [];
        return signature === createHmac("sha256", SECRET).update(`${seconds}.${body}`).digest("hex");
      },
    ],
    [
      "in-body",
      (body) => {
        const signature = textAt(parseJson(body), "signature");
        const unsigned = body.replace(`,"signature":"${signature}"`, "");
        return signature === `sha256=${createHmac("sha256", SECRET).update(unsigned).digest("hex")}`;
      },
    ],
    ["none", (_body, headers) => !Object.keys(headers).some((name) => name.includes("signature"))],
  ])("are signed as %s says", async (scheme, verify) => {
    const { join, network, clock, got } = receiving([], scheme);
    const [scout, quill] = [join("scout"), join("quill")];
    network.start();
    await scout.b("POST", "/v1/webhooks", { body: { url: "http://127.0.0.1:1/", secret: SECRET } });
    await quill.b("POST", "/v1/posts", { body: { content: "news ✓" } });
    await clock.advance(SECOND);
    const [delivery] = got;
    expect(delivery !== undefined && verify(delivery.body, delivery.headers)).toBe(true);
    await network.stop();
  });

  it("can be late, lost, doubled, wrongly signed and huge", async () => {
    const { join, network, clock, got } = receiving();
    const [scout, quill] = [join("scout"), join("quill")];
    network.start();
    await scout.b("POST", "/v1/webhooks", { body: { url: "http://127.0.0.1:1/", secret: SECRET } });
    const arrivals = async (fault: Parameters<typeof network.faults.addDelivery>[0]["fault"]) => {
      network.faults.addDelivery({ fault, times: 1 });
      const from = clock.now();
      got.length = 0;
      await quill.b("POST", "/v1/posts", { body: { content: "news" } });
      await clock.advance(MINUTE);
      return got.map((one) => ({ ...one, after: one.at - from }));
    };
    expect((await arrivals({ kind: "late", ms: 20_000 })).map(({ after }) => after)).toEqual([20_000]);
    expect(await arrivals({ kind: "lost" })).toEqual([]);
    const twice = await arrivals({ kind: "twice" });
    expect(twice.map(({ body }) => textAt(parseJson(body), "id"))).toEqual([
      textAt(parseJson(twice[0]?.body ?? ""), "id"),
      expect.any(String),
    ]);
    expect(new Set(twice.map(({ headers }) => headers["x-delivery-id"])).size).toBe(1);
    const [wrong] = await arrivals({ kind: "wrong-signature" });
    expect(wrong?.headers["x-signature-256"]).not.toBe(
      `sha256=${createHmac("sha256", SECRET)
        .update(wrong?.body ?? "")
        .digest("hex")}`,
    );
    expect((await arrivals({ kind: "huge", bytes: 1_000_000 }))[0]?.body.length).toBeGreaterThan(1_000_000);
    await network.stop();
  });

  it("can overtake each other, and none is lost by it", async () => {
    const { join, network, clock, got } = receiving();
    const [scout, quill] = [join("scout"), join("quill")];
    network.start();
    await scout.b("POST", "/v1/webhooks", { body: { url: "http://127.0.0.1:1/" } });
    network.faults.addDelivery({ fault: { kind: "reorder" }, times: 2 });
    const contents = (): string[] => got.map(({ body }) => textAt(parseJson(body), "data.content"));
    await quill.b("POST", "/v1/posts", { body: { content: "first" } });
    await clock.advance(SECOND);
    expect(contents()).toEqual([]);
    for (const content of ["second", "third"]) {
      await quill.b("POST", "/v1/posts", { body: { content } });
      await clock.advance(SECOND);
    }
    expect(contents()).toEqual(["first", "third", "second"]);
    await clock.advance(MINUTE);
    expect(contents()).toHaveLength(3);
    await network.stop();
  });

  it("under way when the network stops do not hold it up, and stay waiting", async () => {
    const room = lab({ webhooks: { deliver: () => new Promise<number>(() => undefined) } });
    const [scout, quill] = [room.join("scout"), room.join("quill")];
    room.network.start();
    await scout.b("POST", "/v1/webhooks", { body: { url: "http://127.0.0.1:1/" } });
    await quill.b("POST", "/v1/posts", { body: { content: "news" } });
    await room.clock.advance(SECOND);
    await room.network.stop();
    expect(room.network.deliveries()).toMatchObject([{ status: "pending", attempts: [] }]);
  });

  it("arrive over real HTTP", async () => {
    const bodies: string[] = [];
    const receiver = http.createServer((request, response) => {
      const chunks: Buffer[] = [];
      request.on("data", (chunk: Buffer) => chunks.push(chunk));
      request.on("end", () => {
        bodies.push(Buffer.concat(chunks).toString());
        response.writeHead(204).end();
      });
    });
    await new Promise<void>((resolve) => void receiver.listen(0, "127.0.0.1", resolve));
    const { port } = receiver.address() as AddressInfo;
    const network = createLocalNetwork({ clock: systemClock(), random: seededRandom(1) });
    network.start();
    const scout = asking(network, "b", network.provision({ handle: "scout", tier: "pro" }).key);
    const quill = asking(network, "b", network.provision({ handle: "quill", tier: "pro" }).key);
    await scout("POST", "/v1/webhooks", { body: { url: `http://127.0.0.1:${port}/hook` } });
    await quill("POST", "/v1/posts", { body: { content: "over the wire" } });
    await expect.poll(() => network.deliveries()[0]?.status).toBe("delivered");
    expect(textAt(parseJson(bodies[0] ?? ""), "data.content")).toBe("over the wire");
    await network.stop();
    receiver.closeAllConnections();
    await new Promise<void>((resolve) => void receiver.close(() => resolve()));
  });
});
