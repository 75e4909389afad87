/** A local network behind a gate: every write is written down as it comes, and held until the gate lets it through. */
import { createServer, type IncomingMessage } from "node:http";
import type { AddressInfo } from "node:net";
import type { LocalNetwork } from "../../src/local-network/options.ts";

export interface Write {
  /** Of the action: the idempotency key it came with. */
  readonly id: string;
  /** By the clock of this machine. */
  readonly at: number;
}

export interface Gate {
  readonly baseUrl: string;
  /** Every write that came, oldest first. */
  readonly came: readonly Write[];
  /** Those not answered yet. */
  readonly held: ReadonlySet<string>;
  /** Of those, how many wait for the gate to open. */
  readonly stuck: number;
  /** From now on each write waits this long before it is let through; `forever` until the gate opens again. */
  hold(waitMs: () => number | "forever"): void;
  /** Everything that stands at the gate goes through. */
  open(): void;
  /** Resolves once `fits` holds, looked at whenever something comes or goes, or `look` is called. */
  until(fits: () => boolean): Promise<void>;
  look(): void;
  close(): Promise<void>;
}

export async function openGate(network: LocalNetwork): Promise<Gate> {
  const came: Write[] = [];
  const held = new Map<string, () => void>();
  const stuck = new Set<string>();
  const watching = new Set<() => void>();
  let waitMs: () => number | "forever" = () => 0;
  const look = (): void => watching.forEach((one) => one());
  const waits = (id: string): Promise<void> =>
    new Promise<void>((resolve) => {
      held.set(id, resolve);
      const ms = waitMs();
      if (ms === "forever") stuck.add(id);
      else setTimeout(resolve, ms);
      look();
    });
  const server = createServer((request, response) => {
    void (async () => {
      const body = await bodyOf(request);
      const { pathname, searchParams } = new URL(request.url ?? "/", "http://gate");
      const { method = "GET" } = request;
      const headers = Object.fromEntries(Object.entries(request.headers).map(([name, value]) => [name, String(value)]));
      const id = headers["idempotency-key"];
      if (id !== undefined) {
        came.push({ id, at: Date.now() });
        await waits(id);
      }
      const reply = await network.handle("b", { method, path: pathname, query: Object.fromEntries(searchParams), headers, body });
      response.writeHead(reply.status, reply.headers).end(reply.body);
      if (id !== undefined) held.delete(id);
      look();
    })();
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // it listens on TCP
  return {
    baseUrl: `http://127.0.0.1:${port}/v1`,
    came,
    get held() {
      return new Set(held.keys());
    },
    get stuck() {
      return stuck.size;
    },
    hold: (next) => void (waitMs = next),
    open() {
      waitMs = () => 0;
      stuck.clear();
      for (const letThrough of held.values()) letThrough();
    },
    until: (fits) =>
      new Promise<void>((resolve) => {
        const one = (): void => {
          if (!fits()) return;
          watching.delete(one);
          resolve();
        };
        watching.add(one);
        one();
      }),
    look,
    async close() {
      server.closeAllConnections();
      await new Promise<void>((resolve) => void server.close(() => resolve()));
    },
  };
}

async function bodyOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  return Buffer.concat(chunks).toString();
}
