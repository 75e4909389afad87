/** A TCP proxy that misbehaves: it delays, slices and resets connections between a process under test and the network. */
import { createServer, connect, type AddressInfo, type Server, type Socket } from "node:net";
import type { Random } from "../../src/core/random.ts";

export interface ProxyFaults {
  /** Each chunk waits up to this long. */
  readonly delayMs: number;
  /** Share of chunks that break the connection before they pass, in either direction. */
  readonly resets: number;
  /** Share of chunks sent byte by byte in two parts. */
  readonly slices: number;
}

export const NO_FAULTS: ProxyFaults = { delayMs: 0, resets: 0, slices: 0 };

export interface FaultProxy {
  readonly port: number;
  faults: ProxyFaults;
  /** Connections broken on purpose. */
  readonly broken: number;
  close(): Promise<void>;
}

/** Listens on a free port of this machine and passes everything on to `target`. */
export async function openProxy(target: number, random: Random, faults: ProxyFaults): Promise<FaultProxy> {
  const sockets = new Set<Socket>();
  const state = { faults, broken: 0 };
  const track = (socket: Socket): Socket => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on("close", () => sockets.delete(socket));
    return socket;
  };
  const server: Server = createServer({ allowHalfOpen: true }, (client) => {
    track(client);
    const upstream = track(connect({ port: target, host: "127.0.0.1", allowHalfOpen: true }));
    const both = (): void => {
      client.resetAndDestroy();
      upstream.resetAndDestroy();
    };
    const pass = (from: Socket, to: Socket): void => {
      let last: Promise<void> = Promise.resolve();
      from.on("data", (chunk) => {
        const { delayMs, resets, slices } = state.faults;
        if (random.next() < resets) {
          state.broken++;
          return both();
        }
        const waitMs = delayMs === 0 ? 0 : random.int(delayMs);
        const cut = random.next() < slices ? 1 + random.int(chunk.length) : chunk.length;
        last = last.then(() => delayed(waitMs)).then(() => void (to.writable && to.write(chunk.subarray(0, cut))));
        if (cut < chunk.length) last = last.then(() => delayed(1)).then(() => void (to.writable && to.write(chunk.subarray(cut))));
      });
      from.on("end", () => void (last = last.then(() => void to.end())));
      from.on("error", both);
    };
    pass(client, upstream);
    pass(upstream, client);
  });
  await new Promise<void>((resolve) => void server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo; // it listens on TCP
  return {
    port,
    get faults() {
      return state.faults;
    },
    set faults(next) {
      state.faults = next;
    },
    get broken() {
      return state.broken;
    },
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

function delayed(ms: number): Promise<void> {
  return ms === 0 ? Promise.resolve() : new Promise((resolve) => void setTimeout(resolve, ms));
}
