/** Rows that come back from a backup lack what was done since: they are known as a copy wherever they were restored. */
import { afterAll, beforeAll, expect, onTestFinished, test, type TestContext } from "vitest";
import { parsePostgresAddress } from "../../../src/config/postgres-address.ts";
import { systemClock } from "../../../src/core/clock.ts";
import { seededRandom } from "../../../src/core/random.ts";
import { openPostgresStore } from "../../../src/store/postgres/postgres-store.ts";
import { startPostgres, type PostgresServer } from "../../harness/postgres.ts";
import { folder } from "../../harness/process.ts";

const clock = systemClock();
let server: PostgresServer;
beforeAll(async () => void (server = await startPostgres({ major: 18 })), 60_000);
afterAll(() => server.stop());

/** A database whose store has been at work. Each `start` is one more, and returns the time of the copy that it found. */
async function lab(context: TestContext) {
  const address = parsePostgresAddress(await server.database(), folder(context));
  const start = async (): Promise<number | undefined> => {
    const store = await openPostgresStore({ address, clock, random: seededRandom(1) });
    onTestFinished(() => store.close().catch(() => undefined));
    const { restoredFrom } = await store.recover(clock.now(), 0);
    await store.close();
    return restoredFrom;
  };
  expect(await start()).toBeUndefined();
  return { database: address.database, start };
}

test("a backup that is restored as a database of the same server", async (context) => {
  const { database, start } = await lab(context);
  await server.run(`CREATE DATABASE backup TEMPLATE ${database}`);
  expect(await start()).toBeUndefined();
  await server.run(`DROP DATABASE ${database}`);
  await server.run(`ALTER DATABASE backup RENAME TO ${database}`);
  expect(await start()).toBeGreaterThan(0);
  expect(await start()).toBeUndefined(); // once is enough
});

test("a backup of a store that was made and had not begun to work: its first start may be lacking", async (context) => {
  const address = parsePostgresAddress(await server.database(), folder(context));
  const store = await openPostgresStore({ address, clock, random: seededRandom(1) });
  await store.close();
  await server.run(`CREATE DATABASE unworked TEMPLATE ${address.database}`);
  const copy = await openPostgresStore({ address: { ...address, database: "unworked" }, clock, random: seededRandom(1) });
  onTestFinished(() => copy.close());
  expect((await copy.recover(clock.now(), 0)).restoredFrom).toBeDefined();
});

test("a backup that is restored into the same database", async (context) => {
  const { database, start } = await lab(context);
  // As a restore that drops the tables of the schema and makes them anew.
  await server.run("ALTER TABLE retinue.shard RENAME TO backup; CREATE TABLE retinue.shard (LIKE retinue.backup INCLUDING ALL)", database);
  await server.run("INSERT INTO retinue.shard SELECT * FROM retinue.backup; DROP TABLE retinue.backup", database);
  expect(await start()).toBeGreaterThan(0);
  expect(await start()).toBeUndefined();
});

test("a database that is renamed, compacted or restarted is no copy", async (context) => {
  const { database, start } = await lab(context);
  await server.run("VACUUM FULL", database);
  await server.restart("immediate");
  await server.run(`ALTER DATABASE ${database} RENAME TO elsewhere`);
  await server.run(`ALTER DATABASE elsewhere RENAME TO ${database}`);
  expect(await start()).toBeUndefined();
});

test("a server that was upgraded by pg_upgrade is taken for a copy, unless a person says that no commit is lacking", async (context) => {
  const { database, start } = await lab(context);
  // The upgraded server has another system identifier, and its rows name the one before.
  const upgrade = "UPDATE retinue.shard SET server = '1' || server";
  await server.run(upgrade, database);
  expect(await start()).toBeGreaterThan(0);
  await server.run(upgrade, database);
  await server.run("UPDATE retinue.shard SET server = NULL", database);
  expect(await start()).toBeUndefined();
});

test("a disk of the server that is put back is told by a person, with one statement", async (context) => {
  const { database, start } = await lab(context);
  await server.run("UPDATE retinue.shard SET server = 'put back'", database);
  expect(await start()).toBeGreaterThan(0);
});
