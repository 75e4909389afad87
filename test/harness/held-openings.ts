/** Holds up stores of a fleet that are being opened: a table that each of them reads, and nothing else, is locked. */
import { Client } from "pg";
import { expect } from "vitest";

const TABLE = "webhook_health";

export interface HeldOpenings {
  /** Resolves once a store waits. */
  waits(): Promise<void>;
  release(): Promise<void>;
}

/** `store` is the address of the database. */
export async function holdOpenings(store: string): Promise<HeldOpenings> {
  const [client, watcher] = [new Client({ connectionString: store }), new Client({ connectionString: store })];
  await Promise.all([client.connect(), watcher.connect()]);
  await client.query(`BEGIN; LOCK TABLE retinue.${TABLE} IN ACCESS EXCLUSIVE MODE`);
  return {
    async waits() {
      const waiting = `SELECT FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND query LIKE '%${TABLE}%' AND datname = current_database()`;
      await expect.poll(async () => (await watcher.query(waiting)).rows).not.toEqual([]);
    },
    async release() {
      await client.query("COMMIT");
      await Promise.all([client.end(), watcher.end()]);
    },
  };
}
