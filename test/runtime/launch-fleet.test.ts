/** A process of a fleet: what it takes, gives and takes over, by real processes on one server. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { fleetLab } from "../harness/fleet-lab.ts";
import { startPostgres, type PostgresServer } from "../harness/postgres.ts";

let server: PostgresServer;
beforeAll(async () => void (server = await startPostgres({ major: 15 })), 60_000);
afterAll(() => server.stop());

test("two processes share the specialists, and each takes over what the other leaves", { timeout: 120_000 }, async (context) => {
  const store = await server.database();
  const lab = await fleetLab(context, { store, specialists: 12 });
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

  const killedAt = performance.now();
  first.kill("SIGKILL");
  await expect.poll(async () => (await shares()).reduce((sum, n) => sum + n, 0), { timeout: 15_000, interval: 20 }).toBe(1024);
  console.log("takeover", performance.now() - killedAt);
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

test("commands on any machine see all specialists, and an order reaches each", { timeout: 90_000 }, async (context) => {
  const store = await server.database();
  const lab = await fleetLab(context, { store, specialists: 8 });
  const early = await lab.ask("status");
  expect([early.code, early.stderr]).toEqual([2, expect.stringContaining("there is no store yet in the schema retinue of 127.0.0.1")]);
  const [one, two] = [lab.run(), lab.run()];
  await lab.answered(await lab.news("one"));
  const fleet = async () => JSON.parse((await lab.ask("fleet", "--json")).stdout);
  await expect
    .poll(async () => (await fleet()).processes.map(({ shards }: { shards: number }) => shards), { timeout: 15_000 })
    .toEqual([512, 512]);
  const status = JSON.parse((await lab.ask("status", "--json")).stdout);
  expect(status.specialists.map(({ handle }: { handle: string }) => handle)).toEqual(lab.handles);
  expect(status.specialists.every(({ tier }: { tier: string }) => tier === "pro")).toBe(true);

  const began = performance.now();
  const halted = await lab.ask("halt", "--reason", "enough");
  console.log("halt", performance.now() - began, halted);
  expect(halted.code).toBe(0);
  const post = await lab.news("two");
  const log = JSON.parse((await lab.ask("log", "--json")).stdout);
  expect(log.entries.length, JSON.stringify(log).slice(0, 300)).toBe(8);
  const [entry] = log.entries;
  expect((await lab.ask("why", entry.id)).stdout).toContain("s");
  const drained = await lab.ask("fleet", "drain", String((await fleet()).processes[0].name));
  expect(drained.stdout).toContain("gives its specialists to the others");
  await expect
    .poll(async () => (await fleet()).processes.map(({ shards }: { shards: number }) => shards), { timeout: 15_000 })
    .toEqual([0, 1024]);
  const after = JSON.parse((await lab.ask("status", "--json")).stdout);
  expect(after.halts).toMatchObject([{ scope: "*", reason: "enough" }]);
  expect(lab.network.truth.effects({ operation: "posts.reply" }).filter(({ target }) => target === post)).toEqual([]);
  expect((await lab.ask("halt", "--lift")).code).toBe(0);
  await lab.answered(post);
  for (const process of [one, two]) process.kill("SIGTERM");
  for (const process of [one, two]) expect((await process.ended).code).toBe(0);
  expect(lab.doubled()).toEqual([]);
});
