/** A model that takes a second to answer. It logs which process asked it about which event: that process has the event under way. */
import { createServer } from "node:http";

export interface SlowModel {
  readonly port: number;
  /** The process that asked about an event last. */
  askedBy(event: number): number | undefined;
  close(): Promise<void>;
}

export const THINK_MS = 1_000;

/** Where a handler asks: one path for each event and process. */
export const modelUrl = (port: number): string => `http://127.0.0.1:${port}/think`;

export async function openModel(): Promise<SlowModel> {
  const asked = new Map<number, number>();
  const server = createServer((request, response) => {
    const [, event, pid] = /^\/think\/e(\d+)\/(\d+)$/.exec(request.url ?? "") ?? [];
    if (event === undefined || pid === undefined) return void response.writeHead(404).end();
    asked.set(Number(event), Number(pid));
    request.resume();
    setTimeout(() => response.end("thanks"), THINK_MS);
  });
  server.keepAliveTimeout = 60_000;
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the model has no port");
  return {
    port: address.port,
    askedBy: (event) => asked.get(event),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
