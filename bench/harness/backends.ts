/** The servers that some peers keep their work in: started for those that take part, stopped together. */
import { startPostgres, type Postgres } from "./postgres.ts";
import { startRedis, type Redis } from "./redis.ts";
import type { BenchContext } from "./suite.ts";

export interface Needing {
  readonly name: string;
  readonly needs?: "postgres" | "redis";
}

export interface Backends<Contender extends Needing = Needing> {
  readonly postgres: Postgres | undefined;
  readonly redis: Redis | undefined;
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
  const attempt = async <Server>(what: "postgres" | "redis", start: (folder: string) => Promise<Server>): Promise<Server | undefined> => {
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
  const servers = { postgres, redis };
  return {
    ...servers,
    able: asked.filter(({ needs }) => needs === undefined || servers[needs] !== undefined),
    missing,
    async stop() {
      await postgres?.stop();
      await redis?.stop();
    },
  };
}
