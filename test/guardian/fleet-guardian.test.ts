/** Orders over several processes: one that is stopped cannot hold up a halt, and sends nothing when it goes on. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { fleetLab } from "../harness/fleet-lab.ts";
import { folderOrders } from "../harness/folder-orders.ts";
import { refuseStatements } from "../harness/refused-statements.ts";
import { startPostgres, type PostgresServer } from "../harness/postgres.ts";

let server: PostgresServer;
beforeAll(async () => void (server = await startPostgres({ major: 18 })), 60_000);
afterAll(() => server.stop());

test(
  "a halt is answered while a process is stopped, holds for it too, and for one that begins later",
  { timeout: 180_000 },
  async (context) => {
    const store = await server.database();
    const lab = await fleetLab(context, { store, specialists: 8 });
    const [one, two] = [lab.run(), lab.run()];
    const shards = async (): Promise<readonly number[]> =>
      JSON.parse((await lab.ask("fleet", "--json")).stdout).processes.map((process: { shards: number }) => process.shards);
    await expect.poll(shards).toEqual([512, 512]);
    await lab.answered(await lab.news("one"));

    one.kill("SIGSTOP");
    const post = await lab.news("two"); // it may be under way in the other process
    const halted = await lab.ask("halt", "--reason", "now");
    expect([halted.code, halted.stdout]).toEqual([
      0,
      expect.stringMatching(/halted: no specialist writes|did not answer: its sessions are ended/),
    ]);
    const answers = (of: string): number =>
      lab.network.truth.effects({ operation: "posts.reply" }).filter(({ target }) => target === of).length;
    await expect.poll(async () => (await lab.ask("status")).stdout).toContain("now"); // the other may have been ended too, if it was slow
    one.kill("SIGCONT");
    const three = lab.run();
    await expect.poll(async () => (await shards()).length).toBe(3);
    const late = await lab.news("three");
    await expect.poll(async () => (await shards()).reduce((sum, count) => sum + count, 0)).toBe(1_024);
    const before = answers(post);
    expect(before).toBeLessThan(8); // those of the stopped process wait

    expect(answers(post)).toBe(before);
    const lifted = await lab.ask("halt", "--lift");
    expect(lifted.code).toBe(0);
    await lab.answered(post); // each reads its list when it is due
    await lab.answered(late);
    expect(lab.doubled()).toEqual([]);
    for (const process of [one, two, three]) process.kill("SIGTERM");
    for (const process of [one, two, three]) await process.ended;
  },
);

test("a drain that the server does not take at once holds all the same, and is told to the others once it does", async (context) => {
  const store = await server.database();
  const lab = await fleetLab(context, { store, specialists: 4 });
  const [one] = [lab.run(), lab.run()];
  const shown = async (): Promise<readonly { readonly name: string; readonly shards: number; readonly draining: boolean }[]> =>
    JSON.parse((await lab.ask("fleet", "--json")).stdout).processes;
  await expect.poll(async () => (await shown()).map(({ shards }) => shards)).toEqual([512, 512]);
  const permit = await refuseStatements(server, store, { when: "UPDATE OF draining", on: "process" });
  const isOne = ({ name }: { readonly name: string }): boolean => name.endsWith(`:${one.pid}`);
  expect((await lab.ask("fleet", "drain", (await shown()).find(isOne)?.name ?? "")).code).toBe(0);
  await one.saying((line) => JSON.stringify(line).includes("do not know of the drain yet"));
  await expect.poll(async () => (await shown()).find(isOne)?.shards).toBe(0);
  await permit();
  const state = async () =>
    (await shown()).map((process) => ({ isOne: isOne(process), shards: process.shards, draining: process.draining }));
  await expect.poll(state).toEqual(
    expect.arrayContaining([
      { isOne: false, shards: 1_024, draining: false },
      { isOne: true, shards: 0, draining: true },
    ]),
  );
  expect(one.said.filter((line) => JSON.stringify(line).includes("outside any handling"))).toEqual([]);
});

test("while the server takes no connection, commands say that nothing is sent, also as long as one connection of the process is left", async (context) => {
  const store = await server.database();
  const database = new URL(store).pathname.slice(1);
  const lab = await fleetLab(context, { store, specialists: 2 });
  const one = lab.run();
  await lab.answered(await lab.news("one"));
  const { order, listed } = folderOrders(one.root, store);
  await server.run(`ALTER DATABASE "${database}" ALLOW_CONNECTIONS false`);
  await server.run(`SELECT pg_terminate_backend(pid) FROM pg_stat_activity
    WHERE datname = '${database}' AND application_name LIKE 'retinue %' AND application_name <> 'retinue process'`);
  await expect.poll(async () => (await order("status")).stdout).toContain("Nothing is sent: ");
  for (const words of [["why", lab.handles[0] ?? ""], ["log"], ["pause", lab.handles[0] ?? ""]]) {
    const said = await order(...words);
    expect([words, said.code, said.stderr]).toEqual([words, 1, expect.stringContaining("this process sends nothing meanwhile")]);
    expect([words, said.stderr]).toEqual([words, expect.stringContaining("not currently accepting connections")]);
  }
  const halted = await order("halt", "--reason", "no server");
  expect([halted.code, halted.stderr]).toEqual([1, expect.stringContaining("the halt is not kept: ")]);
  await server.run(`ALTER DATABASE "${database}" ALLOW_CONNECTIONS true`);
  await expect.poll(listed).toMatchObject([{ what: "halt", why: "no server" }]);
  expect((await order("halt", "--lift")).code).toBe(0);
  await lab.answered(await lab.news("two"));
  expect(lab.doubled()).toEqual([]);
});
