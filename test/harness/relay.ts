/** Passes connections on, from an address and port to another address on the same port. As a program: `relay.ts <from> <to> <port>`. */
import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

export interface Relay {
  /** Ends every connection. */
  close(): Promise<void>;
}

/** Resolves once it listens. */
export async function relay(from: string, to: string, port: number): Promise<Relay> {
  const sockets = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(port, to);
    near.pipe(far).pipe(near);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(one);
      one.setNoDelay(true).on("error", () => void other.destroy());
      one.on("close", () => {
        sockets.delete(one);
        other.destroy();
      });
    }
  });
  server.listen(port, from);
  await once(server, "listening");
  return {
    async close() {
      for (const socket of sockets) socket.destroy();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
}

if (import.meta.main) {
  const [, , from = "", to = "", port = ""] = process.argv;
  await relay(from, to, Number(port));
  process.stdin.on("end", () => process.exit()).resume(); // it ends with the process that started it
  process.stdout.write("ready\n");
}
