/** Serves the local network over HTTP: a thin layer over `handle()`, and the Guardian's page. */
import { randomBytes } from "node:crypto";
import type { AddressInfo } from "node:net";
import Fastify from "fastify";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { EndpointSet } from "../../contract/operations.ts";
import { messageOf } from "../../core/errors.ts";
import { cannotListen } from "../../core/port-errors.ts";
import { statusOf } from "../../core/http-status.ts";
import { ConnectionLost } from "./exchange.ts";
import type { NetworkReply, NetworkRequest } from "./exchange.ts";
import { guardianPages } from "../my-agents/my-agents-page.ts";
import type { ListenOptions, Listening, LocalNetwork } from "../options.ts";

/** Above every configurable limit of the network itself, which answers 413 in its own wire format. */
const MAX_BODY_BYTES = 8_388_608;
const MAX_HEADER_BYTES = 16_384;
const REQUEST_TIMEOUT_MS = 30_000;

/** Listens. Throws `Retryable` (`port_in_use`) or `Misconfigured` (`cannot_listen`). */
export async function listen(network: LocalNetwork, options: ListenOptions = {}): Promise<Listening> {
  const { port = 0, host = "127.0.0.1", set, onError } = options;
  const server = Fastify({
    bodyLimit: MAX_BODY_BYTES,
    forceCloseConnections: true,
    requestTimeout: REQUEST_TIMEOUT_MS,
    http: { maxHeaderSize: MAX_HEADER_BYTES },
  });
  const token = randomBytes(18).toString("base64url");
  server.removeAllContentTypeParsers();
  server.addContentTypeParser("*", { parseAs: "string" }, (_request, body, done) => done(null, body));
  server.setErrorHandler((error, _request, reply) => {
    const status = statusOf(error);
    if (status >= 500) onError?.(error);
    return reply
      .code(status)
      .type("application/json")
      .send(JSON.stringify({ error: { code: status === 413 ? "body_too_large" : "bad_request", message: messageOf(error) } }));
  });
  server.setNotFoundHandler((_request, reply) =>
    reply
      .code(404)
      .type("application/json")
      .send(JSON.stringify({ error: { code: "no_such_endpoint", message: "nothing here" } })),
  );
  guardianPages(server, network, token);
  for (const one of set === undefined ? (["a", "b"] as const) : [set]) serve(server, network, one, set === undefined ? `/${one}` : "");
  await open(server, port, host);
  const origin = originOf(server.server.address() as AddressInfo, host); // a TCP address, since the server listens on a port
  return {
    origin,
    baseUrls: {
      ...(set === "b" ? {} : { a: set === "a" ? origin : `${origin}/a` }),
      ...(set === "a" ? {} : { b: set === "b" ? `${origin}/v1` : `${origin}/b/v1` }),
    },
    guardian: { url: `${origin}/guardian`, token },
    close: () => server.close(),
  };
}

function serve(server: FastifyInstance, network: LocalNetwork, set: EndpointSet, prefix: string): void {
  server.all(`${prefix}/v1/*`, { exposeHeadRoute: false }, async (request, reply) => {
    let answer: NetworkReply;
    try {
      answer = await network.handle(set, toNetwork(request, prefix));
    } catch (error) {
      if (!(error instanceof ConnectionLost)) throw error;
      reply.hijack();
      request.raw.socket.destroy();
      return;
    }
    return send(reply, answer);
  });
}

function toNetwork(request: FastifyRequest, prefix: string): NetworkRequest {
  const [path = "", search = ""] = request.raw.url?.slice(prefix.length).split("?", 2) ?? [];
  const headers: Record<string, string> = {};
  for (const [name, value] of Object.entries(request.headers)) if (typeof value === "string") headers[name] = value;
  return {
    method: request.method,
    path,
    query: Object.fromEntries(new URLSearchParams(search)),
    headers,
    body: typeof request.body === "string" ? request.body : "",
  };
}

/** Sends an answer unchanged; a truncated answer is truncated on the wire too. */
function send(reply: FastifyReply, { status, headers, body }: NetworkReply): FastifyReply {
  const promised = headers["content-length"];
  if (promised === undefined || Number(promised) === Buffer.byteLength(body)) return reply.code(status).headers(headers).send(body);
  reply.hijack();
  reply.raw.writeHead(status, headers);
  reply.raw.write(body, () => reply.raw.destroy());
  return reply;
}

async function open(server: FastifyInstance, port: number, host: string): Promise<void> {
  try {
    await server.listen({ port, host });
  } catch (error) {
    await server.close();
    throw cannotListen(error, {
      what: `cannot listen on ${host}:${port}`,
      hint: "choose another port, or 0 for any free one",
      otherHint: "check the address",
    });
  }
}

function originOf({ port, address, family }: AddressInfo, host: string): string {
  const name = host === "0.0.0.0" || host === "::" ? "127.0.0.1" : family === "IPv6" ? `[${address}]` : address;
  return `http://${name}:${port}`;
}
