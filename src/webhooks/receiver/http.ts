/** HTTP of the receiver: a request is checked completely before any byte of its body is used. */
import { once } from "node:events";
import { createServer, STATUS_CODES, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { Socket } from "node:net";
import { cannotListen } from "../../core/port-errors.ts";
import { SECOND } from "../../core/units.ts";
import type { Clock } from "../../core/clock.ts";
import { createConnectionTable, type ConnectionTable } from "./connections.ts";
import { targetOf, type Target } from "./delivery-path.ts";
import { createFloodGuard, isInnerPeer, type FloodGuard } from "./rate-limit.ts";
import type { Gate, GateAnswer } from "./accept.ts";

/** Longer bodies are refused while they stream in. */
export const MAX_BODY_BYTES = 256 * 1_024;
/** Most bytes of bodies in progress, all together; beyond it the sender with the longest-running body is asked to retry. */
const MAX_BYTES_IN_FLIGHT = 32 * 1_024 * 1_024;
const MAX_HEADER_BYTES = 16 * 1_024;
const MAX_HEADERS = 100;
const HEADERS_TIMEOUT_MS = 5 * SECOND;
const REQUEST_TIMEOUT_MS = 10 * SECOND;
/** Wait requested from a sender when there is no room for its body. */
const COME_BACK_S = 5;
const KEEP_ALIVE_MS = 30 * SECOND;
/** Most sockets; beyond it the one that has waited longest without a complete request makes room. */
const MAX_SOCKETS = 2_048;
/** Requests answered per connection, so that no sender keeps a socket for ever. */
const MAX_REQUESTS_PER_SOCKET = 10_000;

export interface ReceiverOptions {
  readonly gate: SenderCheck;
  readonly clock: Pick<Clock, "monotonic">;
  /** Called on a defect of the receiver itself. */
  readonly onError?: (error: unknown) => void;
  readonly maxSockets?: number;
  /** Time for a request to arrive completely. Default 10 s. */
  readonly timeoutMs?: number;
}

export interface Listening {
  readonly port: number;
  /** `http://127.0.0.1:8080/webhooks/`, to which the specialist's handle is appended. Any prefix may precede `/webhooks/`, or replace it. */
  readonly url: string;
}

export interface ReceiverCounts {
  /** Requests that were not HTTP, or did not arrive in time. */
  readonly malformed: number;
  readonly tooLarge: number;
  /** Connections closed to make room for others. */
  readonly evicted: number;
  /** Open connections. */
  readonly open: number;
  /** Requests refused because their address had sent too many bad ones. */
  readonly rateLimited: number;
  /** Requests refused because their path ends in no specialist of ours. */
  readonly misaddressed: number;
}

export interface Receiver {
  /** Throws `Retryable` (`port_in_use`) or `Misconfigured` (`cannot_listen`). Port 0 takes any free one. */
  listen(address: { readonly port: number; readonly host: string }): Promise<Listening>;
  /** Accepts no new requests, finishes the present ones, closes idle connections. */
  close(): Promise<void>;
  counts(): ReceiverCounts;
}

export function createReceiver(options: ReceiverOptions): Receiver {
  const { gate, clock, onError, maxSockets = MAX_SOCKETS, timeoutMs = REQUEST_TIMEOUT_MS } = options;
  const seen = { malformed: 0, tooLarge: 0, rateLimited: 0, misaddressed: 0 };
  const crowd = createConnectionTable(maxSockets);
  const floods = createFloodGuard(clock);
  const bodies = createBodyReader(() => (seen.tooLarge += 1));
  let closing = false;
  const parts: DeliveryParts = { floods, crowd, onError, isClosing: () => closing };
  const onMalformed = (socket: Socket, status: number): void => {
    seen.malformed += 1;
    if (bodies.stop(socket, status)) return;
    floods.refused(socket.remoteAddress);
    if (socket.writable) socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
    else socket.destroy();
  };
  /** The status that refuses a request before its body is read, or the place that it is addressed to. */
  const judge = (request: IncomingMessage): number | Target => {
    if (closing) return 503;
    if (floods.watching() && floods.bars(addressOf(request))) {
      seen.rateLimited += 1;
      return 429;
    }
    if (request.rawHeaders.length > 2 * MAX_HEADERS) return 431;
    if (request.headers.host === undefined) return 400;
    if (request.headers.expect?.toLowerCase().includes("100-continue") === false) return 417;
    const target = request.method === "POST" ? targetOf(request.url ?? "", gate.knows) : undefined;
    if (target !== undefined && gate.knows(target.specialist)) return target;
    seen.misaddressed += 1;
    return 404;
  };
  const onRequest = (request: IncomingMessage, response: ServerResponse): void => {
    const delivery = new Delivery(request, response, parts);
    delivery.guard(() => {
      const target = judge(request);
      if (typeof target === "number") return delivery.refuse(target);
      // The content type is ignored: the signature covers the bytes, and their meaning is read from them.
      bodies.read(request, (body) => {
        if (typeof body === "number") delivery.refuse(body);
        else delivery.guard(() => delivery.hand(gate, target, body));
      });
    });
  };
  const server = serve(timeoutMs, onRequest);
  server.on("connection", (socket) => {
    void socket.remoteAddress; // once read, the address stays known after a disconnect
    crowd.enter(socket);
  });
  // Node would answer these itself, and count nothing against the sender.
  server.on("clientError", ({ code = "" }: NodeJS.ErrnoException, socket: Socket) => onMalformed(socket, MALFORMED[code] ?? 400));
  server.on("connect", ({ socket }) => {
    seen.malformed += 1;
    floods.refused(socket.remoteAddress);
    socket.destroy(); // Node has removed its error listeners: a failed write of an answer would be uncaught
  });

  return {
    listen: (address) => listenOn(server, address),
    async close() {
      closing = true;
      if (!server.listening) return;
      const closed = once(server, "close");
      server.close();
      await closed;
    },
    counts: () => ({ ...seen, evicted: crowd.evicted(), open: crowd.open() }),
  };
}

function serve(timeoutMs: number, onRequest: (request: IncomingMessage, response: ServerResponse) => void): Server {
  const server = createServer(
    {
      maxHeaderSize: MAX_HEADER_BYTES,
      requestTimeout: timeoutMs,
      headersTimeout: Math.min(HEADERS_TIMEOUT_MS, timeoutMs),
      connectionsCheckingInterval: Math.min(SECOND, timeoutMs),
      keepAliveTimeout: KEEP_ALIVE_MS,
      insecureHTTPParser: false,
      requireHostHeader: false,
    },
    onRequest,
  );
  server.maxRequestsPerSocket = MAX_REQUESTS_PER_SOCKET;
  server.on("checkExpectation", onRequest); // answered like any request
  return server;
}

async function listenOn(server: Server, { port, host }: { readonly port: number; readonly host: string }): Promise<Listening> {
  try {
    server.listen(port, host);
    await once(server, "listening");
  } catch (error) {
    throw cannotListen(error, {
      what: "the webhook receiver cannot listen",
      hint: "set RETINUE_WEBHOOK_PORT to a free port, or 0 for any",
    });
  }
  const address = server.address();
  const bound = typeof address === "object" && address !== null ? address.port : port;
  return { port: bound, url: `http://${host.includes(":") ? `[${host}]` : host}:${bound}/webhooks/` };
}

/** The part of a gate that the receiver needs; a recording one suffices. */
export type SenderCheck = Pick<Gate, "accept" | "knows">;

/** Statuses for the errors of Node's parser and timers; every other one is 400. */
const MALFORMED: { readonly [code: string]: number | undefined } = { ERR_HTTP_REQUEST_TIMEOUT: 408, HPE_HEADER_OVERFLOW: 431 };

/** The sender's address. A proxy nearby is trusted to name its client; a remote peer is not. */
function addressOf({ socket, headers }: IncomingMessage): string | undefined {
  let address = socket.remoteAddress;
  const forwarded = headers["x-forwarded-for"];
  const names = (typeof forwarded === "string" ? forwarded : (forwarded ?? []).join(",")).split(",");
  while (isInnerPeer(address)) {
    const name = names.pop()?.trim();
    if (name === undefined || name === "") break;
    address = name;
  }
  return address;
}

interface DeliveryParts {
  readonly floods: FloodGuard;
  readonly crowd: ConnectionTable;
  readonly onError: ReceiverOptions["onError"];
  readonly isClosing: () => boolean;
}

/** A request and its answer. */
class Delivery {
  readonly #request: IncomingMessage;
  readonly #response: ServerResponse;
  readonly #parts: DeliveryParts;

  constructor(request: IncomingMessage, response: ServerResponse, parts: DeliveryParts) {
    this.#request = request;
    this.#response = response;
    this.#parts = parts;
  }

  /** An error is our fault, so the sender should retry. */
  guard(step: () => void): void {
    try {
      step();
    } catch (error) {
      this.#fail(error);
    }
  }

  hand(gate: SenderCheck, { specialist, token }: Target, body: Buffer): void {
    const { socket, headers } = this.#request;
    this.#parts.crowd.work(socket, 1);
    gate.accept(specialist, token === undefined ? { headers, body } : { headers, body, token }).then(
      (answer) => {
        this.#parts.crowd.work(socket, -1);
        this.guard(() => this.#answer(answer));
      },
      (error: unknown) => {
        this.#parts.crowd.work(socket, -1);
        this.#fail(error);
      },
    );
  }

  #answer({ status, retryAfterS, verified }: GateAnswer): void {
    const { floods } = this.#parts;
    if (!verified && status >= 400) floods.refused(addressOf(this.#request));
    else if (verified && floods.watching()) floods.accepted(addressOf(this.#request));
    if (retryAfterS !== undefined) this.#response.setHeader("retry-after", retryAfterS);
    // A connection kept alive would delay the end of the server.
    this.#response.writeHead(status, this.#parts.isClosing() ? NO_MORE : NO_BODY).end();
  }

  /** Refuses without a reason in the body, and closes the connection. Counts against the sender, because nothing refused here is verified. */
  refuse(status: number): void {
    if (status === 503 || status === 429) this.#response.setHeader("retry-after", COME_BACK_S);
    if (status !== 429) this.#parts.floods.refused(addressOf(this.#request));
    this.#response.writeHead(status, NO_MORE).end();
  }

  #fail(error: unknown): void {
    this.#parts.onError?.(error);
    if (!this.#response.headersSent) this.refuse(503);
  }
}

const NO_BYTES: Buffer = Buffer.alloc(0);
const NO_BODY = { "content-length": 0 } as const;
const NO_MORE = { ...NO_BODY, connection: "close" } as const;

/** Called with the body, or with the status that refuses it. */
type Done = (body: Buffer | number) => void;

/** Reads a body as bytes, with one bound for each and one for all together. */
function createBodyReader(onTooLarge: () => void) {
  let inFlight = 0;
  /** Bodies in progress, oldest first: a delivery arrives quickly, so a slow sender makes room for others. */
  const underWay = new Map<Socket, (status: number) => void>();
  const makeRoom = (): void => {
    for (const stop of underWay.values()) {
      if (inFlight <= MAX_BYTES_IN_FLIGHT) return;
      stop(503);
    }
  };
  return {
    /** Ends the body in progress on this socket with an answer. False if there is none. */
    stop(socket: Socket, status: number): boolean {
      const stop = underWay.get(socket);
      stop?.(status);
      return stop !== undefined;
    },
    read(stream: IncomingMessage, done: Done): void {
      const { socket } = stream;
      /** Nearly every body comes as one part. */
      let first: Buffer | undefined;
      let others: Buffer[] | undefined;
      let size = 0;
      let over = false;
      const finish = (body: Buffer | number): void => {
        if (over) return;
        over = true;
        underWay.delete(socket);
        inFlight -= size;
        // The other listeners do nothing from now on, and go with the request.
        if (typeof body === "number") stream.off("data", onData).resume();
        done(body);
      };
      const onData = (chunk: Buffer): void => {
        size += chunk.length;
        inFlight += chunk.length;
        if (first === undefined) first = chunk;
        else (others ??= []).push(chunk);
        if (size > MAX_BODY_BYTES) {
          onTooLarge();
          finish(413);
        } else if (inFlight > MAX_BYTES_IN_FLIGHT) makeRoom();
      };
      const onEnd = (): void => finish(others === undefined ? (first ?? NO_BYTES) : Buffer.concat([first ?? NO_BYTES, ...others], size));
      const onBroken = (): void => finish(400);
      if (Number(stream.headers["content-length"] ?? 0) > MAX_BODY_BYTES) {
        onTooLarge();
        return finish(413);
      }
      underWay.set(socket, finish);
      stream.on("data", onData).on("end", onEnd).on("error", onBroken).on("close", onBroken);
    },
  };
}
