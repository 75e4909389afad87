/** The only socket to the network: one request, one classified answer. It never retries and never follows a redirect. */
// oxlint-disable-next-line typescript/triple-slash-reference -- an ambient module has no exports to import, and its file is not always among the roots
/// <reference path="./undici-agent.d.ts" />
import { promisify } from "node:util";
import { brotliDecompress, gunzip, inflate } from "node:zlib";
import type { Dispatcher } from "undici";
// The agent alone: the whole of undici takes 13 MB and 50 ms more. It is in no published interface, so undici is pinned exactly.
import Agent from "undici/lib/dispatcher/agent.js";
import { Deadlines } from "./deadlines.ts";
import { onAbort } from "../core/abort.ts";
import type { Clock } from "../core/clock.ts";
import { messageOf } from "../core/errors.ts";
import { showDuration } from "../core/units.ts";

/** One HTTP request as it leaves, with the key in its headers. Times are in ms. */
export interface WireRequest {
  readonly method: "GET" | "POST" | "PATCH" | "PUT" | "DELETE";
  /** Scheme, host and port. */
  readonly origin: string;
  /** With its query, encoded. */
  readonly path: string;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | undefined;
  /** From this call to the last byte of the answer. */
  readonly deadlineMs: number;
  readonly signal?: AbortSignal | undefined;
  /** Called right before the first byte is written. If it throws, nothing leaves. */
  readonly onLeaving?: (() => void) | undefined;
}

/**
 * - `answer`: complete as far as HTTP can tell
 * - `never-left`: no byte of the request was written
 * - `unknown`: it may have been written, and no complete answer came
 */
export type WireAnswer =
  | { readonly kind: "answer"; readonly status: number; readonly headers: WireHeaders; readonly text: string; readonly elapsedMs: number }
  | { readonly kind: "never-left"; readonly reason: string }
  | { readonly kind: "unknown"; readonly reason: string; readonly status?: number; readonly headers?: WireHeaders };

/** Names in lower case. */
export type WireHeaders = Readonly<Record<string, string | string[] | undefined>>;

/** The seam of the client: fakes, faults and virtual networks are functions of this type. It never rejects. */
export type Transport = (request: WireRequest) => Promise<WireAnswer>;

export interface TransportOptions {
  readonly clock: Clock;
  /** Most sockets per address. Default 64; further requests wait for a free one. */
  readonly connections?: number;
  /** Time until the socket is connected, and encrypted if required. Default 10 s. */
  readonly connectTimeoutMs?: number;
  /** Longest silence while an answer is awaited or read. Default 30 s. */
  readonly idleTimeoutMs?: number;
  /** Largest answer, compressed or not. Default 4 MiB. */
  readonly maxBodyBytes?: number;
  /** Largest set of answer headers. Default 16 KiB. */
  readonly maxHeaderBytes?: number;
}

export interface SocketTransport {
  readonly send: Transport;
  /** Ends idle sockets and waits for those in use. */
  close(): Promise<void>;
}

/** Most sockets to one address. */
export const CONNECTIONS = 64;

const DEFAULTS = {
  connections: CONNECTIONS,
  connectTimeoutMs: 10_000,
  idleTimeoutMs: 30_000,
  maxBodyBytes: 4 * 1_024 * 1_024,
  maxHeaderBytes: 16 * 1_024,
};

export function createTransport(options: TransportOptions): SocketTransport {
  const settings = { ...DEFAULTS, ...options };
  const parts: ExchangeParts = { clock: settings.clock, deadlines: new Deadlines(settings.clock), maxBodyBytes: settings.maxBodyBytes };
  const agent = new Agent({
    connections: settings.connections,
    pipelining: 1,
    // HTTP/2 may send a refused stream again on its own; a write must leave at most once.
    allowH2: false,
    connect: { timeout: settings.connectTimeoutMs },
    headersTimeout: settings.idleTimeoutMs,
    bodyTimeout: settings.idleTimeoutMs,
    maxHeaderSize: settings.maxHeaderBytes,
  });
  return {
    send: (request) =>
      new Promise((resolve) => {
        const exchanged = new Exchange(request, parts, resolve);
        if (request.signal?.aborted === true) return exchanged.fail("aborted");
        exchanged.start(agent);
      }),
    close: () => agent.close(),
  };
}

interface ExchangeParts {
  readonly clock: Clock;
  readonly deadlines: Deadlines;
  readonly maxBodyBytes: number;
}

const NO_BYTES: Buffer = Buffer.alloc(0);

/** One request on its socket. */
class Exchange implements Dispatcher.DispatchHandler {
  readonly #request: WireRequest;
  readonly #parts: ExchangeParts;
  readonly #settle: (answer: WireAnswer) => void;
  readonly #startedAt: number;
  #forget: (() => void) | undefined;
  #controller: Dispatcher.DispatchController | undefined;
  #settled = false;
  #head: { readonly status: number; readonly headers: WireHeaders } | undefined;
  /** The first part of the body, which is nearly always all of it, and any others. */
  #first = NO_BYTES;
  #others: Buffer[] | undefined;
  #size = 0;

  constructor(request: WireRequest, parts: ExchangeParts, settle: (answer: WireAnswer) => void) {
    this.#request = request;
    this.#parts = parts;
    this.#settle = settle;
    this.#startedAt = parts.clock.monotonic();
  }

  start(agent: Agent): void {
    const { origin, path, method, headers, body, signal, deadlineMs } = this.#request;
    this.#parts.deadlines.add(this, deadlineMs);
    if (signal !== undefined) this.#forget = onAbort(signal, () => this.fail("aborted"));
    try {
      agent.dispatch({ origin, path, method, headers, body: body ?? null }, this);
    } catch (error) {
      this.fail(messageOf(error)); // for example a header that HTTP cannot carry
    }
  }

  expire(): void {
    this.fail(`no complete answer within ${showDuration(this.#request.deadlineMs)}`);
  }

  /** Ends it without an answer: `never-left` until undici is about to write, `unknown` from then on. */
  fail(reason: string): void {
    if (this.#settled) return;
    const written = this.#controller !== undefined;
    this.#end(written ? { kind: "unknown", reason, ...this.#head } : { kind: "never-left", reason });
    this.#controller?.abort(new Error(reason));
  }

  #end(answer: WireAnswer): void {
    if (this.#settled) return;
    this.#settled = true;
    this.#parts.deadlines.remove(this, this.#request.deadlineMs);
    this.#forget?.();
    this.#first = NO_BYTES;
    this.#others = undefined;
    this.#settle(answer);
  }

  /** Called just before the request is written to a socket. Aborting here still prevents it. */
  onRequestStart(controller: Dispatcher.DispatchController): void {
    if (this.#settled) return controller.abort(new Error("timed out while waiting for a socket"));
    try {
      this.#request.onLeaving?.();
    } catch (error) {
      this.fail(messageOf(error));
      return controller.abort(error as Error);
    }
    this.#controller = controller;
  }

  /** Called for informational answers too; the last one is the answer. */
  onResponseStart(_controller: Dispatcher.DispatchController, status: number, headers: WireHeaders): void {
    this.#head = { status, headers };
    const length = Number(headers["content-length"] ?? 0);
    if (length > this.#parts.maxBodyBytes) this.fail(`the answer is larger than ${this.#parts.maxBodyBytes} bytes`);
  }

  onResponseData(_controller: Dispatcher.DispatchController, chunk: Buffer): void {
    this.#size += chunk.length;
    if (this.#size > this.#parts.maxBodyBytes) return this.fail(`the answer is larger than ${this.#parts.maxBodyBytes} bytes`);
    if (this.#size === chunk.length) this.#first = chunk;
    else (this.#others ??= []).push(chunk);
  }

  onResponseEnd(): void {
    const head = this.#head;
    if (head === undefined || this.#settled) return;
    const bytes = this.#others === undefined ? this.#first : Buffer.concat([this.#first, ...this.#others]);
    const encoding = String(head.headers["content-encoding"] ?? "identity").toLowerCase();
    if (encoding === "identity" || bytes.length === 0) return this.#answer(bytes);
    // We request no compression. Compressed answers are read under the same bound.
    decompress(encoding, bytes, this.#parts.maxBodyBytes).then(
      (plain) => this.#answer(plain),
      (error: unknown) => this.#end({ kind: "unknown", reason: `the answer cannot be decompressed: ${messageOf(error)}`, ...head }),
    );
  }

  onResponseError(_controller: Dispatcher.DispatchController, error: Error): void {
    this.fail(describe(error));
  }

  #answer(bytes: Buffer): void {
    const head = this.#head;
    if (head === undefined) return;
    this.#end({ kind: "answer", ...head, text: bytes.toString("utf8"), elapsedMs: this.#parts.clock.monotonic() - this.#startedAt });
  }
}

const unpack = { gzip: promisify(gunzip), deflate: promisify(inflate), br: promisify(brotliDecompress) } as const;

async function decompress(encoding: string, bytes: Buffer, maxOutputLength: number): Promise<Buffer> {
  const known = encoding === "x-gzip" ? "gzip" : encoding;
  if (known !== "gzip" && known !== "deflate" && known !== "br") throw new Error(`its content encoding is not supported`);
  return unpack[known](bytes, { maxOutputLength });
}

/** Describes an error without addresses or bodies: its code if it has one, and its message. */
function describe(error: Error): string {
  const { code } = error as { code?: unknown };
  const cause = error.cause instanceof Error && error.message === "" ? error.cause.message : error.message;
  return typeof code === "string" && !cause.includes(code) ? `${code}: ${cause}` : cause;
}
