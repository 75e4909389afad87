/** A session that writes and is ready before it is needed: an opening waits for the server a few times, and for no connection. */
import { afterAll, beforeAll, expect, onTestFinished, test } from "vitest";
import { parsePostgresAddress, type PostgresAddress } from "../../../src/config/postgres-address.ts";
import { systemClock } from "../../../src/core/clock.ts";
import { seededRandom } from "../../../src/core/random.ts";
import type { PostgresConnection } from "../../../src/store/postgres/open-connection.ts";
import { openShards, type HeldStore } from "../../../src/store/postgres/postgres-store.ts";
import { openWriter, ReadyWriter } from "../../../src/store/postgres/ready-writer.ts";
import { startPostgres, type PostgresServer } from "../../harness/postgres.ts";
import { folder } from "../../harness/process.ts";

const clock = systemClock();
const PROCESS = 7;
let server: PostgresServer;
beforeAll(async () => void (server = await startPostgres({ major: 18 })), 60_000);
afterAll(() => server.stop());

async function newDatabase(): Promise<{ readonly address: PostgresAddress; readonly sessions: () => Promise<readonly number[]> }> {
  const url = await server.database();
  const context = { onTestFinished } as Parameters<typeof folder>[0];
  const address = parsePostgresAddress(url, folder(context));
  await (await openWriter({ address })).close(); // it makes the tables, as joining does
  return {
    address,
    async sessions() {
      const rows = await server.run(
        `SELECT pid FROM pg_stat_activity WHERE application_name = 'retinue writer ${PROCESS}' AND datname = current_database() ORDER BY pid`,
        address.database,
      );
      return rows.map(({ pid }) => Number(pid));
    },
  };
}

async function opened(address: PostgresAddress, writers: ReadyWriter, shards: readonly number[]): Promise<HeldStore> {
  const held = await openShards({ address, shards, process: PROCESS, writers, clock, random: seededRandom(1) });
  if (held === undefined) throw new Error("no shard is free");
  return held;
}

test("a process has a session ready beside those of its stores, and the next store takes it", async () => {
  const { address, sessions } = await newDatabase();
  const writers = new ReadyWriter(() => openWriter({ address, process: PROCESS }));
  const first = await opened(address, writers, [1]);
  await expect.poll(sessions).toHaveLength(2);
  const before = await sessions();
  const second = await opened(address, writers, [2]);
  await expect.poll(sessions).toHaveLength(3);
  const [row] = await server.run(
    "SELECT count(DISTINCT pid) AS held FROM pg_locks WHERE locktype = 'advisory' AND objsubid = 2",
    address.database,
  );
  expect(Number(row?.["held"])).toBe(2);
  expect(await sessions()).toEqual(expect.arrayContaining([...before]));
  await Promise.all([first.store.close(), second.store.close()]);
  await expect.poll(sessions).toHaveLength(1);
  await writers.close();
  await expect.poll(sessions).toEqual([]);
});

test("a session that ended while it was ready is not given", async () => {
  const { address, sessions } = await newDatabase();
  const writers = new ReadyWriter(() => openWriter({ address, process: PROCESS }));
  writers.prepare();
  await expect.poll(sessions).toHaveLength(1);
  const [ready] = await sessions();
  await server.run(`SELECT pg_terminate_backend(${ready})`, address.database);
  await expect
    .poll(async () => {
      const connection = await writers.take();
      const [row] = await connection.query({ text: "SELECT pg_backend_pid() AS pid" }).catch(() => []);
      await connection.close();
      return Number(row?.["pid"] ?? ready) !== ready;
    })
    .toBe(true);
  await writers.close();
});

test("an opening bounds its wait for the server before its first statement", async () => {
  const { address } = await newDatabase();
  const order: string[] = [];
  const silent: PostgresConnection = {
    requireAnswers: (withinMs) => void order.push(`answers within ${withinMs} ms`),
    query() {
      order.push("statement");
      return Promise.reject(new Error("the server has not answered"));
    },
    close: () => Promise.resolve(void order.push("closed")),
    onLost: () => undefined,
    onNotice: () => undefined,
    statements: 0,
  };
  const opening = openShards({ address, writers: new ReadyWriter(() => Promise.resolve(silent)), clock, random: seededRandom(1) });
  await expect(opening).rejects.toThrow("has not answered");
  expect([order[0], order[1], order.at(-1)]).toEqual(["answers within 16000 ms", "statement", "closed"]);
});

test("a session that was being opened when the process ended is closed", async () => {
  const { address, sessions } = await newDatabase();
  const opening = Promise.withResolvers<PostgresConnection>();
  const writers = new ReadyWriter(() => opening.promise);
  writers.prepare();
  await writers.close();
  opening.resolve(await openWriter({ address, process: PROCESS }));
  await expect.poll(sessions).toEqual([]);
});

/** The connection, and the times at which something waited for the server. */
function counted(connection: PostgresConnection): { readonly connection: PostgresConnection; readonly waits: () => number } {
  let [open, waits] = [0, 0];
  return {
    waits: () => waits,
    connection: {
      ...connection,
      get statements() {
        return connection.statements;
      },
      async query(statement) {
        if (open++ === 0) waits++;
        try {
          return await connection.query(statement);
        } finally {
          open--;
        }
      },
    },
  };
}

/** Taking the shards, their holders, numbers, the new holder's rows, its mark, and what is loaded with the Guardian's account. */
const MOST_WAITS = 10;

test("an opening waits for the server few times", async () => {
  const { address } = await newDatabase();
  const waits: (() => number)[] = [];
  const writers = new ReadyWriter(async () => {
    const one = counted(await openWriter({ address, process: PROCESS }));
    waits.push(one.waits);
    return one.connection;
  });
  const first = await opened(address, writers, [1, 2, 3]);
  await first.store.close();
  const again = await opened(address, writers, [1, 2, 3]);
  expect(waits[1]?.()).toBeGreaterThan(0);
  expect(waits[1]?.()).toBeLessThanOrEqual(MOST_WAITS);
  await again.store.close();
  await writers.close();
});
