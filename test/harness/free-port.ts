/** A port that nothing listens on at the moment, for servers that have to be told theirs. */
import { createServer } from "node:net";

export function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer();
    probe.once("error", reject).listen(0, "127.0.0.1", () => {
      const address = probe.address();
      probe.close(() => (address === null || typeof address === "string" ? reject(new Error("no free port")) : resolve(address.port)));
    });
  });
}
