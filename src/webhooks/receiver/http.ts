/** HTTP of the receiver: a request is checked completely before any byte of its body is used. */
import { STATUS_CODES, type IncomingMessage } from "node:http";
import type { Socket } from "node:net";
import fastify, { type FastifyReply, type FastifyRequest } from "fastify";
import { cannotListen } from "../../core/port-errors.ts";
import { SECOND } from "../../core/units.ts";
import type { Clock } from "../../core/clock.ts";
import { createConnectionTable, type ConnectionTable } from "./connections.ts";
import { MAX_PART_LENGTH, NOWHERE, routeOf } from "./delivery-path.ts";
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
  const refuse = createRefusal(floods);
  const refuseAddress = (reply: FastifyReply): FastifyReply => {
    seen.misaddressed += 1;
    return refuse(reply, 404);
  };
  const bodies = createBodyReader(() => (seen.tooLarge += 1));
  const onMalformed = (socket: Socket, status: number): void => {
    seen.malformed += 1;
    if (bodies.stop(socket, status)) return;
    floods.refused(socket.remoteAddress);
    if (socket.writable) socket.end(`HTTP/1.1 ${status} ${STATUS_CODES[status]}\r\nConnection: close\r\nContent-Length: 0\r\n\r\n`);
    else socket.destroy();
  };
  const app = createServer({ onMalformed, refuse, refuseAddress, knows: (handle) => gate.knows(handle), onError, timeoutMs });
  app.server.on("connection", (socket) => {
    void socket.remoteAddress; // once read, the address stays known after a disconnect
    crowd.enter(socket);
  });
  // Node would answer these itself, and count nothing against the sender.
  app.server.on("checkExpectation", (request, response) => app.server.emit("request", request, response));
  app.server.on("connect", ({ socket }) => {
    seen.malformed += 1;
    floods.refused(socket.remoteAddress);
    socket.destroy(); // Node has removed its error listeners: a failed write of an answer would be uncaught
  });
  // The content type is ignored: the signature covers the bytes, and their meaning is read from them.
  app.addContentTypeParser("*", (_request, stream, done) => bodies.read(stream, done));
  app.addHook("onRequest", (request, reply, done) => {
    const { specialist } = request.params as Partial<Target>;
    if (floods.watching() && floods.bars(request.ip)) {
      seen.rateLimited += 1;
      refuse(reply, 429);
    } else if (request.raw.rawHeaders.length > 2 * MAX_HEADERS) refuse(reply, 431);
    else if (request.headers.host === undefined) refuse(reply, 400);
    else if (request.headers.expect?.toLowerCase().includes("100-continue") === false) refuse(reply, 417);
    else if (specialist !== undefined && !gate.knows(specialist)) refuseAddress(reply);
    else {
      // fastify refuses a content type it cannot parse, an empty one too, before it calls any parser.
      if (request.headers["content-type"] !== undefined) request.headers["content-type"] = "application/octet-stream";
      done();
    }
  });
  const accept = (request: FastifyRequest, reply: FastifyReply): void => receive(request, reply, { gate, crowd, floods });
  app.post("/webhooks/:specialist", accept);
  app.post("/webhooks/:specialist/:token", accept);

  return {
    async listen({ port, host }) {
      try {
        await app.listen({ port, host });
      } catch (error) {
        throw cannotListen(error, {
          what: "the webhook receiver cannot listen",
          hint: "set RETINUE_WEBHOOK_PORT to a free port, or 0 for any",
        });
      }
      const address = app.server.address();
      const bound = typeof address === "object" && address !== null ? address.port : port;
      return { port: bound, url: `http://${host.includes(":") ? `[${host}]` : host}:${bound}/webhooks/` };
    },
    close: () => app.close(),
    counts: () => ({ ...seen, evicted: crowd.evicted(), open: crowd.open() }),
  };
}

/** The part of a gate that the receiver needs; a recording one suffices. */
export type SenderCheck = Pick<Gate, "accept" | "knows">;

interface Target {
  readonly specialist: string;
  readonly token?: string;
}

interface ServerOptions {
  readonly onMalformed: (socket: Socket, status: number) => void;
  readonly refuse: Refusal;
  readonly refuseAddress: (reply: FastifyReply) => FastifyReply;
  readonly knows: SenderCheck["knows"];
  readonly onError: ReceiverOptions["onError"];
  readonly timeoutMs: number;
}

/** Statuses for the errors of Node's parser and timers; every other one is 400. */
const MALFORMED: { readonly [code: string]: number | undefined } = { ERR_HTTP_REQUEST_TIMEOUT: 408, HPE_HEADER_OVERFLOW: 431 };

function createServer({ onMalformed, refuse, refuseAddress, knows, onError, timeoutMs }: ServerOptions) {
  const app = fastify({
    // A proxy nearby is trusted to name its client; a remote peer is not.
    trustProxy: isInnerPeer,
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: timeoutMs,
    keepAliveTimeout: KEEP_ALIVE_MS,
    maxRequestsPerSocket: MAX_REQUESTS_PER_SOCKET,
    forceCloseConnections: "idle",
    return503OnClosing: true,
    rewriteUrl: ({ url = NOWHERE }) => routeOf(url, knows),
    routerOptions: { maxParamLength: MAX_PART_LENGTH, caseSensitive: true },
    http: {
      maxHeaderSize: MAX_HEADER_BYTES,
      headersTimeout: Math.min(HEADERS_TIMEOUT_MS, timeoutMs),
      connectionsCheckingInterval: Math.min(SECOND, timeoutMs),
      insecureHTTPParser: false,
      requireHostHeader: false,
    },
    clientErrorHandler: ({ code }, socket) => onMalformed(socket, MALFORMED[code] ?? 400),
  });
  app.removeAllContentTypeParsers();
  app.setNotFoundHandler((_request, reply) => refuseAddress(reply));
  app.setErrorHandler((error, _request, reply) => {
    if (error instanceof BodyRefused) return refuse(reply, error.statusCode);
    const status = error instanceof Error && "statusCode" in error ? error.statusCode : undefined;
    if (typeof status === "number" && status >= 400 && status < 500) return refuse(reply, status);
    onError?.(error);
    // The fault is ours, so the sender should retry.
    return refuse(reply, 503);
  });
  return app;
}

interface Door {
  readonly gate: SenderCheck;
  readonly crowd: ConnectionTable;
  readonly floods: FloodGuard;
}

/** Returns nothing to fastify, which would wait for a returned reply until the socket has taken it. */
function receive(request: FastifyRequest, reply: FastifyReply, { gate, crowd, floods }: Door): void {
  const { specialist, token } = request.params as Target;
  const { socket } = request.raw;
  const body = request.body instanceof Uint8Array ? request.body : new Uint8Array();
  crowd.work(socket, 1);
  const answered = ({ status, retryAfterS, verified }: GateAnswer): void => {
    crowd.work(socket, -1);
    if (!verified && status >= 400) floods.refused(request.ip);
    else if (verified && floods.watching()) floods.accepted(request.ip);
    if (retryAfterS !== undefined) void reply.header("retry-after", retryAfterS);
    void reply.code(status).send();
  };
  gate
    .accept(specialist, { headers: request.headers, body, ...(token === undefined ? {} : { token }) })
    .then(answered)
    .catch((error: unknown) => void reply.send(error)); // to the error handler
}

type Refusal = (reply: FastifyReply, status: number) => FastifyReply;

/** Refuses without a reason in the body, and closes the connection. Counts against the sender, because nothing refused here is verified. */
function createRefusal(floods: FloodGuard): Refusal {
  return (reply, status) => {
    if (status === 503 || status === 429) void reply.header("retry-after", COME_BACK_S);
    if (status !== 429) floods.refused(reply.request.ip);
    return reply.code(status).header("connection", "close").send();
  };
}

type Done = (error: Error | null, body?: Buffer) => void;

class BodyRefused extends Error {
  readonly statusCode: number;
  constructor(statusCode: number) {
    super(`refused with ${statusCode}`);
    this.statusCode = statusCode;
  }
}

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
      const chunks: Buffer[] = [];
      let size = 0;
      let over = false;
      const finish = (error: Error | null, body?: Buffer): void => {
        if (over) return;
        over = true;
        underWay.delete(socket);
        inFlight -= size;
        stream.off("data", onData).off("end", onEnd).off("error", onBroken).off("close", onBroken);
        if (error !== null) stream.resume();
        done(error, body);
      };
      const stop = (status: number): void => finish(new BodyRefused(status));
      const onData = (chunk: Buffer): void => {
        size += chunk.length;
        inFlight += chunk.length;
        chunks.push(chunk);
        if (size > MAX_BODY_BYTES) {
          onTooLarge();
          stop(413);
        } else if (inFlight > MAX_BYTES_IN_FLIGHT) makeRoom();
      };
      const onEnd = (): void => finish(null, chunks.length === 1 ? chunks[0] : Buffer.concat(chunks, size));
      const onBroken = (): void => stop(400);
      if (Number(stream.headers["content-length"] ?? 0) > MAX_BODY_BYTES) {
        onTooLarge();
        return stop(413);
      }
      underWay.set(socket, stop);
      stream.on("data", onData).on("end", onEnd).on("error", onBroken).on("close", onBroken);
    },
  };
}
