/** A server that was replaced by its replica lacks the last commits: what they decided is not done a second time. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { fleetLab } from "../harness/fleet-lab.ts";
import { startPostgres, type PostgresServer } from "../harness/postgres.ts";
import { textIn } from "../harness/process.ts";

let server: PostgresServer;
beforeAll(async () => void (server = await startPostgres({ major: 15 })), 60_000);
afterAll(() => server.stop());

test(
  "answers whose commits were lost with the old server are found on the network, and not sent again",
  { timeout: 150_000 },
  async (context) => {
    const lab = await fleetLab(context, { store: await server.database(), specialists: 4 });
    const processes = [lab.run(), lab.run()];
    for (const process of processes) await process.saying(({ type }) => type === "started");
    await lab.answered(await lab.news("kept"));
    await server.copy();
    await lab.answered(await lab.news("lost"));
    await server.failOver();
    // The rows of the answers are gone.
    const [row] = await server.run("SELECT count(*) FROM retinue.intent", "database_1");
    expect(Number(row?.["count"])).toBe(lab.handles.length);
    await lab.answered(await lab.news("later"));
    const events = async (): Promise<number> => {
      const [found] = await server.run(
        "SELECT count(*) FROM retinue.event e LEFT JOIN retinue.open o ON o.kind = 0 AND o.seq = e.seq WHERE o.seq IS NULL",
        "database_1",
      );
      return Number(found?.["count"]);
    };
    // All three posts are dealt with by each.
    await expect.poll(events).toBeGreaterThanOrEqual(3 * lab.handles.length);
    expect(lab.doubled()).toEqual([]);
    for (const process of processes) process.kill("SIGTERM");
    for (const process of processes) expect((await process.ended).code).toBe(0);
  },
);

test("a server that comes back without the store is sent nothing more, and nothing is answered again", async (context) => {
  const store = await server.database();
  const lab = await fleetLab(context, { store, specialists: 8 });
  const processes = [lab.run(), lab.run()];
  // One that has not worked yet ends: a start without its store is a mistake.
  for (const process of processes) await process.saying((said) => textIn(said, "message").startsWith("this process took"));
  await lab.answered(await lab.news("before"));
  const database = new URL(store).pathname.slice(1);
  await server.run(
    `DROP SCHEMA retinue CASCADE;
      SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'retinue %' AND datname = current_database()`,
    database,
  );
  for (const process of processes)
    await process.saying((said) => said["level"] === "error" && JSON.stringify(said).includes("the server came back without the store"));
  expect(await server.run("SELECT to_regclass('retinue.migration') AS found", database)).toEqual([{ found: null }]);
  expect(lab.doubled()).toEqual([]);
  for (const process of processes) process.kill("SIGTERM");
  for (const process of processes) await process.ended;
  // Whoever starts them again begins with an empty store.
  const fresh = lab.run();
  await fresh.saying(({ type }) => type === "started");
  await lab.answered(await lab.news("after"));
});
