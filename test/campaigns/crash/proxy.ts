/** A TCP proxy that misbehaves between a process under test and the network: it delays, slices, resets, swallows, and answers too late. */
import { createServer, connect, type AddressInfo, type Server, type Socket } from "node:net";
import type { Random } from "../../../src/core/random.ts";

export interface ProxyFaults {
  /** Each chunk waits up to this long. */
  readonly delayMs: number;
  /** Share of chunks that break the connection before they pass, in either direction. */
  readonly resets: number;
  /** Share of chunks sent byte by byte in two parts. */
  readonly slices: number;
  /** Share of answers' chunks that wait for `lateMs`, so that whoever asked has given up. A request is never so late: what it may do late is stated. */
  readonly late: number;
  readonly lateMs: number;
  /** Share of chunks after which their direction passes nothing more, and the connection stays open. */
  readonly swallowed: number;
}

export const NO_FAULTS: ProxyFaults = { delayMs: 0, resets: 0, slices: 0, late: 0, lateMs: 0, swallowed: 0 };

/** What was done on purpose, in connections and chunks. */
export interface Mishaps {
  readonly broken: number;
  readonly late: number;
  readonly swallowedRequests: number;
  readonly swallowedAnswers: number;
}

export interface FaultProxy {
  readonly port: number;
  faults: ProxyFaults;
  readonly mishaps: Mishaps;
  close(): Promise<void>;
}

/** Listens on a free port of this machine and passes everything on to `target`. */
export async function openProxy(target: number, random: Random, faults: ProxyFaults): Promise<FaultProxy> {
  const sockets = new Set<Socket>();
  const state = { faults };
  const mishaps = { broken: 0, late: 0, swallowedRequests: 0, swallowedAnswers: 0 };
  const track = (socket: Socket): Socket => {
    sockets.add(socket);
    socket.setNoDelay(true);
    socket.on("close", () => sockets.delete(socket));
    return socket;
  };
  const waitOf = (isAnswer: boolean): number => {
    const { delayMs, late, lateMs } = state.faults;
    if (!isAnswer || random.next() >= late) return delayMs === 0 ? 0 : random.int(delayMs);
    mishaps.late++;
    return lateMs;
  };
  const server: Server = createServer({ allowHalfOpen: true }, (client) => {
    track(client);
    const upstream = track(connect({ port: target, host: "127.0.0.1", allowHalfOpen: true }));
    const both = (): void => {
      client.resetAndDestroy();
      upstream.resetAndDestroy();
    };
    const pass = (from: Socket, to: Socket): void => {
      const isAnswer = from === upstream;
      let isDeaf = false;
      let last: Promise<void> = Promise.resolve();
      from.on("data", (chunk) => {
        const { resets, slices, swallowed } = state.faults;
        if (random.next() < resets) {
          mishaps.broken++;
          return both();
        }
        if (!isDeaf && random.next() < swallowed) {
          isDeaf = true;
          mishaps[isAnswer ? "swallowedAnswers" : "swallowedRequests"]++;
        }
        if (isDeaf) return;
        const waitMs = waitOf(isAnswer);
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
    mishaps,
    get faults() {
      return state.faults;
    },
    set faults(next) {
      state.faults = next;
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
