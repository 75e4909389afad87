/**
 * Serves commands to a live runtime over a socket that only its owner can open, one JSON request a line.
 *
 * The store's file belongs to one process at a time, so commands ask that process.
 */
import { createHash } from "node:crypto";
import { chmodSync, lstatSync, rmSync } from "node:fs";
import { connect, createServer, type Server, type Socket } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { sleep, type Clock } from "../core/clock.ts";
import { isRetinueError, messageOf, Misconfigured, Refused, Retryable } from "../core/errors.ts";
import { isObject, jsonLine, parseJson, type JsonObject } from "../core/json.ts";
import type { Logger } from "../core/log.ts";
import { SECOND } from "../core/units.ts";
import { ANNOUNCEMENT_NAMES, subscribe, type AnnouncementName, type Announcements, type Announcer, type Listener } from "../core/events.ts";
import type { Caller } from "../store/orders.ts";
import type { Guardian } from "./guardian.ts";
import { describeError, errorFrom, isRequestName, performRequest, remoteGuardian } from "./remote-guardian.ts";

/** Changes with requests or answers: command and runtime may have different versions. */
const PROTOCOL = 6;
/** Linux takes 107 bytes, macOS 103. */
const MAX_SOCKET_PATH = 100;
const MAX_LINE_BYTES = 4 * 1_024 * 1_024;
const MAX_CLIENTS = 64;
/** A follower that does not read is disconnected at this backlog. */
const MAX_BACKLOG_BYTES = 1_024 * 1_024;
const CONNECT_MS = 2 * SECOND;
/** A process with a great deal to do answers within it. */
const ANSWERS_MS = 10 * SECOND;
const OWNER_ONLY = 0o600;

/** The socket's path: beside the store, or in the folder for temporary files under a derived name if that would be too long. */
export function controlPath(storePath: string): string {
  const beside = `${storePath}-socket`;
  if (Buffer.byteLength(beside) <= MAX_SOCKET_PATH) return beside;
  return join(tmpdir(), `retinue-${createHash("sha256").update(storePath).digest("hex").slice(0, 24)}.socket`);
}

export interface Control {
  close(): Promise<void>;
}

export interface ControlOptions {
  readonly path: string;
  /** The Guardian's interface for orders of one person. */
  readonly guardianOf: (caller: Caller) => Guardian;
  readonly announcer: Announcer;
  readonly log: Logger;
  /** Called when a command asks the runtime to stop. */
  readonly onStop: () => void;
}

/** Listens. The holder of the store may replace a socket that a crash left. Throws `Misconfigured` (`control_failed`). */
export async function serveControl(options: ControlOptions): Promise<Control> {
  const { path } = options;
  const sockets = new Set<Socket>();
  const server = createServer((socket) => {
    sockets.add(socket);
    socket.once("close", () => sockets.delete(socket));
    socket.on("error", () => socket.destroy());
    serve(socket, options);
  });
  server.maxConnections = MAX_CLIENTS;
  await listen(server, path);
  server.on("error", (error) => options.log.error("the control socket failed", { message: messageOf(error) }));
  return {
    async close() {
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      for (const socket of sockets) socket.destroy();
      await closed;
    },
  };
}

function listen(server: Server, path: string): Promise<void> {
  rmSync(path, { force: true });
  const before = process.umask(0o777 - OWNER_ONLY);
  return new Promise<void>((resolve, reject) => {
    server.once("error", (error) =>
      reject(
        new Misconfigured("control_failed", `the control socket cannot be opened: ${messageOf(error)}`, {
          file: path,
          cause: error,
          hint: "check that the store's folder can be written",
        }),
      ),
    );
    server.listen(path, () => {
      chmodSync(path, OWNER_ONLY);
      server.removeAllListeners("error");
      resolve();
    });
  }).finally(() => process.umask(before));
}

function serve(socket: Socket, options: ControlOptions): void {
  let read = 0;
  socket.on("data", (chunk: Buffer) => {
    read += chunk.length;
    if (chunk.includes(NEWLINE)) read = 0;
    if (read > MAX_LINE_BYTES) socket.destroy();
  });
  // One after the other, so that answers come in the order of their requests.
  let last = Promise.resolve();
  onLine(socket, (line) => {
    last = last.then(() => answer(line, socket, options));
  });
}

/** Errors of the socket reach the line reader and end it: a command that disconnects affects nothing else. */
function onLine(socket: Socket, take: (line: string) => void): void {
  createInterface({ input: socket, crlfDelay: Infinity })
    .on("line", take)
    .on("error", () => socket.destroy());
}

const NEWLINE = 10;

async function answer(line: string, socket: Socket, options: ControlOptions): Promise<void> {
  const request = parseJson(line);
  const send = (body: object): void => void (socket.writable && socket.write(`${jsonLine({ protocol: PROTOCOL, ...body })}\n`));
  if (!isObject(request) || request["protocol"] !== PROTOCOL || typeof request["do"] !== "string") {
    send({
      error: {
        class: "Misconfigured",
        code: "protocol_unknown",
        message: "the running Retinue uses another protocol",
        hint: "use the same version for both",
      },
    });
    return;
  }
  try {
    send({ result: await perform(request, request["do"], socket, options) });
  } catch (error) {
    send({ error: describeError(error) });
  }
}

async function perform(
  { with: query, by }: JsonObject,
  name: string,
  socket: Socket,
  { guardianOf, announcer, onStop }: ControlOptions,
): Promise<unknown> {
  if (name === "follow") return follow(socket, announcer);
  if (name === "stop") {
    onStop();
    return { message: "it finishes requests in flight, and stops" };
  }
  if (!isRequestName(name)) throw new Refused("request_unknown", `there is no request "${name}"`);
  // Whoever can open the socket is the owner, so the name is a statement and not a proof.
  return performRequest(guardianOf({ who: typeof by === "string" ? by : "someone", from: "command" }), name, isObject(query) ? query : {});
}

/** Sends every announcement from now on, one per line. */
function follow(socket: Socket, announcer: Announcer): { readonly message: string } {
  const stops = ANNOUNCEMENT_NAMES.map((name) => {
    const write = (what: object): void => {
      if (socket.writableLength > MAX_BACKLOG_BYTES) socket.destroy();
      else if (socket.writable) socket.write(`${jsonLine({ protocol: PROTOCOL, name, what })}\n`);
    };
    return subscribe(announcer, name, write);
  });
  socket.once("close", () => stops.forEach((stop) => stop()));
  return { message: "following" };
}

/** A connection to a live runtime. */
export interface ControlClient {
  readonly guardian: Guardian;
  stop(): Promise<void>;
  /** Calls `listener` with every announcement, until `signal` is aborted or the runtime ends. */
  follow(listener: Listener, signal: AbortSignal): Promise<void>;
  close(): void;
}

/**
 * Connects to the runtime that uses a store, in the name of a person; undefined if there is none. Throws `Misconfigured` (`control_foreign`),
 * and `Retryable` (`control_lost`) if it does not answer in time, or until `signal`: a process that is stopped takes connections.
 */
export async function connectControl(
  storePath: string,
  clock: Clock,
  by?: string,
  signal?: AbortSignal,
): Promise<ControlClient | undefined> {
  const path = controlPath(storePath);
  const status = lstatSync(path, { throwIfNoEntry: false });
  if (status === undefined || !status.isSocket()) return undefined;
  if (process.getuid !== undefined && status.uid !== process.getuid())
    throw new Misconfigured("control_foreign", "the control socket belongs to another user", { file: path });
  const socket = await open(path, clock);
  if (socket === undefined) return undefined;
  const { client, ask } = clientOn(socket, by);
  const over = new AbortController();
  const given = signal === undefined ? over.signal : AbortSignal.any([over.signal, signal]);
  const said = ask("hello", {}).then(
    () => true,
    () => true, // any answer will do
  );
  const isAlive = await Promise.race([said, sleep(clock, ANSWERS_MS, given).then(() => false)]);
  over.abort();
  if (isAlive) return client;
  socket.destroy();
  throw new Retryable("control_lost", "the running process does not answer: it is stopped, or too busy", {
    file: path,
    hint: "let it go on (kill -CONT), or end it (kill -9) and start it again: nothing is lost",
  });
}

/** True if a runtime serves commands for this store. */
export async function isServed(storePath: string, clock: Clock): Promise<boolean> {
  try {
    const client = await connectControl(storePath, clock);
    client?.close();
    return client !== undefined;
  } catch (error) {
    if (isSocketSilent(error)) return true;
    throw error;
  }
}

/** True if a process has the socket and does not answer. */
export function isSocketSilent(error: unknown): boolean {
  return isRetinueError(error) && error.code === "control_lost";
}

/** A socket without a listener was left by a crash. */
async function open(path: string, clock: Clock): Promise<Socket | undefined> {
  const socket = connect(path);
  const over = new AbortController();
  const connected = await Promise.race([
    new Promise<boolean>((resolve) => socket.once("connect", () => resolve(true)).once("error", () => resolve(false))),
    sleep(clock, CONNECT_MS, over.signal).then(() => false),
  ]);
  over.abort();
  if (connected) return socket;
  socket.destroy();
  return undefined;
}

type Ask = (name: string, query: object) => Promise<unknown>;

function clientOn(socket: Socket, by: string | undefined): { readonly client: ControlClient; readonly ask: Ask } {
  const waiting: { readonly resolve: (value: unknown) => void; readonly reject: (error: unknown) => void }[] = [];
  let follower: Listener | undefined;
  const ended = new Promise<void>((resolve) => socket.once("close", () => resolve()));
  void ended.then(() =>
    waiting.splice(0).forEach((asked) => asked.reject(new Retryable("control_lost", "the runtime ended before it answered"))),
  );
  socket.on("error", () => socket.destroy());
  onLine(socket, (line) => {
    const answer = parseJson(line);
    if (!isObject(answer)) return;
    const name = ANNOUNCEMENT_NAMES.find((known) => known === answer["name"]);
    const what: unknown = answer["what"];
    if (name !== undefined) return isAnnouncement<typeof name>(what) ? follower?.(name, what) : undefined;
    const next = waiting.shift();
    if (answer["protocol"] !== PROTOCOL) next?.reject(new Misconfigured("protocol_unknown", "the running Retinue uses another protocol"));
    else if (isObject(answer["error"])) next?.reject(errorFrom(answer["error"]));
    else next?.resolve(answer["result"]);
  });
  const ask: Ask = (name, query) =>
    new Promise((resolve, reject) => {
      if (!socket.writable) return reject(new Retryable("control_lost", "the runtime has ended"));
      waiting.push({ resolve, reject });
      socket.write(`${jsonLine({ protocol: PROTOCOL, do: name, with: query, by })}\n`);
    });
  const client: ControlClient = {
    guardian: remoteGuardian(ask),
    async stop() {
      await ask("stop", {});
      await ended;
    },
    async follow(listener, signal) {
      follower = listener;
      await ask("follow", {});
      signal.addEventListener("abort", () => socket.destroy(), { once: true });
      await ended;
      if (!signal.aborted)
        throw new Retryable("control_lost", "the runtime that was followed has ended", { hint: "follow again once one has started" });
    },
    close: () => void socket.destroy(),
  };
  return { client, ask };
}

/** Checks the common part of an announcement; the rest comes from a runtime of the same protocol. */
function isAnnouncement<Name extends AnnouncementName>(what: unknown): what is Announcements[Name] {
  return isObject(what) && typeof what["at"] === "number" && typeof what["handle"] === "string";
}
