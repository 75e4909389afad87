/** A Redis of our own for BullMQ, where the machine has a server: none comes with npm. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";
import { freePort } from "../../test/harness/free-port.ts";

/** When what is appended to its file is synced: before each answer, or once a second. */
export type Appendfsync = "always" | "everysec";

export interface Redis {
  /** Its port, with nothing left of earlier runs. */
  fresh(appendfsync?: Appendfsync): Promise<number>;
  stop(): Promise<void>;
}

/** What is said of it below a table. */
export const REDIS_SETTINGS = "Redis: append-only file, no snapshots, maxmemory-policy noeviction";

const SETTINGS = { bind: "127.0.0.1", appendonly: "yes", save: "", "maxmemory-policy": "noeviction" };
const START_MS = 10_000;

/** Throws where there is no `redis-server` or it does not answer. */
export async function startRedis(folder: string): Promise<Redis> {
  const port = await freePort();
  const args = Object.entries({ ...SETTINGS, port: String(port), dir: folder }).flatMap(([name, value]) => [`--${name}`, value]);
  const server = spawn("redis-server", args, { stdio: "ignore" });
  const absent = once(server, "error").then(() => {
    throw new Error("there is no redis-server on this machine, and none on npm");
  });
  const gone = once(server, "exit");
  await Promise.race([absent, gone.then(() => Promise.reject(new Error("redis-server ended by itself"))), listening(port)]);
  return {
    async fresh(appendfsync = "always") {
      for (const line of ["FLUSHALL", `CONFIG SET appendfsync ${appendfsync}`]) {
        const answer = await command(port, line);
        if (!answer.startsWith("+OK")) throw new Error(`redis-server answered ${line} with ${answer}`);
      }
      return port;
    },
    async stop() {
      server.kill("SIGTERM");
      await gone;
    },
  };
}

async function listening(port: number): Promise<void> {
  for (const began = performance.now(); performance.now() - began < START_MS;) {
    const answered = await command(port, "PING").catch(() => "");
    if (answered.startsWith("+PONG")) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("redis-server did not answer");
}

function command(port: number, line: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, "127.0.0.1", () => socket.write(`${line}\r\n`));
    socket.once("data", (answer) => (resolve(answer.toString()), socket.destroy())).once("error", reject);
  });
}
