/** The console's page: built files, without any data, so without a login. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import fastifyStatic from "@fastify/static";
import type { FastifyInstance } from "fastify";
import { Retryable } from "../core/errors.ts";

/** The same place from the sources and from the package. */
export const PAGE_FOLDER = fileURLToPath(new URL("../../dist/console-page", import.meta.url));

/** Names of built files change with their content. */
const FOREVER = "public, max-age=31536000, immutable";

/** Serves `/` and `/assets/`; where no page is built, `/` says so. */
export async function addPage(app: FastifyInstance, folder: string): Promise<void> {
  if (!existsSync(join(folder, "index.html"))) {
    app.get("/", async () => {
      throw new Retryable("page_missing", "the console's page is not built", { hint: "npm run build, then start again" });
    });
    return;
  }
  await app.register(fastifyStatic, {
    root: folder,
    cacheControl: false,
    setHeaders: (reply, path) => void reply.header("cache-control", path.startsWith(join(folder, "assets")) ? FOREVER : "no-store"),
  });
}
