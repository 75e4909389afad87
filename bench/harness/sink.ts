/**
 * The network of the benchmarks: answers every POST with 201, and tells of each which event it was for. HTTP over bare
 * sockets, as the machine's cores are for what is measured: it costs a fifth of what node:http does.
 */
import { createServer, type Server, type Socket } from "node:net";

export interface SinkOptions {
  /** Answers come this much later. */
  readonly delayMs?: number;
  /** Told of each effect when its request is complete: `n` of the path `/…/e<n>/…`. May answer the id of what came to be. */
  readonly onEffect: (event: number) => string | void;
  /** Told of each GET, and what to answer it with. */
  readonly onRead?: (path: string) => string;
}

export interface Sink {
  readonly port: number;
  /** Requests answered, of any kind. */
  requests(): number;
  close(): Promise<void>;
}

const LARGEST_HEAD = 64 * 1_024;

export async function openSink({ delayMs = 0, onEffect, onRead = () => "[]" }: SinkOptions): Promise<Sink> {
  const sockets = new Set<Socket>();
  let answered = 0;
  const take = (socket: Socket, head: string): void => {
    answered++;
    const path = head.slice(head.indexOf(" ") + 1, head.indexOf(" ", head.indexOf(" ") + 1));
    const post = head.startsWith("POST ");
    const event = /\/e(\d+)\//.exec(path)?.[1];
    const made = post && event !== undefined ? onEffect(Number(event)) : undefined;
    const body = post ? `{"id":"${made ?? `r${answered}`}","content":"thanks"}` : onRead(path);
    const text = `HTTP/1.1 ${post ? "201 Created" : "200 OK"}\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`;
    if (delayMs === 0) socket.write(text);
    else setTimeout(() => socket.writable && socket.write(text), delayMs);
  };
  const server: Server = createServer((socket) => {
    socket.setNoDelay(true);
    sockets.add(socket);
    socket.on("close", () => sockets.delete(socket)).on("error", () => socket.destroy());
    socket.on("data", requestReader(socket, take));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const address = server.address();
  if (address === null || typeof address === "string") throw new Error("the sink has no port");
  return {
    port: address.port,
    requests: () => answered,
    close: () =>
      new Promise((resolve) => {
        for (const socket of sockets) socket.destroy();
        server.close(() => resolve());
      }),
  };
}

/** Cuts what arrives into requests with a stated length, or chunked ones. */
function requestReader(socket: Socket, take: (socket: Socket, head: string) => void): (chunk: Buffer) => void {
  let rest = "";
  return (chunk) => {
    rest += chunk.toString("latin1");
    for (;;) {
      const headEnd = rest.indexOf("\r\n\r\n");
      if (headEnd < 0) {
        if (rest.length > LARGEST_HEAD) socket.destroy();
        return;
      }
      const head = rest.slice(0, headEnd);
      const bodyStart = headEnd + 4;
      const bodyEnd = /\r\ntransfer-encoding: chunked/i.test(head)
        ? rest.indexOf("0\r\n\r\n", bodyStart) + 5
        : bodyStart + Number(/\r\ncontent-length: (\d+)/i.exec(head)?.[1] ?? 0);
      if (bodyEnd < bodyStart || rest.length < bodyEnd) return;
      rest = rest.slice(bodyEnd);
      take(socket, head);
    }
  };
}
