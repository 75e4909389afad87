/** A public list that one process has polled serves the specialists of all. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { fleetLab } from "../harness/fleet-lab.ts";
import { startPostgres, type PostgresServer } from "../harness/postgres.ts";

let server: PostgresServer;
beforeAll(async () => void (server = await startPostgres({ major: 18 })), 60_000);
afterAll(() => server.stop());

test("one poll of one process finds news for the specialists of both", { timeout: 90_000 }, async (context) => {
  const lab = await fleetLab(context, { store: await server.database(), specialists: 8 });
  const processes = [lab.run(), lab.run()];
  const shards = async (): Promise<readonly number[]> =>
    JSON.parse((await lab.ask("fleet", "--json")).stdout).processes.map((process: { shards: number }) => process.shards);
  await expect.poll(shards, { timeout: 15_000 }).toEqual([512, 512]);
  const { truth } = lab.network;
  /** Specialists that read the list between a post and the last answer to it. */
  const readersOf = async (text: string): Promise<number> => {
    const before = truth.requests().at(-1)?.seq ?? 0;
    await lab.answered(await lab.news(text), 60_000);
    return new Set(truth.requests({ operation: "posts.list", afterSeq: before }).map(({ agent }) => agent)).size;
  };
  // Until keys were seen to get the same list, each reads for itself.
  for (const text of ["first", "second"]) await readersOf(text);
  const readers = [await readersOf("third"), await readersOf("fourth"), await readersOf("fifth")];
  // Another may happen to read at the same moment.
  expect(Math.min(...readers)).toBe(1);
  expect(lab.doubled()).toEqual([]);
  for (const process of processes) process.kill("SIGTERM");
  for (const process of processes) expect((await process.ended).code).toBe(0);
});
