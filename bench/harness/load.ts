/** The sender of webhooks: so many in flight, or so many a second, over bare sockets that stay open. */
import { connect, type Socket } from "node:net";

export interface LoadOptions {
  readonly port: number;
  readonly total: number;
  /** The whole request of one delivery, as bytes. Made before the clock starts. */
  readonly requests: readonly Buffer[];
  /** How many are sent and not answered at a time; with `perSecond`, at most so many sockets. */
  readonly inFlight: number;
  /** Sent at this pace instead of one after another. */
  readonly perSecond?: number;
  readonly onSent: (n: number) => void;
  readonly onAnswer?: (n: number) => void;
}

export interface LoadEnd {
  readonly tookMs: number;
  /** Answers that were no 2xx: asked to come again (503), which is done, or anything else, which is not. */
  readonly again: number;
  readonly refused: number;
}

/** A sender that is turned away comes again after this. */
const AGAIN_MS = 10;
const PACE_MS = 5;

/** Sends every request once (again where it is answered 503) and resolves when all are answered. */
export async function drive(options: LoadOptions): Promise<LoadEnd> {
  const { total, requests, perSecond } = options;
  const began = performance.now();
  let next = 0;
  let again = 0;
  let refused = 0;
  let answered = 0;
  const waiting: number[] = [];
  const idle: Line[] = [];
  let finish: () => void = () => undefined;
  let fail: (error: Error) => void = () => undefined;
  const over = new Promise<void>((resolve, reject) => ((finish = resolve), (fail = reject)));

  const due = (): number =>
    perSecond === undefined ? total : Math.min(total, Math.floor(((performance.now() - began) / 1_000) * perSecond));
  const feed = (line: Line): void => {
    const n = waiting.shift() ?? (next < due() ? next++ : undefined);
    if (n === undefined) return void idle.push(line);
    const request = requests[n];
    if (request === undefined) return fail(new Error(`there is no request ${n}`));
    options.onSent(n);
    line.send(n, request);
  };
  const onAnswer = (line: Line, n: number, status: number): void => {
    if (status === 503) {
      again++;
      setTimeout(() => {
        waiting.push(n);
        const free = idle.pop();
        if (free !== undefined) feed(free);
      }, AGAIN_MS);
    } else {
      if (status >= 300) refused++;
      options.onAnswer?.(n);
      if (++answered === total) return finish();
    }
    feed(line);
  };
  const lines = await Promise.all(Array.from({ length: options.inFlight }, () => openLine(options.port, onAnswer, fail)));
  lines.forEach(feed);
  const pace = perSecond === undefined ? undefined : setInterval(() => feedIdle(), PACE_MS);
  const feedIdle = (): void => {
    while (idle.length > 0 && (waiting.length > 0 || next < due())) {
      const line = idle.pop();
      if (line !== undefined) feed(line);
    }
  };
  try {
    await over;
  } finally {
    clearInterval(pace);
    for (const line of lines) line.close();
  }
  return { tookMs: performance.now() - began, again, refused };
}

/** Nothing is asked on a line. */
const IDLE = -1;

interface Line {
  send(n: number, request: Buffer): void;
  close(): void;
}

function openLine(port: number, onAnswer: (line: Line, n: number, status: number) => void, fail: (error: Error) => void): Promise<Line> {
  return new Promise((resolve, reject) => {
    let current = IDLE;
    let rest = "";
    let closed = false;
    let asked: Buffer | undefined;
    let socket: Socket = connect(port, "127.0.0.1");
    const line: Line = {
      send(n, request) {
        current = n;
        asked = request;
        if (!socket.destroyed) return void socket.write(request);
        const fresh = connect(port, "127.0.0.1", () => (open(fresh), fresh.write(request)));
        fresh.once("error", fail);
      },
      close() {
        closed = true;
        socket.destroy();
      },
    };
    /** A receiver may close a connection that was idle just as it is used: a sender sends the request once more. */
    const sendAgain = (): void => {
      if (closed || current === IDLE) return;
      if (asked === undefined) return fail(new Error("the connection was closed"));
      const request = asked;
      asked = undefined;
      const fresh = connect(port, "127.0.0.1", () => (open(fresh), fresh.write(request)));
      fresh.once("error", fail);
    };
    const open = (made: Socket): void => {
      socket = made;
      socket.setNoDelay(true);
      socket.on("error", (error) => !isReset(error) && fail(error)).on("close", sendAgain);
      socket.on("data", (chunk) => {
        rest += chunk.toString("latin1");
        const end = answerEnd(rest);
        if (end < 0) return;
        const status = Number(rest.slice(9, 12));
        const closes = /\r\nconnection: close/i.test(rest.slice(0, end));
        rest = rest.slice(end);
        const n = current;
        current = IDLE;
        // A connection on which nothing was asked in time is closed with words nobody waits for.
        if (n === IDLE) return;
        if (!closes) return onAnswer(line, n, status);
        // Fresh connections are part of what a polite sender does after a 503.
        socket.removeAllListeners("close");
        socket.destroy();
        const fresh = connect(port, "127.0.0.1", () => (open(fresh), onAnswer(line, n, status)));
        fresh.once("error", fail);
      });
    };
    socket.once("connect", () => (open(socket), resolve(line))).once("error", reject);
  });
}

function isReset(error: Error): boolean {
  return "code" in error && (error.code === "ECONNRESET" || error.code === "EPIPE");
}

/** Where the first answer ends, or -1 while it is not complete. */
function answerEnd(text: string): number {
  const headEnd = text.indexOf("\r\n\r\n");
  if (headEnd < 0) return -1;
  const head = text.slice(0, headEnd);
  if (/\r\ntransfer-encoding: chunked/i.test(head)) {
    const last = text.indexOf("0\r\n\r\n", headEnd + 4);
    return last < 0 ? -1 : last + 5;
  }
  const end = headEnd + 4 + Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
  return text.length < end ? -1 : end;
}
