/** Serves MCP clients of this machine over HTTP, behind a token. Nothing is kept between requests: there are no sessions to fill memory. */
import fastify, { type FastifyReply, type FastifyRequest } from "fastify";
import type { AnyCode } from "../core/error-codes.ts";
import { bearsToken } from "../core/bearer.ts";
import { statusOf } from "../core/http-status.ts";
import { cannotListen } from "../core/port-errors.ts";
import type { Secret } from "../core/secret.ts";
import { SECOND } from "../core/units.ts";
import type { ServerFactory, ServerSdk } from "./mcp-server.ts";

const HOST = "127.0.0.1";
const PATH = "/mcp";
const MAX_BODY_BYTES = 1_024 * 1_024;
const MAX_HEADER_BYTES = 16 * 1_024;
const MAX_SOCKETS = 64;
const MAX_SUBSCRIPTIONS = 16;
const REQUEST_TIMEOUT_MS = 10 * SECOND;
/** An idle connection keeps its place from others for this long. */
const KEEP_ALIVE_MS = 5 * SECOND;

export interface HttpServerOptions {
  /** 0 takes any free port. */
  readonly port: number;
  readonly token: Secret;
  readonly onError: (error: unknown) => void;
}

export interface McpOverHttp {
  /** `http://127.0.0.1:8090/mcp`. */
  readonly url: string;
  close(): Promise<void>;
}

/** Listens on loopback only. Throws `Retryable` (`port_in_use`) or `Misconfigured` (`cannot_listen`). */
export async function serveOverHttp(sdk: ServerSdk, factory: ServerFactory, options: HttpServerOptions): Promise<McpOverHttp> {
  const { port, token, onError } = options;
  const handler = sdk.createMcpHandler(() => factory.create(), {
    maxRequestBodySize: MAX_BODY_BYTES,
    maxSubscriptions: MAX_SUBSCRIPTIONS,
    onerror: onError,
  });
  const app = fastify({
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    keepAliveTimeout: KEEP_ALIVE_MS,
    forceCloseConnections: true,
    http: { maxHeaderSize: MAX_HEADER_BYTES },
  });
  app.server.maxConnections = MAX_SOCKETS;
  app.removeAllContentTypeParsers();
  app.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
  app.setNotFoundHandler((_request, reply) => say(reply, 404, "not_found", `this address serves ${PATH}`));
  app.setErrorHandler((error, _request, reply) => {
    const status = statusOf(error);
    if (status >= 500) onError(error);
    const message = status === 413 ? `a body has at most ${MAX_BODY_BYTES} bytes` : "the request cannot be served";
    return say(reply, status, "failed", message);
  });
  app.addHook("onRequest", async (request, reply) => {
    const { host, origin } = request.headers;
    if (!sdk.validateHostHeader(host, sdk.localhostAllowedHostnames()).ok)
      return say(reply, 403, "host_refused", "this server answers to localhost and 127.0.0.1 alone");
    if (!sdk.validateOriginHeader(origin, sdk.localhostAllowedOrigins()).ok)
      return say(reply, 403, "origin_refused", "a page of another origin may not call this server");
    if (!bearsToken(request.headers.authorization, token))
      return say(reply.header("www-authenticate", "Bearer"), 401, "token_wrong", "send the token: Authorization: Bearer <token>");
    return undefined;
  });
  app.route({
    method: ["GET", "POST", "DELETE"],
    url: PATH,
    handler: async (request, reply) => {
      const gone = new AbortController();
      reply.raw.once("close", () => gone.abort());
      return handler.fetch(asRequest(request, gone.signal));
    },
  });
  let address: string;
  try {
    address = await app.listen({ port, host: HOST });
  } catch (error) {
    throw cannotListen(error, { what: "the MCP server cannot listen", hint: "give --http another port, or 0 for any" });
  }
  return {
    url: `${address}${PATH}`,
    async close() {
      await handler.close();
      await app.close();
    },
  };
}

function asRequest({ method, headers, url, body }: FastifyRequest, signal: AbortSignal): Request {
  const given = Object.entries(headers).flatMap(([name, value]): [string, string][] =>
    value === undefined ? [] : [[name, Array.isArray(value) ? value.join(", ") : value]],
  );
  return new Request(`http://${HOST}${url}`, {
    method,
    headers: given,
    signal,
    ...(Buffer.isBuffer(body) ? { body: new Uint8Array(body) } : {}),
  });
}

function say(reply: FastifyReply, status: number, code: AnyCode, message: string): FastifyReply {
  return reply.code(status).send({ error: { code, message } });
}
