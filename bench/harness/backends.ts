/** The servers that some peers keep their work in: started for those that take part, stopped together. */
import { startPostgres, type Postgres } from "./postgres.ts";
import { startRedis, type Appendfsync, type Redis } from "./redis.ts";
import { startRestate, type Restate } from "./restate.ts";
import type { BenchContext } from "./suite.ts";

type Server = "postgres" | "redis" | "restate";

export interface Needing {
  readonly name: string;
  readonly needs?: Server;
  /** Of Redis. Default `always`, as its other peers sync before they answer. */
  readonly appendfsync?: Appendfsync;
}

export interface Backends<Contender extends Needing = Needing> {
  readonly postgres: Postgres | undefined;
  readonly redis: Redis | undefined;
  readonly restate: Restate | undefined;
  /** What a contender's process is told of its server: a database, queue or service that nobody has used, named `name`. */
  settingsFor(contender: Needing, name: string): Promise<Readonly<Record<string, unknown>>>;
  /** Those that were asked for and whose server, if they need one, is there. */
  readonly able: readonly Contender[];
  /** Who could not run, and why. */
  readonly missing: readonly string[];
  stop(): Promise<void>;
}

/** For the contenders that the run asks for. A server that cannot be started leaves those out that need it. */
export async function openBackends<Contender extends Needing>(
  contenders: readonly Contender[],
  { only, folder }: Pick<BenchContext, "only" | "folder">,
): Promise<Backends<Contender>> {
  const asked = contenders.filter(({ name }) => only === undefined || name.toLowerCase().includes(only.toLowerCase()));
  const missing: string[] = [];
  const attempt = async <Started>(what: Server, start: (folder: string) => Promise<Started>): Promise<Started | undefined> => {
    const needing = asked.filter(({ needs }) => needs === what).map(({ name }) => name);
    if (needing.length === 0) return undefined;
    try {
      return await start(folder);
    } catch (error) {
      missing.push(`${needing.join(" and ")} could not run: ${error instanceof Error ? error.message.split("\n")[0] : String(error)}`);
      return undefined;
    }
  };
  const postgres = await attempt("postgres", startPostgres);
  const redis = await attempt("redis", startRedis);
  const restate = await attempt("restate", startRestate);
  const servers = { postgres, redis, restate };
  return {
    ...servers,
    able: asked.filter(({ needs }) => needs === undefined || servers[needs] !== undefined),
    missing,
    async settingsFor({ needs, appendfsync }, name) {
      if (needs === "postgres" && postgres !== undefined) return { postgres: await postgres.database(name) };
      if (needs === "redis" && redis !== undefined) return { redis: await redis.fresh(appendfsync) };
      if (needs === "restate" && restate !== undefined) return { restate: restate.fresh() };
      return {};
    },
    async stop() {
      await postgres?.stop();
      await redis?.stop();
      await restate?.stop();
    },
  };
}
