/** A process that lives is seen while it is stopped, and holds nothing else of the server then; what is gone leaves no rows. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { afterAll, beforeAll, expect, onTestFinished, test, type TestContext } from "vitest";
import { parsePostgresAddress } from "../../../src/config/postgres-address.ts";
import { systemClock } from "../../../src/core/clock.ts";
import { asHandle } from "../../../src/core/ids.ts";
import { seededRandom } from "../../../src/core/random.ts";
import { KnownStore } from "../../../src/store/postgres/known-store.ts";
import { Membership, type MembershipOptions } from "../../../src/store/postgres/membership.ts";
import { openShards } from "../../../src/store/postgres/postgres-store.ts";
import { startPostgres, type PostgresServer } from "../../harness/postgres.ts";
import { folder } from "../../harness/process.ts";

const SRC = join(import.meta.dirname, "../../../src");
const clock = systemClock();
let server: PostgresServer;
beforeAll(async () => void (server = await startPostgres({ major: 18 })), 60_000);
afterAll(() => server.stop());

async function lab(context: TestContext, parameters = "") {
  const store = `${await server.database()}${parameters}`;
  const address = parsePostgresAddress(store, folder(context));
  return {
    store,
    address,
    run: (sql: string) => server.run(sql, address.database),
    async join(more: Partial<MembershipOptions> = {}): Promise<Membership> {
      const one = await Membership.open({ address, clock, handles: [asHandle("a")], newSalt: () => "salt", ...more });
      onTestFinished(() => one.close());
      return one;
    },
  };
}

test("notices to a process that is stopped keep no old rows, and it is still seen", async (context) => {
  const here = await lab(context, "?session_timeout=2");
  const text = `
    const { Membership } = await import("${SRC}/store/postgres/membership.ts");
    const { parsePostgresAddress } = await import("${SRC}/config/postgres-address.ts");
    const { systemClock } = await import("${SRC}/core/clock.ts");
    const address = parsePostgresAddress(${JSON.stringify(here.store)}, "/");
    await Membership.open({ address, clock: systemClock(), handles: [], newSalt: () => "salt" });
    process.stdout.write("stops", () => process.kill(process.pid, "SIGSTOP"));`;
  const words = ["--conditions=retinue-source", "--input-type=module", "-e", text];
  const child = spawn(process.execPath, words, { stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(() => void child.kill("SIGKILL"));
  await once(child.stdout, "data");
  for (let i = 0; i < 4; i++)
    await here.run(`SELECT count(pg_notify('retinue retinue', 'ask ' || n || ' ${i}')) FROM generate_series(1, 50000) n`);
  const sessions = "SELECT application_name AS name, backend_xmin AS holds FROM pg_stat_activity WHERE application_name LIKE 'retinue %'";
  await expect
    .poll(() => here.run(`${sessions} AND datname = current_database() ORDER BY name`), { timeout: 20_000, interval: 200 })
    .toEqual(["retinue process", "retinue writer 1"].map((name) => ({ name, holds: null })));
  const other = await here.join();
  expect((await other.look()).processes).toHaveLength(2);
  child.kill("SIGKILL");
  await expect.poll(async () => (await other.look()).processes.length).toBe(1);
});

test("a process whose session for notices has ended opens it again, and stays the one it was", async (context) => {
  const here = await lab(context);
  const [lost, told]: [Error[], string[]] = [[], []];
  const one = await here.join({
    onLost: (error) => lost.push(error),
    answer: async (body) => `heard ${body}`,
    onNotice: () => told.push("look"),
  });
  const two = await here.join();
  const [first] = (await two.look()).processes;
  if (first === undefined) throw new Error("nobody is there");
  await here.run(
    `SELECT pg_terminate_backend(pid, 2000) FROM pg_stat_activity WHERE application_name = 'retinue notices' AND datname = current_database()`,
  );
  await expect.poll(() => one.look().catch(() => undefined)).toMatchObject({ processes: [{ number: one.number }, { number: two.number }] });
  expect(told).toContain("look");
  await expect.poll(() => two.ask(first, "question", 5_000).catch(() => undefined)).toBe("heard question");
  expect(lost).toEqual([]);
  await here.run(
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'retinue process' AND datname = current_database()`,
  );
  await expect.poll(() => lost).toHaveLength(1);
});

test("a join removes the rows of processes that are gone, and of holders that no shard had last", async (context) => {
  const here = await lab(context);
  const living = await here.join();
  const work = async (shards: readonly number[]) => {
    const member = await here.join();
    const held = await openShards({ address: here.address, clock, random: seededRandom(1), shards, process: member.number });
    if (held === undefined) throw new Error("they are taken");
    await held.store.recover(clock.now(), 0);
    return { member, held };
  };
  for (let i = 0; i < 3; i++) {
    const { member, held } = await work([1, 2]);
    await held.store.close();
    await member.close();
  }
  const { held } = await work([3]);
  await expect.poll(async () => (await living.look()).processes.length).toBe(2);
  await here.join();
  const [counts] =
    await here.run(`SELECT (SELECT count(*)::int FROM retinue.process) AS processes, (SELECT count(*)::int FROM retinue.holder) AS holders,
    (SELECT count(*)::int FROM retinue.mark) AS marks, (SELECT count(*)::int FROM retinue.rolled_up) AS sums`);
  expect(counts).toEqual({ processes: 3, holders: 2, marks: 2, sums: 2 });
  const again = await openShards({ address: here.address, clock, random: seededRandom(1), shards: [1, 2], process: living.number });
  await again?.store.close();
  await held.store.close();
});

test("a process joins the store again that it has worked on, and no other", async (context) => {
  const here = await lab(context);
  const known = new KnownStore();
  const first = await here.join({ known });
  await first.close();
  const living = await here.join({ known });
  await here.run("ALTER SCHEMA retinue RENAME TO elsewhere");
  await expect(living.look()).rejects.toMatchObject({ code: "store_missing", message: expect.stringContaining("has the store no longer") });
  await here.run("ALTER SCHEMA elsewhere RENAME TO retinue");
  await living.close();
  await here.run("DROP SCHEMA retinue CASCADE");
  const gone = { code: "store_missing", message: expect.stringContaining("came back without the store") };
  await expect(here.join({ known })).rejects.toMatchObject(gone);
  expect(await here.run("SELECT to_regclass('retinue.migration') AS found")).toEqual([{ found: null }]);
  const other = await here.join({ newSalt: () => "another" }); // a process that knew none
  await expect(here.join({ known })).rejects.toMatchObject(gone);
  await here.run("UPDATE retinue.meta SET value = 'a third' WHERE name = 'salt'");
  await expect(other.look()).rejects.toMatchObject(gone);
});

test("a process whose own session is gone is seen as long as it has shards, so that a halt ends its sessions", async (context) => {
  const here = await lab(context);
  const lost = await here.join();
  const held = await openShards({ address: here.address, clock, random: seededRandom(1), shards: [1, 2], process: lost.number });
  onTestFinished(() => held?.store.close().catch(() => undefined));
  await here.run(
    "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database() AND application_name = 'retinue process'",
  );
  const other = await here.join(); // removes the rows of processes that are gone
  const seen = async () => (await other.look()).processes.map(({ number, present, shards }) => ({ number, present, shards }));
  const self = { number: other.number, present: true, shards: [] };
  expect(await seen()).toEqual([{ number: lost.number, present: false, shards: [1, 2] }, self]);
  const [process] = (await other.look()).processes;
  if (process === undefined) throw new Error("nobody is there");
  await other.endSessions(process);
  expect(await seen()).toEqual([self]);
});
