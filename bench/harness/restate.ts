/** A Restate of our own for the peer that needs one: the server inside its npm package, as it ships on one node, but for its log and telemetry. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { createRequire } from "node:module";
import { join } from "node:path";
import { freePort } from "../../test/harness/free-port.ts";

export interface Restate {
  /** Where its services are called, where they are made known to it, and a name that none of them has yet. */
  fresh(): RestateAccess;
  stop(): Promise<void>;
}

export interface RestateAccess {
  readonly ingress: string;
  readonly admin: string;
  readonly service: string;
}

/** What is said of it below a table. */
export const RESTATE_SETTINGS =
  "Restate: one node, its log on disk and synced, 24 partitions, all as it ships (telemetry off); the route verifies and sends to its ingress with the delivery's id as the idempotency key, the handler replies inside ctx.run";

const START_MS = 60_000;

/** Throws where its package or the binary for this machine is not installed, or where it does not come up. */
export async function startRestate(folder: string): Promise<Restate> {
  const bench = createRequire(join(import.meta.dirname, "../package.json"));
  const binary = bench.resolve(`@restatedev/restate-server-${process.platform}-${process.arch}/bin/restate-server`);
  const [node, ingressPort, adminPort] = [await freePort(), await freePort(), await freePort()];
  const server = spawn(
    binary,
    ["--no-logo", "--base-dir", join(folder, "restate"), "--node-name", "bench", "--bind-address", `127.0.0.1:${node}`],
    {
      stdio: ["ignore", "pipe", "pipe"],
      env: {
        PATH: process.env["PATH"],
        HOME: folder,
        DO_NOT_TRACK: "1",
        RESTATE_DISABLE_TELEMETRY: "true",
        RESTATE_LOG_FILTER: "warn",
        RESTATE_LISTEN_MODE: "tcp",
        RESTATE_INGRESS__BIND_ADDRESS: `127.0.0.1:${ingressPort}`,
        RESTATE_ADMIN__BIND_ADDRESS: `127.0.0.1:${adminPort}`,
      },
    },
  );
  let said = "";
  const hear = (chunk: Buffer): void => void (said = (said + chunk.toString()).slice(-2_000));
  server.stdout.on("data", hear);
  server.stderr.on("data", hear);
  const gone = once(server, "exit");
  const ingress = `http://127.0.0.1:${ingressPort}`;
  const admin = `http://127.0.0.1:${adminPort}`;
  const stop = async (): Promise<void> => {
    server.kill("SIGTERM");
    await gone;
  };
  try {
    await Promise.race([
      Promise.all([healthy(`${ingress}/restate/health`), healthy(`${admin}/health`)]),
      gone.then(() => Promise.reject(new Error(`restate-server ended by itself: ${said}`))),
    ]);
  } catch (error) {
    if (server.exitCode === null) await stop();
    throw error;
  }
  let services = 0;
  return { fresh: () => ({ ingress, admin, service: `effects${++services}` }), stop };
}

async function healthy(url: string): Promise<void> {
  for (const began = performance.now(); performance.now() - began < START_MS;) {
    const status = await fetch(url).then(
      (answer) => answer.status,
      () => undefined, // it does not listen yet
    );
    if (status === 200) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error(`restate-server was not ready after ${START_MS} ms`);
}
