/** Passes connections on, from an address and port to another address on the same port. As a program: `relay.ts <from> <to> <port>`. */
import { once } from "node:events";
import { connect, createServer, type Server } from "node:net";

/** Resolves once it listens. */
export async function relay(from: string, to: string, port: number): Promise<Server> {
  const server = createServer((near) => {
    const far = connect(port, to);
    near.pipe(far).pipe(near);
    for (const [one, other] of [
      [near, far],
      [far, near],
    ] as const) {
      one.setNoDelay(true).on("error", () => void other.destroy());
      one.on("close", () => void other.destroy());
    }
  });
  server.listen(port, from);
  await once(server, "listening");
  return server;
}

if (import.meta.main) {
  const [, , from = "", to = "", port = ""] = process.argv;
  await relay(from, to, Number(port));
  process.stdout.write("ready\n");
}
