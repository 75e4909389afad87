/** The console's port: health for whoever watches the process, metrics and reads for whoever holds a token, and the page. */
import { createServer, type RequestListener } from "node:http";
import { createServer as createTlsServer, type Server as TlsServer } from "node:https";
import fastify, { type FastifyInstance } from "fastify";
import type { ConsoleSettings } from "../config/console-settings.ts";
import type { Clock } from "../core/clock.ts";
import type { Misconfigured } from "../core/errors.ts";
import type { Announcer } from "../core/events.ts";
import { parseJson } from "../core/json.ts";
import { pageHeaders } from "../core/page-origin.ts";
import { cannotListen } from "../core/port-errors.ts";
import { MINUTE, SECOND } from "../core/units.ts";
import type { Guardian } from "../guardian/guardian.ts";
import { needsOf } from "../guardian/needs-you.ts";
import { readinessOf } from "../guardian/readiness.ts";
import { PROGRAM } from "../guardian/record-orders.ts";
import type { Metrics } from "../signals/metrics.ts";
import type { Caller } from "../store/orders.ts";
import { createAccess } from "./access.ts";
import { answerError, say } from "./answer-error.ts";
import type { EndedSessions } from "./ended-sessions.ts";
import { LiveChanges } from "./live-changes.ts";
import { keepCertificate, readTls, tlsUnreadable } from "./renew-certificate.ts";
import { addRoutes, type ShownRuntime } from "./routes.ts";
import type { SharedStatus } from "./shared-status.ts";
import { addPage, PAGE_FOLDER } from "./static-page.ts";

/** An order has a reason of a few thousand characters; nothing else has a body. */
export const MAX_BODY_BYTES = 32 * 1_024;
const MAX_HEADER_BYTES = 8 * 1_024;
const REQUEST_TIMEOUT_MS = 5 * SECOND;
/** An idle connection keeps its place from others for this long. */
const KEEP_ALIVE_MS = 5 * SECOND;
/** A reader of an export that stops reading. */
const SILENT_MS = 2 * MINUTE;
/** Above the pages that may follow: the next ones are told so. */
const MAX_SOCKETS = 512;
/** Proxies nearby are trusted to name their client; a remote peer is not. */
const INNER_PEERS = ["loopback", "linklocal", "uniquelocal"];

export interface ConsoleOptions {
  readonly settings: ConsoleSettings;
  readonly clock: Clock;
  readonly announcer: Announcer;
  readonly runtime: ShownRuntime;
  readonly guardianOf: (caller: Caller) => Guardian;
  /** Its owner closes it, before the store. */
  readonly status: SharedStatus;
  readonly ended: EndedSessions;
  /** Absent if the package for metrics is not installed. */
  readonly metrics: Metrics | { readonly missing: Misconfigured };
  /** Called on a defect of the console itself. */
  readonly onError: (error: unknown) => void;
  /** The built page. Default: that of this package. */
  readonly pageFolder?: string;
}

export interface Console {
  /** `http://127.0.0.1:8070`. */
  readonly url: string;
  close(): Promise<void>;
}

/**
 * Listens: the page at `/`, `GET /healthz` (200 while the process answers) and `GET /readyz` (200, or 503 with the reasons) for anybody, and
 * everything else for whoever holds a token. Throws `Retryable` (`port_in_use`) or `Misconfigured` (`cannot_listen`,
 * `console_tls_unreadable`).
 */
export async function openConsole(options: ConsoleOptions): Promise<Console> {
  const { settings, clock, announcer, runtime, guardianOf, status, metrics, onError } = options;
  const app = createApp(settings);
  app.setNotFoundHandler((_request, reply) =>
    say(reply, 404, "not_found", "this address serves the console, /healthz, /readyz and /metrics"),
  );
  app.setErrorHandler((error, _request, reply) => answerError(reply, error, clock.now(), onError));
  const headers = pageHeaders(PAGE_SOURCES);
  app.addHook("onSend", async (_request, reply) => {
    for (const [name, value] of Object.entries(headers)) if (!reply.hasHeader(name)) void reply.header(name, value);
  });
  const guardian = guardianOf(PROGRAM);
  let processes = 1;
  const live = new LiveChanges({
    clock,
    announcer,
    needs: async () => {
      const snapshot = await status.read();
      processes = snapshot.processes?.length ?? 1;
      return needsOf(snapshot).total;
    },
    hasOthers: () => processes > 1,
    onChange: () => status.changed(),
    onError,
  });
  const access = createAccess({ settings, clock, ended: options.ended, port: () => portOf(app) });
  app.get("/healthz", () => ({ ok: true }));
  app.get("/readyz", (_request, reply) => {
    const { ready, reasons } = readinessOf(runtime); // the rest is for whoever holds a token
    return reply.code(ready ? 200 : 503).send({ ready, reasons });
  });
  app.get("/metrics", async (request, reply) => {
    await access.visitorOf(request);
    if ("missing" in metrics)
      return say(reply, 501, metrics.missing.code, `${metrics.missing.message}: ${metrics.missing.details.hint ?? ""}`);
    return reply.type(metrics.contentType).send(await metrics.text());
  });
  addRoutes(app, { access, live, status, guardian, guardianOf, runtime, clock });
  addPage(app, options.pageFolder ?? PAGE_FOLDER);
  const { server } = app;
  const { tls } = settings;
  const forget =
    tls !== undefined && "setSecureContext" in server
      ? keepCertificate({ files: tls, server: server as TlsServer, clock, onError })
      : undefined;
  const close = async (): Promise<void> => {
    forget?.();
    if (!("missing" in metrics)) metrics.close();
    live.close();
    await app.close();
  };
  try {
    return { url: await listen(app, settings), close };
  } catch (error) {
    await close();
    throw error;
  }
}

/** Scripts and styles are files of the page; it asks its own origin alone. */
const PAGE_SOURCES = "script-src 'self'; style-src 'self'; img-src 'self' data:; font-src 'self'; connect-src 'self'; manifest-src 'self'";

function createApp({ tls, url }: ConsoleSettings): FastifyInstance {
  const app = fastify({
    bodyLimit: MAX_BODY_BYTES,
    forceCloseConnections: true,
    // Only a stated proxy names its clients; else anybody could choose the address that is slowed. With files of its own there is none.
    ...(url === undefined || tls !== undefined ? {} : { trustProxy: INNER_PEERS }),
    serverFactory: (handler) => createListener(handler, tls),
  });
  app.removeAllContentTypeParsers();
  // Text that is no JSON is null: without a body an order is one for everyone.
  app.addContentTypeParser("application/json", { parseAs: "string" }, (_request, body, done) =>
    done(null, parseJson(String(body)) ?? null),
  );
  return app;
}

function createListener(handler: RequestListener, tls: ConsoleSettings["tls"]): ReturnType<typeof createServer> {
  const options = { maxHeaderSize: MAX_HEADER_BYTES, requestTimeout: REQUEST_TIMEOUT_MS, keepAliveTimeout: KEEP_ALIVE_MS };
  const server = tls === undefined ? createServer(options, handler) : openTls({ ...options, ...readTls(tls) }, handler);
  server.maxConnections = MAX_SOCKETS;
  server.setTimeout(SILENT_MS);
  return server;
}

function openTls(options: Parameters<typeof createTlsServer>[0], handler: RequestListener): ReturnType<typeof createTlsServer> {
  try {
    return createTlsServer(options, handler);
  } catch (error) {
    throw tlsUnreadable(error);
  }
}

async function listen(app: FastifyInstance, { port = 0, host, tls }: ConsoleSettings): Promise<string> {
  try {
    const address = await app.listen({ port, host });
    return tls === undefined ? address : address.replace(/^http:/, "https:");
  } catch (error) {
    throw cannotListen(error, {
      what: "the console cannot listen",
      hint: "set RETINUE_CONSOLE_PORT to a free port, or 0 for any",
    });
  }
}

function portOf(app: FastifyInstance): number {
  const address = app.server.address();
  return typeof address === "object" && address !== null ? address.port : 0;
}
