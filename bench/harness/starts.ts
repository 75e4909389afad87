/** Peers as their users start them: from spawn to their first answered delivery, or to an agent that is there, and what they hold while idle. */
import { spawn, type ChildProcess } from "node:child_process";
import { once } from "node:events";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { SECRET } from "../subjects/webhook.ts";
import { openBackends, type Needing } from "./backends.ts";
import { githubRequest, slackRequest } from "./deliveries.ts";
import { drive } from "./load.ts";
import type { BenchContext } from "./suite.ts";

export interface Started {
  readonly startMs: number;
  /** Resident, some seconds after the start. */
  readonly idleMb: number;
}

interface Peer extends Needing {
  readonly peer: string;
  /** What it is sent; nothing is sent to an agent, which has no door of its own. */
  readonly delivery?: (n: number) => Buffer;
}

const PEERS: readonly Peer[] = [
  { name: "Probot 14.3.2", peer: "probot", delivery: () => githubRequest(1) },
  { name: "Bolt 5.1.0", peer: "bolt", delivery: slackRequest },
  { name: "pg-boss 12.35.0", peer: "pg-boss", delivery: (n) => githubRequest(n), needs: "postgres" },
  { name: "DBOS 5.3.0", peer: "dbos", delivery: (n) => githubRequest(n), needs: "postgres" },
  { name: "BullMQ 6.7.0", peer: "bullmq", delivery: (n) => githubRequest(n), needs: "redis" },
  { name: "Mastra 1.71.0", peer: "mastra" },
  { name: "VoltAgent 2.10.0", peer: "voltagent" },
  { name: "elizaOS 1.7.2", peer: "elizaos" },
];

const LATEST_MS = 60_000;

export interface PeerStarts {
  readonly name: string;
  /** Up to what was timed. */
  readonly until: string;
  readonly starts: readonly Started[];
}

/** Each as often as asked for, after one that fills the page cache and makes its tables. */
export async function startPeers(
  runs: number,
  idleMs: number,
  context: BenchContext,
): Promise<{ readonly peers: readonly PeerStarts[]; readonly missing: readonly string[] }> {
  const backends = await openBackends(PEERS, context);
  const peers: PeerStarts[] = [];
  const missing = [...backends.missing];
  try {
    for (const peer of backends.able) {
      const server = await backends.settingsFor(peer, `start_${peer.peer.replaceAll("-", "")}`);
      try {
        const starts: Started[] = [];
        for (let run = 0; run <= runs; run++) starts.push(await start(peer, server, run, run === 0 ? 0 : idleMs));
        const until = peer.delivery === undefined ? "to an agent that is there" : "to its first answered delivery";
        peers.push({ name: peer.name, until, starts: starts.slice(1) });
        context.progress(`${peer.name} started`);
      } catch (error) {
        missing.push(`${peer.name} could not run: ${error instanceof Error ? error.message.split("\n")[0] : String(error)}`);
      }
    }
  } finally {
    await backends.stop();
  }
  return { peers, missing };
}

async function start({ peer, delivery }: Peer, server: Readonly<Record<string, unknown>>, run: number, idleMs: number): Promise<Started> {
  const began = performance.now();
  const child = spawn(
    process.execPath,
    [join(import.meta.dirname, "../subjects/started.js"), JSON.stringify({ peer, secret: SECRET, ...server })],
    { stdio: ["ignore", "ignore", "pipe", "ipc"], env: { PATH: process.env["PATH"], HOME: process.env["HOME"], NODE_ENV: "production" } },
  );
  const ended = endOf(child);
  try {
    const [message] = (await Promise.race([once(child, "message"), ended.early, late(() => `${peer} did not start: ${ended.said()}`)])) as [
      { readonly port?: number },
    ];
    const { port } = message;
    if (port !== undefined && delivery !== undefined) {
      const { refused } = await drive({ port, total: 1, requests: [delivery(run)], inFlight: 1, onSent: () => undefined });
      if (refused > 0) throw new Error(`${peer} refused its first delivery: ${ended.said()}`);
    }
    const startMs = performance.now() - began;
    return { startMs, idleMb: await idleMb(child.pid, idleMs) };
  } finally {
    await stopped(child);
  }
}

/** The end of what a process writes to stderr, and a promise that fails when it ends by itself. */
export function endOf(child: ChildProcess): { readonly early: Promise<never>; said(): string } {
  let said = "";
  child.stderr?.on("data", (chunk: Buffer) => void (said = (said + chunk.toString()).slice(-2_000)));
  const early = once(child, "exit").then(([status]): never => {
    throw new Error(`it ended by itself with ${status}: ${said}`);
  });
  early.catch(() => undefined); // of interest only while somebody waits for more
  return { early, said: () => said };
}

export function late(why: () => string): Promise<never> {
  return new Promise((_, reject) => setTimeout(() => reject(new Error(why())), LATEST_MS).unref());
}

/** Resolves once it has ended: killed, where it does not heed another signal. */
export async function stopped(child: ChildProcess, signal: NodeJS.Signals = "SIGKILL"): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  child.kill(signal);
  const deaf = setTimeout(() => child.kill("SIGKILL"), LATEST_MS);
  await once(child, "exit");
  clearTimeout(deaf);
}

/** What a process holds now (VmRSS) or held at most (VmHWM); undefined when it has ended. */
export function memoryMb(pid: number | undefined, which: "VmRSS" | "VmHWM"): number | undefined {
  const status = `/proc/${pid ?? 0}/status`;
  const kb = existsSync(status) ? new RegExp(`${which}:\\s+(\\d+)`).exec(readFileSync(status, "utf8"))?.[1] : undefined;
  return kb === undefined ? undefined : Number(kb) / 1_024;
}

/** The same of a process that has to be there. Throws where the system does not tell. */
export async function idleMb(pid: number | undefined, idleMs: number): Promise<number> {
  await new Promise((resolve) => setTimeout(resolve, idleMs));
  const mb = memoryMb(pid, "VmRSS");
  if (mb === undefined) throw new Error("this system does not tell what a process holds");
  return mb;
}
