/** `retinue fleet`, and the other commands where several processes share a store. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { inProcess } from "../harness/cli.ts";
import { fleetLab } from "../harness/fleet-lab.ts";
import { startPostgres, type PostgresServer } from "../harness/postgres.ts";
import { folder } from "../harness/process.ts";

let server: PostgresServer;
beforeAll(async () => void (server = await startPostgres({ major: 15 })), 60_000);
afterAll(() => server.stop());

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

  const halted = await lab.ask("halt", "--reason", "enough");
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

test("it says what it cannot do", async (context) => {
  const cwd = folder(context);
  const ask = (...args: readonly string[]) => inProcess(["fleet", ...args], { cwd });
  expect((await ask()).stderr).toContain("this store is a file, which one process has");
  expect((await ask("stop")).stderr).toContain('fleet cannot "stop"');
  const store = await server.database();
  expect((await ask("--store", store)).stderr).toContain("there is no store yet");
});
