/** A server of the console's page with answers that a test states: what a real runtime cannot be brought to say at will. */
import { readFileSync } from "node:fs";
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { extname, join } from "node:path";
import { onTestFinished } from "vitest";
import { isObject, parseJson, type JsonObject } from "../../src/core/json.ts";
import { PAGE_FOLDER } from "./present-page.ts";

const TYPES: { readonly [extension: string]: string | undefined } = {
  ".js": "text/javascript",
  ".css": "text/css",
  ".html": "text/html",
  ".svg": "image/svg+xml",
};
/** The console's own policy. */
const POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data:";

export interface Order {
  readonly name: string;
  readonly query: JsonObject;
}

export interface Desk {
  readonly url: string;
  /** By path, without the query; a function is given the query. */
  readonly answers: Record<string, object | ((query: URLSearchParams) => object)>;
  /** Orders as they came. */
  readonly orders: Order[];
  /** The answer to orders: a status and a body. Default: 200 with a message. */
  onOrder: (order: Order) => readonly [number, object];
  role: "view" | "act";
  /** False: the server knows no session, whatever cookie it gets. */
  session: boolean;
  /** Requests by path. */
  readonly asked: string[];
  /** Open streams. */
  streams(): number;
  change(change: JsonObject): void;
  /** Ends the streams, and refuses others while `isDown`. */
  isDown: boolean;
  cut(): void;
}

export async function openDesk(answers: Desk["answers"]): Promise<Desk> {
  const streams = new Set<ServerResponse>();
  const server = createServer((request, response) => void serve(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  let changes = 0;
  const desk: Desk = {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`,
    answers,
    orders: [],
    onOrder: ({ name }) => [200, { message: `${name} done` }],
    role: "act",
    session: true,
    asked: [],
    streams: () => streams.size,
    change: (change) =>
      streams.forEach((stream) =>
        stream.write(`id: ${++changes}\nevent: change\ndata: ${JSON.stringify({ at: Date.now(), ...change })}\n\n`),
      ),
    isDown: false,
    cut: () => streams.forEach((stream) => stream.destroy()),
  };
  async function serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { pathname, searchParams } = new URL(request.url ?? "/", desk.url);
    desk.asked.push(`${request.method} ${pathname}`);
    if (desk.isDown) return void request.socket.destroy();
    if (!pathname.startsWith("/api/")) return file(pathname, response);
    const body = parseJson(await textOf(request));
    if (pathname === "/api/session") return session(request.method ?? "", isObject(body) ? body : {}, response);
    if (!desk.session) return say(response, 401, { error: { code: "session_ended", message: "log in" } });
    if (pathname === "/api/live") return live(response);
    const [, name] = /^\/api\/orders\/(.+)$/.exec(pathname) ?? [];
    if (name !== undefined && request.method === "POST") {
      if (request.headers["x-csrf-token"] !== "proof") return say(response, 403, { error: { code: "csrf_wrong", message: "no proof" } });
      const order = { name, query: isObject(body) ? body : {} };
      desk.orders.push(order);
      return say(response, ...desk.onOrder(order));
    }
    const answer = desk.answers[decodeURIComponent(pathname)];
    if (answer === undefined) return say(response, 404, { error: { code: "not_found", message: `nothing at ${pathname}` } });
    say(response, 200, typeof answer === "function" ? answer(searchParams) : answer);
  }
  function session(method: string, body: JsonObject, response: ServerResponse): void {
    if (method === "POST" && body["token"] !== "the-token")
      return say(response, 401, { error: { code: "token_wrong", message: "this is no token of the console" } });
    if (method === "POST") desk.session = true;
    if (method === "DELETE") {
      desk.session = false;
      response.writeHead(204).end();
    } else if (desk.session) say(response, 200, { who: "ada", role: desk.role, csrf: "proof" });
    else say(response, 401, { error: { code: "session_missing", message: "log in" } });
  }
  function live(response: ServerResponse): void {
    response.writeHead(200, { "content-type": "text/event-stream", "cache-control": "no-store" });
    response.write(": hello\n\n");
    streams.add(response);
    response.on("close", () => streams.delete(response));
  }
  return desk;
}

function say(response: ServerResponse, status: number, body: object): void {
  response.writeHead(status, { "content-type": "application/json", "cache-control": "no-store" }).end(JSON.stringify(body));
}

function file(pathname: string, response: ServerResponse): void {
  const name = pathname === "/" ? "index.html" : pathname.slice(1);
  const headers = {
    "content-type": TYPES[extname(name)] ?? "text/plain",
    "content-security-policy": POLICY,
    "x-content-type-options": "nosniff",
  };
  response.writeHead(200, headers).end(readFileSync(join(PAGE_FOLDER, name)));
}

async function textOf(request: IncomingMessage): Promise<string> {
  const pieces: Buffer[] = [];
  for await (const piece of request) pieces.push(piece as Buffer);
  return Buffer.concat(pieces).toString();
}
