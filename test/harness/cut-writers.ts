/** Ends the sessions by which stores of a database hold their shards, without a word, as if their processes were killed. */
import { expect } from "vitest";
import type { PostgresServer } from "./postgres.ts";

export async function cutWriters(server: PostgresServer, database: string): Promise<void> {
  await server.run(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'retinue writer' AND datname = current_database()",
    database,
  );
  await expect.poll(() => server.run("SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2", database)).toEqual([]);
}
