/** The console's page: built files, without any data, so without a login. */
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { extname, join, sep } from "node:path";
import { fileURLToPath } from "node:url";
import type { FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { Retryable } from "../core/errors.ts";

/** The same place from the sources and from the package. */
export const PAGE_FOLDER = fileURLToPath(new URL("../../dist/console-page", import.meta.url));

/** Names of built files change with their content. */
const FOREVER = "public, max-age=31536000, immutable";

/** Types of the files that a build writes; no other is served. */
const TYPES: { readonly [extension: string]: string | undefined } = {
  ".html": "text/html; charset=utf-8",
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".svg": "image/svg+xml",
  ".txt": "text/plain; charset=utf-8",
};

/**
 * Serves `/` and `/assets/`; where no page is built, `/` says so. The files are a few, read once, each under an address of its own: no
 * request names a path.
 */
export function addPage(app: FastifyInstance, folder: string): void {
  if (!existsSync(join(folder, "index.html"))) {
    app.get("/", async () => {
      throw new Retryable("page_missing", "the console's page is not built", { hint: "npm run build, then start again" });
    });
    return;
  }
  for (const path of readdirSync(folder, { recursive: true, encoding: "utf8" })) {
    const type = TYPES[extname(path)];
    if (type === undefined) continue;
    const content = readFileSync(join(folder, path));
    const caching = path.startsWith(`assets${sep}`) ? FOREVER : "no-store";
    const serve = (_request: FastifyRequest, reply: FastifyReply) => reply.header("cache-control", caching).type(type).send(content);
    app.get(`/${path.replaceAll(sep, "/")}`, serve);
    if (path === "index.html") app.get("/", serve);
  }
}
