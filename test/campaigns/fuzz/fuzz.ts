/** Broken requests by the ten thousand, while signed deliveries go on. `npm run fuzz -- <count> <seed>` */
import { fork, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { Agent, request } from "node:http";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { shippedNode } from "../../../bench/harness/shipped.ts";
import { signDelivery } from "../../../src/webhooks/receiver/sign.ts";
import type { Sent } from "./fuzz-sender.ts";
import { GRAMMAR, PERHAPS_SIGNED, RIGHTLY_SIGNED, UNENDING } from "./grammar.ts";
import type { ServerReport } from "./fuzz-server.ts";
import { SECRET } from "../../harness/webhook-secret.ts";

export interface FuzzOptions {
  readonly count: number;
  readonly seed: number;
  readonly atOnce?: number;
}

export interface FuzzResult {
  readonly sent: Sent;
  readonly server: ServerReport;
  readonly rssGrowthBytes: number;
  readonly keptGrowthBytes: number;
  /** Of the signed deliveries sent meanwhile. */
  readonly signed: Signed;
  /** Of those sent before and after, while nothing else came. */
  readonly alone: Signed;
  readonly seconds: number;
}

interface Signed {
  readonly count: number;
  readonly lost: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

/** Nothing but these: no 500, no 410. */
const EXPECTED: readonly string[] = ["100", "200", "202", "400", "401", "404", "408", "413", "414", "415", "417", "431", "503"];
/** Of a thousand requests that end, so many may get no answer: their sender was still writing when it was hung up on. */
const SILENT_PER_MILLE = 1;
const UNSENT_PER_MILLE = 10;
/** On a busy machine V8 lets 64 MiB of bodies lie outside its heap before it collects them; what it keeps after that is a leak. */
const MAX_GROWTH_BYTES = 128 * 2 ** 20;
const MAX_KEPT_GROWTH_BYTES = 8 * 2 ** 20;
const MAX_P99_MS = 250;
/** For a machine on which deliveries take long without an attack, too: 2 to 6 times as long were measured, on quiet and on busy ones. */
const MAX_TIMES_ALONE = 10;
/** Of the log, however many requests come. */
const MAX_LOG_BYTES_A_MINUTE = 16_384;

const SIGNED_EVERY_MS = 20;
/** Signed deliveries without an attack, before it and again after it. */
const ALONE = 150;
/** By then the heap has grown to what this kind of work needs; what comes on top would be a leak. */
const WARM_UP = 4_000;

export async function fuzz({ count, seed, atOnce = 64 }: FuzzOptions): Promise<FuzzResult> {
  const server = start("fuzz-server.ts", ["--expose-gc", ...shippedNode().flags]);
  try {
    const { port } = await answer<{ readonly port: number }>(server);
    await send(port, WARM_UP, seed + 1, atOnce);
    const early = await sendSigned(port, "early", (sofar) => sofar < ALONE);
    const before = await ask(server);
    const began = performance.now();
    let isOver = false;
    const signing = sendSigned(port, "signed", () => !isOver);
    const sent = await send(port, count, seed, atOnce);
    isOver = true;
    const signed = await signing;
    const report = await ask(server);
    const seconds = (performance.now() - began) / 1_000;
    const late = await sendSigned(port, "late", (sofar) => sofar < ALONE);
    return {
      sent,
      server: report,
      rssGrowthBytes: report.rssBytes - before.rssBytes,
      keptGrowthBytes: report.keptBytes - before.keptBytes,
      signed: summed([signed]),
      alone: summed([early, late]),
      seconds,
    };
  } finally {
    server.disconnect();
  }
}

/** What must not be: something taken that nobody signed, refused that somebody did, or left without an answer; a fault; no bound kept. */
export function wrongIn({ sent, server, rssGrowthBytes, keptGrowthBytes, signed, alone, seconds }: FuzzResult): readonly string[] {
  const rows = Object.entries(sent.byName).flatMap(([name, answers]) =>
    Object.entries(answers).map(([status, times]) => ({ name, status, times })),
  );
  const timesOf = (fits: (row: (typeof rows)[number]) => boolean): number => rows.filter(fits).reduce((sum, { times }) => sum + times, 0);
  const all = timesOf(() => true);
  const silent = timesOf(({ name, status }) => status === "none" && !UNENDING.includes(name));
  const unsent = timesOf(({ status }) => status === "unsent");
  const is2xx = (status: string): boolean => status.startsWith("2");
  const isStatus = (status: string): boolean => status !== "none" && status !== "unsent";
  const held = (fact: boolean, otherwise: string): readonly string[] => (fact ? [] : [otherwise]);
  return [
    ...Object.keys(GRAMMAR).flatMap((name) => held(sent.byName[name] !== undefined, `${name}: never sent`)),
    ...rows.flatMap(({ name, status, times }) => {
      const said = `${name}: ${status}, ${times} times`;
      if (!isStatus(status)) return [];
      if (RIGHTLY_SIGNED.includes(name)) return held(is2xx(status), `${said}, though rightly signed`);
      if (is2xx(status)) return held(PERHAPS_SIGNED.includes(name), `${said}, though never signed`);
      return held(EXPECTED.includes(status), said);
    }),
    ...held(silent * 1_000 <= all * SILENT_PER_MILLE, `${silent} of ${all} not answered`),
    ...held(unsent * 1_000 <= all * UNSENT_PER_MILLE, `${unsent} of ${all} not sent`),
    ...server.faults,
    ...held(server.handled > 0, "nothing came of what was stored"),
    ...held(rssGrowthBytes < MAX_GROWTH_BYTES, `memory grew by ${rssGrowthBytes} bytes`),
    ...held(keptGrowthBytes < MAX_KEPT_GROWTH_BYTES, `${keptGrowthBytes} bytes more kept`),
    ...held(server.logBytes < MAX_LOG_BYTES_A_MINUTE * (2 + seconds / 60), `${server.logBytes} bytes of log`),
    ...held(signed.lost + alone.lost === 0, `${signed.lost} signed deliveries lost, ${alone.lost} without an attack`),
    ...held(
      signed.count > 0 && signed.p99Ms < Math.max(MAX_P99_MS, MAX_TIMES_ALONE * alone.p99Ms),
      `signed deliveries took ${signed.p99Ms.toFixed(0)} ms, and ${alone.p99Ms.toFixed(0)} ms without an attack`,
    ),
  ];
}

/** With the settings that the command starts itself with: by others, memory grows without anything being kept. */
function start(file: string, flags: readonly string[] = []): ChildProcess {
  const env = { ...process.env, ...shippedNode().env };
  return fork(join(import.meta.dirname, file), { env, execArgv: ["--conditions=retinue-source", ...flags] });
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

interface Delivered {
  /** Milliseconds of each that was taken. */
  readonly took: readonly number[];
  readonly lost: number;
}

async function sendSigned(port: number, name: string, goesOn: (sofar: number) => boolean): Promise<Delivered> {
  const agent = new Agent({ keepAlive: true });
  const took: number[] = [];
  let lost = 0;
  for (let i = 0; goesOn(i); i++) {
    const began = performance.now();
    const status = await deliver(port, agent, `${name}_${i}`);
    if (status === 202) took.push(performance.now() - began);
    else lost++;
    await pause(SIGNED_EVERY_MS);
  }
  agent.destroy();
  return { took, lost };
}

function summed(all: readonly Delivered[]): Signed {
  const took = all.flatMap((one) => one.took).toSorted((a, b) => a - b);
  const lost = all.reduce((sum, one) => sum + one.lost, 0);
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
  const result = await fuzz({ count: Number(count), seed: Number(seed) });
  const { sent, server, rssGrowthBytes, keptGrowthBytes, signed, alone, seconds } = result;
  say(`${count} requests in ${seconds.toFixed(0)} s (${(Number(count) / seconds).toFixed(0)}/s), seed ${seed}`);
  for (const [name, answers] of Object.entries(sent.byName)) say(`${name}: ${JSON.stringify(answers)}`);
  say(
    `faults ${server.faults.length}, memory +${(rssGrowthBytes / 2 ** 20).toFixed(1)} MiB, kept +${(keptGrowthBytes / 2 ** 20).toFixed(1)} MiB, log ${server.logBytes} bytes, stored ${server.stored}, handled ${server.handled}, refused ${server.refused}, malformed ${server.malformed}`,
  );
  const told = ({ count: times, lost, p50Ms, p99Ms }: typeof signed): string =>
    `${times}, lost ${lost}, p50 ${p50Ms.toFixed(1)} ms, p99 ${p99Ms.toFixed(1)} ms`;
  say(`signed deliveries: ${told(signed)}`);
  say(`signed deliveries alone, before and after: ${told(alone)}`);
  const wrong = wrongIn(result);
  for (const one of wrong.slice(0, 20)) say(`WRONG ${one}`);
  process.exitCode = wrong.length === 0 ? 0 : 1;
}
