/** Waits until the processes of a fleet have their shares of the shards. */
import { setTimeout } from "node:timers/promises";
import { Client } from "pg";
import { SHARDS } from "../../src/store/postgres/ownership.ts";

const LOOKS = 600;
const LOOK_MS = 500;

/** Resolves when each process has its share. Throws where that does not come to be. */
export async function sharedOut(url: string, processes: number): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    for (let looks = 0; looks < LOOKS; looks++) {
      const { rows } = await client.query<{ readonly shards: string }>(
        "SELECT count(*) AS shards FROM pg_locks JOIN pg_stat_activity USING (pid) WHERE locktype = 'advisory' AND objsubid = 2 AND datname = current_database() AND application_name LIKE 'retinue writer%' GROUP BY application_name",
      );
      const isShare = (shards: number): boolean => Math.abs(shards - SHARDS / processes) < 1;
      if (rows.length === processes && rows.every(({ shards }) => isShare(Number(shards)))) return;
      await setTimeout(LOOK_MS);
    }
  } finally {
    await client.end();
  }
  throw new Error("the shards were not shared out");
}
