/** Broken requests by the ten thousand, while signed deliveries go on. `npm run fuzz -- <count> <seed>` */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { signDelivery } from "../../../src/intake/webhook/sign.ts";
import type { Sent } from "./fuzz-sender.ts";
import type { ServerReport } from "./fuzz-server.ts";
import { SECRET } from "./secret.ts";

export interface FuzzOptions {
  readonly count: number;
  readonly seed: number;
  readonly atOnce?: number;
}

export interface FuzzResult {
  readonly sent: Sent;
  readonly server: ServerReport;
  readonly rssGrowthBytes: number;
  /** Of the signed deliveries sent meanwhile. */
  readonly signed: { readonly count: number; readonly lost: number; readonly p50Ms: number; readonly p99Ms: number };
  readonly seconds: number;
}

const SIGNED_EVERY_MS = 20;
/** By then the heap has grown to what this kind of work needs; what comes on top would be a leak. */
const WARM_UP = 4_000;

export async function fuzz({ count, seed, atOnce = 64 }: FuzzOptions): Promise<FuzzResult> {
  const server = start("fuzz-server.ts", ["--expose-gc", "--max-semi-space-size=16"]);
  try {
    const { port } = await answer<{ readonly port: number }>(server);
    await send(port, WARM_UP, seed + 1, atOnce);
    const before = await ask(server);
    const began = performance.now();
    const over = new AbortController();
    const signing = sendSigned(port, over.signal);
    const sent = await send(port, count, seed, atOnce);
    over.abort();
    const signed = await signing;
    const report = await ask(server);
    return {
      sent,
      server: report,
      rssGrowthBytes: report.rssBytes - before.rssBytes,
      signed,
      seconds: (performance.now() - began) / 1_000,
    };
  } finally {
    server.disconnect();
  }
}

function start(file: string, flags: readonly string[] = []): ChildProcess {
  return fork(join(import.meta.dirname, file), { execArgv: ["--conditions=retinue-source", ...flags] });
}

/** Rejects when the process ends instead of answering: that is the crash we look for. */
async function answer<T>(child: ChildProcess): Promise<T> {
  const [message] = (await Promise.race([
    once(child, "message"),
    once(child, "exit").then(([code, signal]) => Promise.reject(new Error(`the process ended: ${String(code ?? signal)}`))),
  ])) as [T];
  return message;
}

function ask(server: ChildProcess): Promise<ServerReport> {
  server.send("report");
  return answer<ServerReport>(server);
}

async function send(port: number, count: number, seed: number, atOnce: number): Promise<Sent> {
  const sender = start("fuzz-sender.ts");
  sender.send({ port, count, seed, atOnce });
  return answer<Sent>(sender);
}

async function sendSigned(port: number, over: AbortSignal): Promise<FuzzResult["signed"]> {
  const agent = new Agent({ keepAlive: true });
  const took: number[] = [];
  let lost = 0;
  for (let i = 0; !over.aborted; i++) {
    const began = performance.now();
    const status = await deliver(port, agent, `signed_${i}`);
    if (status === 202) took.push(performance.now() - began);
    else lost++;
    await pause(SIGNED_EVERY_MS);
  }
  agent.destroy();
  took.sort((a, b) => a - b);
  const at = (share: number): number => took[Math.min(took.length - 1, Math.floor(took.length * share))] ?? Infinity;
  return { count: took.length, lost, p50Ms: at(0.5), p99Ms: at(0.99) };
}

export function deliver(port: number, agent: Agent, id: string): Promise<number> {
  const { headers, body } = signDelivery({
    scheme: "standard",
    secret: SECRET,
    payload: { id, type: "post.created", data: { id } },
    id,
    at: Date.now(),
  });
  return new Promise((resolve) => {
    const outgoing = request({
      port,
      host: "127.0.0.1",
      method: "POST",
      path: "/webhooks/scout",
      agent,
      headers: { ...headers, "content-length": body.length },
    });
    outgoing.on("response", (response) => {
      response.resume();
      response.once("end", () => resolve(response.statusCode ?? 0));
    });
    outgoing.once("error", () => resolve(0));
    outgoing.end(body);
  });
}

if (process.argv[1] === import.meta.filename) {
  const say = (line: string): void => void process.stdout.write(`${line}\n`);
  const [count = "500000", seed = "1"] = process.argv.slice(2);
  const { sent, server, rssGrowthBytes, signed, seconds } = await fuzz({ count: Number(count), seed: Number(seed) });
  say(`${count} requests in ${seconds.toFixed(0)} s (${(Number(count) / seconds).toFixed(0)}/s), seed ${seed}`);
  say(`answers: ${JSON.stringify(sent.statuses)}`);
  say(
    `faults ${server.faults.length}, memory +${(rssGrowthBytes / 2 ** 20).toFixed(1)} MiB, stored ${server.stored}, malformed ${server.malformed}`,
  );
  say(`signed deliveries: ${signed.count}, lost ${signed.lost}, p50 ${signed.p50Ms.toFixed(1)} ms, p99 ${signed.p99Ms.toFixed(1)} ms`);
  for (const fault of server.faults.slice(0, 5)) say(fault);
  process.exitCode = server.faults.length === 0 && rssGrowthBytes < 64 * 2 ** 20 && signed.p99Ms < 250 && signed.lost === 0 ? 0 : 1;
}
