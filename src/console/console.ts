/** Serves liveness, readiness and status of the process over HTTP, as JSON. */
import type { AnyCode } from "../core/error-codes.ts";
import fastify, { type FastifyReply, type FastifyRequest } from "fastify";
import { messageOf, type Misconfigured } from "../core/errors.ts";
import { bearsToken } from "../core/bearer.ts";
import { statusOf } from "../core/http-status.ts";
import { cannotListen } from "../core/port-errors.ts";
import type { Secret } from "../core/secret.ts";
import { SECOND } from "../core/units.ts";
import type { Guardian } from "../guardian/guardian.ts";
import { readinessOf } from "../guardian/readiness.ts";
import type { Metrics } from "../signals/metrics.ts";
import type { Runtime } from "../runtime/runtime.ts";

/** No route takes a body. */
const MAX_BODY_BYTES = 1_024;
const MAX_HEADER_BYTES = 8 * 1_024;
const REQUEST_TIMEOUT_MS = 5 * SECOND;
const MAX_SOCKETS = 256;

export interface ConsoleOptions {
  readonly port: number;
  readonly host: string;
  /** Without a token everything under `/api/` is refused. */
  readonly token: Secret | undefined;
  readonly runtime: Runtime;
  readonly guardian: Pick<Guardian, "status">;
  /** Absent if the package for metrics is not installed. */
  readonly metrics: Metrics | { readonly missing: Misconfigured };
  /** Called on a defect of the console itself. */
  readonly onError: (error: unknown) => void;
}

export interface Console {
  /** `http://127.0.0.1:8070`. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Listens, with `GET /healthz` (200 while the process answers), `GET /readyz` (200, or 503 with the reasons), `GET /api/status` (the
 * output of `retinue status --json`) and `GET /metrics`; the last two with `Authorization: Bearer <token>`. Throws `Retryable` (`port_in_use`) or `Misconfigured`
 * (`cannot_listen`).
 */
export async function openConsole(options: ConsoleOptions): Promise<Console> {
  const app = fastify({
    bodyLimit: MAX_BODY_BYTES,
    requestTimeout: REQUEST_TIMEOUT_MS,
    forceCloseConnections: true,
    http: { maxHeaderSize: MAX_HEADER_BYTES },
  });
  app.server.maxConnections = MAX_SOCKETS;
  app.removeAllContentTypeParsers();
  app.setNotFoundHandler((_request, reply) =>
    say(reply, 404, "not_found", "this address serves /healthz, /readyz, /api/status and /metrics"),
  );
  app.setErrorHandler((error, _request, reply) => {
    const status = statusOf(error);
    if (status >= 500) options.onError(error);
    return say(reply, status, "failed", status >= 500 ? "the console failed; the log says why" : messageOf(error));
  });
  app.addHook("onSend", async (_request, reply) => {
    void reply.headers({ "cache-control": "no-store", "x-content-type-options": "nosniff" });
  });
  app.get("/healthz", () => ({ ok: true }));
  app.get("/readyz", (_request, reply) => {
    const readiness = readinessOf(options.runtime);
    return reply.code(readiness.ready ? 200 : 503).send(readiness);
  });
  const forOwner = (read: (reply: FastifyReply) => Promise<unknown>) => (request: FastifyRequest, reply: FastifyReply) => {
    if (options.token === undefined) return say(reply, 403, "token_missing", "set RETINUE_CONSOLE_TOKEN to read this");
    if (!bearsToken(request.headers.authorization, options.token))
      return say(reply.header("www-authenticate", "Bearer"), 401, "token_wrong", "send the console's token");
    return read(reply);
  };
  const { metrics } = options;
  app.get(
    "/api/status",
    forOwner(() => options.guardian.status({})),
  );
  app.get(
    "/metrics",
    forOwner(async (reply) => {
      if ("missing" in metrics)
        return say(reply, 501, metrics.missing.code, `${metrics.missing.message}: ${metrics.missing.details.hint ?? ""}`);
      return reply.type(metrics.contentType).send(await metrics.text());
    }),
  );
  const close = async (): Promise<void> => {
    if (!("missing" in metrics)) metrics.close();
    await app.close();
  };
  try {
    return { url: await listen(app, options), close };
  } catch (error) {
    await close();
    throw error;
  }
}

async function listen(app: ReturnType<typeof fastify>, { port, host }: ConsoleOptions): Promise<string> {
  try {
    return await app.listen({ port, host });
  } catch (error) {
    throw cannotListen(error, {
      what: "the console cannot listen",
      hint: "set RETINUE_CONSOLE_PORT to a free port, or 0 for any",
    });
  }
}

function say(reply: FastifyReply, status: number, code: AnyCode, message: string): FastifyReply {
  return reply.code(status).send({ error: { code, message } });
}
