/** `retinue fleet`, and the other commands where several processes share a store. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { inProcess } from "../harness/cli.ts";
import { fleetLab } from "../harness/fleet-lab.ts";
import { freePort } from "../harness/free-port.ts";
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
  const names = (await fleet()).processes.map(({ name }: { name: string }) => name);
  const copied = await lab.ask("store", "copy", `sqlite:${join(folder(context), "copy.sqlite")}`);
  expect(copied.code).toBe(1);
  const unnamed = await lab.ask("fleet", "drain");
  expect(unnamed.code).toBe(2);
  for (const name of names) for (const { stderr } of [copied, unnamed]) expect(stderr).toContain(name);
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
  expect((await lab.ask("fleet", "drain", names[1])).stdout).toContain("no process is left that takes them");
  for (const process of [one, two]) process.kill("SIGTERM");
  for (const process of [one, two]) expect((await process.ended).code).toBe(0);
  expect(lab.doubled()).toEqual([]);
});

test("the console of each process shows all specialists, and takes orders for each", { timeout: 60_000 }, async (context) => {
  const store = await server.database();
  const lab = await fleetLab(context, { store, specialists: 6 });
  const token = "a-token-for-the-console-of-this-test";
  const ports = [await freePort(), await freePort()] as const;
  const processes = ports.map((port) => lab.run({ env: { RETINUE_CONSOLE_PORT: `${port}`, RETINUE_CONSOLE_TOKEN: token } }));
  const get = async (port: number, path: string): Promise<{ readonly status: number; readonly json: Record<string, unknown> }> => {
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, { headers: { authorization: `Bearer ${token}` } });
    return { status: answer.status, json: await answer.json() };
  };
  for (const port of ports)
    await expect.poll(() => get(port, "/readyz").then(({ status }) => status, String), { timeout: 15_000 }).toBe(200);
  const fleet = async () => JSON.parse((await lab.ask("fleet", "--json")).stdout);
  await expect
    .poll(async () => (await fleet()).processes.map(({ shards }: { shards: number }) => shards), { timeout: 15_000 })
    .toEqual([512, 512]);
  for (const port of ports)
    await expect
      .poll(async () => (await get(port, "/api/status")).json["specialists"], { timeout: 10_000 })
      .toMatchObject(lab.handles.map((handle) => ({ handle })));
  const order = await fetch(`http://127.0.0.1:${ports[0]}/api/orders/halt`, {
    method: "POST",
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    body: JSON.stringify({ reason: "from a page" }),
  });
  expect(order.status).toBe(200);
  await expect
    .poll(async () => (await get(ports[1], "/api/status")).json["halts"], { timeout: 10_000 })
    .toMatchObject([{ reason: "from a page" }]);
  for (const process of processes) process.kill("SIGTERM");
  for (const process of processes) expect((await process.ended).code).toBe(0);
});

test("it says what it cannot do", async (context) => {
  const cwd = folder(context);
  const ask = (...args: readonly string[]) => inProcess(["fleet", ...args], { cwd });
  expect((await ask()).stderr).toContain("this store is a file, which one process has");
  expect((await ask("stop")).stderr).toContain('fleet cannot "stop"');
  const store = await server.database();
  expect((await ask("--store", store)).stderr).toContain("there is no store yet");
});
