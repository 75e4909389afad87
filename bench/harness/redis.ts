/** A Redis of our own for BullMQ, appendfsync always, where the machine has a server: none comes with npm. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { connect } from "node:net";

export interface Redis {
  /** Its port, with nothing left of earlier runs. */
  fresh(): Promise<number>;
  stop(): Promise<void>;
}

const PORT = 6_399;
const START_MS = 10_000;

/** Throws where there is no `redis-server` or it does not answer. */
export async function startRedis(folder: string): Promise<Redis> {
  const args = [
    "--port",
    String(PORT),
    "--bind",
    "127.0.0.1",
    "--dir",
    folder,
    "--appendonly",
    "yes",
    "--appendfsync",
    "always",
    "--save",
    "",
  ];
  const server = spawn("redis-server", args, { stdio: "ignore" });
  await Promise.race([
    once(server, "error").then(() => Promise.reject(new Error("there is no redis-server on this machine, and none on npm"))),
    listening(),
  ]);
  return {
    async fresh() {
      await command("FLUSHALL\r\n");
      return PORT;
    },
    async stop() {
      server.kill("SIGTERM");
      await once(server, "exit");
    },
  };
}

async function listening(): Promise<void> {
  for (const began = performance.now(); performance.now() - began < START_MS;) {
    const answered = await command("PING\r\n").catch(() => "");
    if (answered.startsWith("+PONG")) return;
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
  throw new Error("redis-server did not answer");
}

function command(text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(PORT, "127.0.0.1", () => socket.write(text));
    socket.once("data", (answer) => (resolve(answer.toString()), socket.destroy())).once("error", reject);
  });
}
