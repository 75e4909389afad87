/** Sends broken requests from a process of its own, so that making them does not slow down whoever is measured. */
import { connect } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { seededRandom } from "../../../src/core/random.ts";
import { anyRequest, UNENDING, type RawRequest } from "./grammar.ts";
import { SECRET } from "../../harness/webhook-secret.ts";

export interface SendOrder {
  readonly port: number;
  readonly count: number;
  readonly seed: number;
  readonly atOnce: number;
}

/** What came back: for each kind of request how often which status, `none` or `unsent`. */
export interface Sent {
  readonly byName: Readonly<Record<string, Answers>>;
}

export type Answers = Readonly<Record<string, number>>;

/** Whoever has not answered by then is left alone. */
const PATIENCE_MS = 5_000;
/** A request without an end is never answered. */
const UNENDING_PATIENCE_MS = 150;

/** Local addresses taken in turn: one alone runs out of ports within a minute. */
const ADDRESSES = 200;
let turn = 0;

async function send(request: RawRequest, port: number): Promise<string> {
  const localAddress = `127.0.1.${1 + (turn++ % ADDRESSES)}`;
  const socket = connect({ port, host: "127.0.0.1", localAddress, noDelay: true });
  let text = "";
  const opened = new Promise<boolean>((resolve) => {
    socket.once("connect", () => resolve(true));
    socket.once("close", () => resolve(false));
  });
  const ended = new Promise<void>((resolve) => {
    socket.on("data", (chunk: Buffer) => {
      text += chunk.toString("latin1").slice(0, 1_000);
      if (text.includes("\r\n\r\n")) resolve();
    });
    socket.once("error", () => resolve());
    socket.once("close", () => resolve());
  });
  // However slow the machine is now, patience begins with the connection.
  if (!(await opened)) return "unsent";
  const writing = (async () => {
    for (const piece of request.pieces) {
      if (socket.destroyed) return;
      if (piece.length > 0) socket.write(piece);
      if (request.pauseMs !== undefined) await pause(request.pauseMs);
    }
  })();
  const patience = new AbortController();
  const patienceMs = UNENDING.includes(request.name) ? UNENDING_PATIENCE_MS : PATIENCE_MS;
  await Promise.race([ended, writing.then(() => pause(patienceMs, undefined, { signal: patience.signal }).catch(() => undefined))]);
  patience.abort();
  socket.destroy();
  await writing;
  return /^HTTP\/1\.1 (\d{3})/.exec(text)?.[1] ?? "none";
}

process.once("message", (order: SendOrder) => {
  const byName: Record<string, Record<string, number>> = {};
  let left = order.count;
  const worker = async (index: number): Promise<void> => {
    const random = seededRandom(order.seed).fork(`${index}`);
    while (left-- > 0) {
      const request = anyRequest(random, SECRET, Date.now());
      const status = await send(request, order.port);
      const answers = (byName[request.name] ??= {});
      answers[status] = (answers[status] ?? 0) + 1;
    }
  };
  void Promise.all(Array.from({ length: order.atOnce }, (_, i) => worker(i))).then(() => {
    const sent: Sent = { byName };
    process.send?.(sent);
    process.disconnect();
  });
});
