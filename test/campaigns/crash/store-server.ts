/** A real PostgreSQL for the campaign, which cuts connections and crashes when it is told to. */
import { startPostgres, type PostgresMajor } from "../../harness/postgres.ts";
import type { StoreServer } from "./campaign.ts";
import { SESSION_TIMEOUT_MS } from "./victim.ts";

export async function openStoreServer(major: PostgresMajor): Promise<StoreServer & { stop(): Promise<void> }> {
  const server = await startPostgres({ major });
  return {
    database: async () => `${await server.database()}?session_timeout=${SESSION_TIMEOUT_MS / 1_000}`,
    async cut(address) {
      const database = new URL(address).pathname.slice(1);
      await server.run(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${database}' AND pid <> pg_backend_pid()`);
    },
    crash: () => server.restart("immediate"),
    stop: () => server.stop(),
  };
}
