/** A process of a fleet: what it takes, gives and takes over, by real processes on one server. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { fleetLab } from "../harness/fleet-lab.ts";
import { holdOpenings } from "../harness/held-openings.ts";
import { startPostgres, type PostgresServer } from "../harness/postgres.ts";

let server: PostgresServer;
beforeAll(async () => void (server = await startPostgres({ major: 15 })), 60_000);
afterAll(() => server.stop());

test("two processes share the specialists, and each takes over what the other leaves", async (context) => {
  const store = await server.database();
  const lab = await fleetLab(context, { store, specialists: 12 });
  const sessions = async (pid: number): Promise<readonly unknown[]> =>
    server.run(
      `SELECT DISTINCT l.pid FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid JOIN retinue.process p
        ON a.application_name = 'retinue writer ' || p.number WHERE l.locktype = 'advisory' AND l.objsubid = 2 AND p.name LIKE '%:${pid}'`,
      new URL(store).pathname.slice(1),
    );
  const shares = async (): Promise<readonly number[]> => {
    const rows = await server.run(
      "SELECT count(*) AS n FROM pg_locks l WHERE locktype = 'advisory' AND objsubid = 2 GROUP BY pid HAVING count(*) > 1 ORDER BY 1",
      new URL(store).pathname.slice(1),
    );
    return rows.map(({ n }) => Number(n));
  };
  const first = lab.run();
  await lab.answered(await lab.news("one"));
  expect(await shares()).toEqual([1024]);

  const second = lab.run();
  await expect.poll(shares, { timeout: 15_000 }).toEqual([512, 512]);
  await lab.answered(await lab.news("two"));

  first.kill("SIGKILL");
  await first.ended;
  await expect
    .poll(async () => (await sessions(first.pid)).length + Math.abs((await shares()).reduce((sum, n) => sum + n, 0) - 1_024), {
      timeout: 15_000,
    })
    .toBe(0);
  await lab.answered(await lab.news("three"));

  const third = lab.run();
  await expect.poll(async () => (await shares()).length, { timeout: 15_000 }).toBeGreaterThan(1);
  await lab.answered(await lab.news("four"));
  second.kill("SIGTERM");
  expect((await second.ended).code).toBe(0);
  await expect.poll(async () => (await shares()).reduce((sum, n) => sum + n, 0), { timeout: 15_000 }).toBe(1024);
  await lab.answered(await lab.news("five"));
  third.kill("SIGTERM");
  expect((await third.ended).code).toBe(0);
  expect(lab.doubled()).toEqual([]);
});

test("a process that is stopped while it opens a store gives its others at once", async (context) => {
  const store = await server.database();
  const lab = await fleetLab(context, { store, specialists: 12 });
  /** Shards by the number of their process. */
  const shards = async (): Promise<unknown> => {
    const rows = await server.run(
      `SELECT application_name AS name, count(*) AS n FROM pg_locks JOIN pg_stat_activity USING (pid)
        WHERE locktype = 'advisory' AND objsubid = 2 AND application_name LIKE 'retinue writer %' GROUP BY 1`,
      new URL(store).pathname.slice(1),
    );
    return Object.fromEntries(rows.map(({ name, n }) => [Number(String(name).split(" ").at(-1)), Number(n)]));
  };
  const [first, second] = [lab.run(), lab.run()];
  await expect.poll(shards, { timeout: 30_000 }).toEqual({ 1: 512, 2: 512 });
  await lab.answered(await lab.news("one"));
  const held = await holdOpenings(store, "webhook_health");
  second.kill("SIGKILL");
  await second.ended;
  await held.waits(); // the first has them, and opens them
  const third = lab.run();
  await expect.poll(async () => (await lab.ask("fleet", "--json")).stdout, { timeout: 30_000 }).toContain(`:${third.pid}"`);
  first.kill("SIGTERM");
  await expect.poll(shards, { timeout: 20_000 }).toEqual(expect.objectContaining({ 3: 512 }));
  await held.release();
  expect((await first.ended).code).toBe(0);
  await expect.poll(shards, { timeout: 30_000 }).toEqual({ 3: 1_024 });
  await lab.answered(await lab.news("two"), 30_000);
  expect(lab.doubled()).toEqual([]);
  third.kill("SIGTERM");
  await third.ended;
});
