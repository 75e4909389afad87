/** Retinue inside a fastify server: one process, one public port for its status and for deliveries. */
import fastify, { type FastifyInstance, type FastifyRequest } from "fastify";
import { startRetinue } from "retinue";

export interface ServerOptions {
  /** The folder with `.env`, settings and `agents/`. */
  readonly folder: string;
  readonly env?: { readonly [name: string]: string | undefined };
}

/** Headers of one connection, which do not go on to the next. */
const OF_THE_CONNECTION = ["connection", "content-length", "expect", "host", "keep-alive", "te", "transfer-encoding", "upgrade"];
const MAX_BODY_BYTES = 1_024 * 1_024;
const RECEIVER_MS = 10_000;

/** Starts the specialists and gives them routes. Closing the server stops them. Throws `Misconfigured` before anything is opened. */
export async function openServer({ folder, env }: ServerOptions): Promise<FastifyInstance> {
  const app = fastify({ bodyLimit: MAX_BODY_BYTES });
  const retinue = await startRetinue({
    cwd: folder,
    ...(env === undefined ? {} : { env }),
    log: ({ level, message, fields }) => app.log[level](fields, message),
  });
  app.addHook("onClose", () => retinue.stop());

  app.get("/status", async () => {
    const { halts, specialists } = await retinue.guardian.status({});
    return { halts, specialists: specialists.map(({ handle, actions }) => ({ handle, actions })) };
  });

  const receiver = (await retinue.guardian.status({})).webhooks?.url;
  if (receiver !== undefined)
    await app.register(async (deliveries) => {
      // A signature covers the bytes as they came, so nothing parses them here.
      deliveries.removeAllContentTypeParsers();
      deliveries.addContentTypeParser("*", { parseAs: "buffer" }, (_request, body, done) => done(null, body));
      deliveries.post<{ Params: { handle: string } }>("/webhooks/:handle", async (request, reply) => {
        const { status } = await passOn(request, new URL(encodeURIComponent(request.params.handle), receiver));
        return reply.code(status).send();
      });
    });
  return app;
}

/** Hands a delivery to Retinue's receiver, which listens on loopback, checks the signature and answers once it is on disk. */
function passOn(request: FastifyRequest, to: URL): Promise<Response> {
  const headers = new Headers();
  for (const [name, value] of Object.entries(request.headers))
    if (value !== undefined && !OF_THE_CONNECTION.includes(name)) headers.set(name, String(value));
  headers.set("x-forwarded-for", request.ip);
  const body = request.body instanceof Buffer ? new Uint8Array(request.body) : null;
  return fetch(to, { method: "POST", headers, body, signal: AbortSignal.timeout(RECEIVER_MS) });
}

if (import.meta.main) {
  const app = await openServer({ folder: import.meta.dirname });
  await app.listen({ host: "127.0.0.1", port: Number(process.env["PORT"] ?? 3_000) });
  for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => void app.close());
}
