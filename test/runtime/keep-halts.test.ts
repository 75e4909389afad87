/** Halts that a disk did not take are stored at the end of the process, and said to be lost if that fails too. */
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { parseStoreAddress, type StoreAddress } from "../../src/config/store-address.ts";
import { createLogger, type LogLine } from "../../src/core/log.ts";
import { seededRandom } from "../../src/core/random.ts";
import { systemClock } from "../../src/core/clock.ts";
import { keepHalts } from "../../src/runtime/keep-halts.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import type { Stop } from "../../src/limits/verdict.ts";
import { openStore } from "../../src/store/open-store.ts";
import { startPostgres, type PostgresServer } from "../harness/postgres.ts";
import { project } from "../harness/project.ts";

const HALT: Stop = { scope: "scout", reason: "wrong words", since: 500 };

let server: PostgresServer;
beforeAll(async () => void (server = await startPostgres({ major: 18 })), 60_000);
afterAll(() => server.stop());

async function kept(place: string | StoreAddress, halts: readonly Stop[]) {
  const lines: LogLine[] = [];
  const log = createLogger({ level: "info", now: () => 0, sink: (line) => void lines.push(line) });
  const store = typeof place === "string" ? ({ kind: "sqlite", path: place } as const) : place;
  await keepHalts(halts, { store, clock: systemClock(), random: seededRandom(1), log, newSalt: () => "none is made" });
  return lines.map(({ level, message }) => [level, message]);
}

test("a halt is there at the next start, with its reason and its time", async () => {
  const path = join(project().root, "store.sqlite");
  expect(await kept(path, [HALT])).toEqual([["info", "the halt is stored now: the next start obeys it"]]);
  const store = openSqliteStore({ path, clock: systemClock(), random: seededRandom(2) });
  expect((await store.stops()).halts).toEqual([HALT]);
  await store.close();
});

test("a store that cannot be opened makes the log say that the halt is lost", async () => {
  const { root } = project({ "store.sqlite": "this is no database, and never was one: it is a text that a person wrote".repeat(20) });
  expect(await kept(join(root, "store.sqlite"), [HALT])).toEqual([
    ["error", "the halt could not be stored: give it again before the next start"],
  ]);
});

test("on a server it is stored while other processes have every shard, and they are to be told of it, too, if that fails", async () => {
  const address = parseStoreAddress(await server.database(), project().root);
  expect(await kept(address, [HALT])).toEqual([
    ["error", "the halt could not be stored: give it again now, since other processes may be running without it"],
  ]);
  const options = { clock: systemClock(), random: seededRandom(2) };
  const other = await openStore(address, options);
  await expect(openStore(address, options)).rejects.toMatchObject({ code: "store_in_use" });
  expect(await kept(address, [HALT, { ...HALT, scope: "*" }])).toEqual([
    ["warn", "the halt is stored now, for processes that begin or take specialists: give it again to those that are running"],
  ]);
  await other.close();
  const next = await openStore(address, options);
  expect((await next.stops()).halts).toEqual([{ ...HALT, scope: "*" }, HALT]);
  await next.close();
});

test("without a halt nothing is opened and nothing is said", async () => {
  expect(await kept(join(project().root, "none/store.sqlite"), [])).toEqual([]);
});
