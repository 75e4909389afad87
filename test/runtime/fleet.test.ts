/** A process of a fleet: what it takes, gives and takes over, by real processes on one server. */
import { afterAll, beforeAll, expect, test, type TestContext } from "vitest";
import { parseStoreAddress } from "../../src/config/store-address.ts";
import { systemClock } from "../../src/core/clock.ts";
import { Membership } from "../../src/store/postgres/membership.ts";
import { fleetLab, type FleetLab } from "../harness/fleet-lab.ts";
import { holdOpenings } from "../harness/held-openings.ts";
import { startPostgres, type PostgresServer } from "../harness/postgres.ts";
import { folder } from "../harness/process.ts";
import { refuseStatements } from "../harness/refused-statements.ts";

let server: PostgresServer;
beforeAll(async () => void (server = await startPostgres({ major: 15 })), 60_000);
afterAll(() => server.stop());

const databaseOf = (store: string): string => new URL(store).pathname.slice(1);
const sharesOf = async (lab: FleetLab): Promise<readonly number[]> =>
  JSON.parse((await lab.ask("fleet", "--json")).stdout).processes.map(({ shards }: { shards: number }) => shards);

/** Two processes that have started, each with half, and have begun its work: a process whose first store cannot be opened ends. */
async function pair(context: TestContext) {
  const store = await server.database();
  const lab = await fleetLab(context, { store, specialists: 4 });
  const [first, second] = [lab.run(), lab.run()];
  for (const one of [first, second]) await one.saying(({ type }) => type === "started");
  await expect.poll(() => sharesOf(lab)).toEqual([512, 512]);
  await lab.answered(await lab.news("they have begun"));
  return { store, lab, first, second };
}

test("two processes share the specialists, and each takes over what the other leaves", async (context) => {
  const store = await server.database();
  const lab = await fleetLab(context, { store: `${store}?session_timeout=120`, specialists: 12 }); // nothing waits for it
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
  await expect.poll(shares).toEqual([512, 512]);
  await lab.answered(await lab.news("two"));

  first.kill("SIGKILL");
  await first.ended;
  await expect
    .poll(async () => (await sessions(first.pid)).length + Math.abs((await shares()).reduce((sum, n) => sum + n, 0) - 1_024))
    .toBe(0);
  await lab.answered(await lab.news("three"));

  const third = lab.run();
  await expect.poll(async () => (await shares()).length).toBeGreaterThan(1);
  await lab.answered(await lab.news("four"));
  second.kill("SIGTERM");
  expect((await second.ended).code).toBe(0);
  await expect.poll(async () => (await shares()).reduce((sum, n) => sum + n, 0)).toBe(1024);
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
  await expect.poll(shards).toEqual({ 1: 512, 2: 512 });
  await lab.answered(await lab.news("one"));
  const held = await holdOpenings(store);
  second.kill("SIGKILL");
  await second.ended;
  await held.waits(); // the first has them, and opens them
  const third = lab.run();
  await expect.poll(async () => (await lab.ask("fleet", "--json")).stdout).toContain(`:${third.pid}"`);
  first.kill("SIGTERM");
  await expect.poll(shards).toEqual(expect.objectContaining({ 3: 512 }));
  await held.release();
  expect((await first.ended).code).toBe(0);
  await expect.poll(shards).toEqual({ 3: 1_024 });
  await lab.answered(await lab.news("two"));
  expect(lab.doubled()).toEqual([]);
  third.kill("SIGTERM");
  await third.ended;
});

test("a store that cannot be opened is told as such, and as no failure that nobody awaits", async (context) => {
  const { store, lab, first, second } = await pair(context);
  const permit = await refuseStatements(server, store, { when: "UPDATE OF server", on: "shard" });
  second.kill("SIGKILL");
  await first.saying(
    ({ hint, message, level }) => level === "error" && JSON.stringify([hint, message]).includes("until the store can be used"),
  );
  await permit();
  await expect.poll(() => sharesOf(lab)).toEqual([1_024]);
  await lab.answered(await lab.news("one"));
  expect(first.said.filter((line) => JSON.stringify(line).includes("outside any handling"))).toEqual([]);
});

test("a halt that only a stopping process holds is on the server before another takes its specialists", async (context) => {
  const { store, lab, first, second } = await pair(context);
  const permit = await refuseStatements(server, store, { when: "INSERT", on: "stop" });
  const address = parseStoreAddress(store, folder(context));
  if (address.kind !== "postgres") throw new Error("expected a server");
  const visitor = await Membership.open({ address, clock: systemClock(), handles: undefined, newSalt: () => "none is made" });
  const holder = (await visitor.look()).processes.find(({ name }) => name.endsWith(`:${first.pid}`));
  if (holder === undefined) throw new Error("expected the first process");
  await visitor.ask(holder, JSON.stringify({ do: "halt", with: { reason: "wrong words" }, by: "a test" }), 10_000);
  await visitor.close();
  await first.saying(({ message }) => typeof message === "string" && message.includes("until the store can be used again"));
  const halts = () => server.run("SELECT kind, scope, reason FROM retinue.stop", databaseOf(store));
  expect(await halts()).toEqual([]);
  await permit(); // a look that comes before the end stores it too
  first.kill("SIGTERM");
  await first.ended;
  expect(await halts()).toEqual([{ kind: "halt", scope: "*", reason: "wrong words" }]);
  expect(first.said.filter((line) => JSON.stringify(line).includes("the halt is stored now"))).toEqual([]); // nothing was left to store
  await expect.poll(() => sharesOf(lab)).toEqual([1_024]);
  expect(JSON.parse((await lab.ask("status", "--json")).stdout).halts).toMatchObject([{ scope: "*", reason: "wrong words" }]);
  second.kill("SIGTERM");
  expect((await second.ended).code).toBe(0);
});
