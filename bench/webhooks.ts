/**
 * Deliveries per second: verified, stored and deduplicated by the receiver, beside a bare fastify route that only verifies
 * the same HMAC. Server and sender are two processes. `node --conditions=retinue-source bench/webhooks.ts [count] [rounds]`
 */
import { fork, type ChildProcess } from "node:child_process";
import { createHmac, timingSafeEqual } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fastify from "fastify";
import { resolveProfile } from "../src/contract/profile.ts";
import { systemClock } from "../src/core/clock.ts";
import { asHandle } from "../src/core/ids.ts";
import { silentLogger } from "../src/core/log.ts";
import { systemRandom } from "../src/core/random.ts";
import { Secret } from "../src/core/secret.ts";
import { createGate } from "../src/intake/webhook/gate.ts";
import { createReceiver } from "../src/intake/webhook/receiver.ts";
import { signDelivery } from "../src/intake/webhook/sign.ts";
import { openSqliteStore } from "../src/store/sqlite/store.ts";

const SECRET = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw";
const IN_FLIGHT = 64;
const SUBJECTS = ["bare", "receiver"] as const;
type Subject = (typeof SUBJECTS)[number];

if (process.send !== undefined) await serve(process.argv[2] === "bare" ? "bare" : "receiver");
else await measure(Number(process.argv[2] ?? 20_000), Number(process.argv[3] ?? 3));

async function serve(subject: Subject): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "bench-webhooks-"));
  const port = subject === "bare" ? await serveBare() : await serveReceiver(folder);
  process.once("disconnect", () => {
    rmSync(folder, { recursive: true, force: true });
    process.exit(0);
  });
  process.send?.({ port });
}

async function serveBare(): Promise<number> {
  const app = fastify();
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("application/json", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
  app.post("/webhooks/:specialist", (request, reply) => {
    const given = Buffer.from(String(request.headers["x-signature-256"]).slice(7), "hex");
    const expected = createHmac("sha256", SECRET)
      .update(request.body as Buffer)
      .digest();
    return reply.code(given.length === expected.length && timingSafeEqual(given, expected) ? 202 : 401).send();
  });
  await app.listen({ port: 0, host: "127.0.0.1" });
  const address = app.server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}

async function serveReceiver(folder: string): Promise<number> {
  const clock = systemClock();
  const store = openSqliteStore({ path: join(folder, "store.sqlite"), clock, random: systemRandom() });
  const secrets = [new Secret(SECRET)];
  const scout = asHandle("scout");
  const gate = createGate({
    clock,
    log: silentLogger(),
    rules: resolveProfile({ extends: "set-b" }).webhooks,
    secretsOf: (handle) => (handle === scout ? secrets : undefined),
    allowUnsigned: false,
    put: (delivery, now) => store.putDelivery(delivery, now),
    onStored: () => void drain(),
    onHint: () => undefined,
  });
  // What is stored is ended again, so that the backlog's bound is not what is measured.
  let draining = false;
  const drain = async (): Promise<void> => {
    if (draining) return;
    draining = true;
    for (
      let due = await store.dueDeliveries(scout, clock.now(), 256);
      due.length > 0;
      due = await store.dueDeliveries(scout, clock.now(), 256)
    )
      await Promise.all(
        due.map(({ seq }) => store.endDelivery({ seq, specialist: scout, state: "done", kind: "x", events: [], nudges: [] }, clock.now())),
      );
    draining = false;
  };
  return (await createReceiver({ gate, clock: systemClock() }).listen({ port: 0, host: "127.0.0.1" })).port;
}

async function measure(count: number, rounds: number): Promise<void> {
  const best = { bare: 0, receiver: 0 };
  for (let round = 0; round < rounds; round++)
    for (const subject of SUBJECTS) {
      const child = fork(import.meta.filename, [subject], { execArgv: ["--conditions=retinue-source"] });
      const port = await listening(child);
      await load(port, 2_000, `warm-${round}`);
      const { perSecond, p50, p99 } = await load(port, count, `run-${round}`);
      best[subject] = Math.max(best[subject], perSecond);
      console.log(`${subject.padEnd(9)} ${perSecond.toFixed(0).padStart(7)}/s  p50 ${p50.toFixed(2)} ms  p99 ${p99.toFixed(2)} ms`);
      child.disconnect();
    }
  console.log(`ratio ${(best.receiver / best.bare).toFixed(2)} (wanted: 0.40)`);
}

function listening(child: ChildProcess): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once("message", (message: { readonly port: number }) => resolve(message.port));
    child.once("exit", (code) => reject(new Error(`the server ended with ${code}`)));
  });
}

/** Every delivery is another one; requests are made beforehand, so that signing them is not what is measured. */
async function load(port: number, count: number, name: string): Promise<{ perSecond: number; p50: number; p99: number }> {
  const requests = Array.from({ length: count }, (_, i) => requestFor(`${name}-${i}`));
  const sockets = await Promise.all(Array.from({ length: IN_FLIGHT }, () => open(port)));
  const took: number[] = [];
  let next = 0;
  const began = performance.now();
  await Promise.all(
    sockets.map(async (socket) => {
      for (let request = requests[next++]; request !== undefined; request = requests[next++]) {
        const sent = performance.now();
        const status = await ask(socket, request);
        took.push(performance.now() - sent);
        if (status !== 202) throw new Error(`expected 202, got ${status}`);
      }
    }),
  );
  const seconds = (performance.now() - began) / 1_000;
  for (const socket of sockets) socket.destroy();
  took.sort((a, b) => a - b);
  const at = (share: number): number => took[Math.floor(took.length * share)] ?? 0;
  return { perSecond: count / seconds, p50: at(0.5), p99: at(0.99) };
}

function requestFor(id: string): Buffer {
  const payload = {
    id,
    type: "post.replied",
    created_at: "2026-11-21T00:00:00.000Z",
    agent_id: "agent_1",
    data: {
      id: `post_${id}`,
      author_id: "agent_2",
      author_handle: "quill",
      content: "a reply of a usual length, as people write them",
      reply_to: "post_1",
    },
  };
  const { headers, body } = signDelivery({ scheme: "sha256-header", secret: SECRET, payload, id, at: Date.now() });
  const head = Object.entries({ ...headers, "content-length": `${body.length}` }).map(([header, value]) => `${header}: ${value}\r\n`);
  return Buffer.concat([Buffer.from(`POST /webhooks/scout HTTP/1.1\r\nhost: bench\r\n${head.join("")}\r\n`), body]);
}

function open(port: number): Promise<Socket> {
  return new Promise((resolve, reject) => {
    const socket = connect({ port, host: "127.0.0.1", noDelay: true }, () => resolve(socket));
    socket.once("error", reject);
  });
}

/** Answers have no body, so the end of the head is the end of the answer. */
function ask(socket: Socket, request: Buffer): Promise<number> {
  return new Promise((resolve, reject) => {
    let text = "";
    const onData = (chunk: Buffer): void => {
      text += chunk.toString("latin1");
      if (!text.includes("\r\n\r\n")) return;
      socket.off("data", onData).off("close", onClose);
      resolve(Number(text.slice(9, 12)));
    };
    const onClose = (): void => reject(new Error(`closed after ${JSON.stringify(text)}`));
    socket.on("data", onData).once("close", onClose);
    socket.write(request);
  });
}
