/** One connection to a real server: values keep their types, statements travel together, and its end is known once and by name. */
import { readFileSync } from "node:fs";
import { afterAll, beforeAll, expect, test, type TestContext } from "vitest";
import { parsePostgresAddress, type PostgresAddress } from "../../../src/config/postgres-address.ts";
import { systemClock, type Clock, type Timer } from "../../../src/core/clock.ts";
import { openConnection, type PostgresConnection } from "../../../src/store/postgres/open-connection.ts";
import { isConnectionLost, sqlState } from "../../../src/store/postgres/server-errors.ts";
import { startPostgres, type PostgresServer } from "../../harness/postgres.ts";
import { folder } from "../../harness/process.ts";
import { tlsFiles } from "../../harness/tls-files.ts";

let server: PostgresServer;
beforeAll(async () => void (server = await startPostgres()), 60_000);
afterAll(() => server.stop());

const addressOf = (text: string): PostgresAddress => parsePostgresAddress(text, "/");

async function opened(context: TestContext, settings: Readonly<Record<string, string>> = {}): Promise<PostgresConnection> {
  const connection = await openConnection({ address: addressOf(server.address("postgres")), purpose: "test", settings });
  context.onTestFinished(() => connection.close());
  return connection;
}

const pidOf = async (connection: PostgresConnection): Promise<number> =>
  Number((await connection.query({ text: "SELECT pg_backend_pid() AS pid" }))[0]?.["pid"]);

test("a value comes back as it was sent: numbers exact, bytes as bytes", async (context) => {
  const connection = await opened(context);
  const values = [Number.MAX_SAFE_INTEGER, new Uint8Array([0, 1, 255]), "a\\'\"ß🙂", null];
  expect(await connection.query({ text: "SELECT $1::int8 AS n, $2::bytea AS b, $3::text AS t, $4::text AS nothing", values })).toEqual([
    { n: Number.MAX_SAFE_INTEGER, b: new Uint8Array([0, 1, 255]), t: "a\\'\"ß🙂", nothing: null },
  ]);
  await expect(connection.query({ text: "SELECT 9007199254740993::int8 AS n" })).rejects.toThrow("9007199254740993 is no exact number");
  expect(await connection.query({ text: "SELECT 1 AS n" })).toEqual([{ n: 1 }]);
});

test("statements sent together are answered in order, and one that fails fails alone", async (context) => {
  const connection = await opened(context);
  const before = connection.statements;
  const all = await Promise.allSettled(
    [1, 0, 2].map((n) => connection.query({ text: "SELECT 6 / $1::int AS n", values: [n], name: "divide" })),
  );
  expect(all).toMatchObject([
    { value: [{ n: 6 }] },
    { reason: { code: "store_statement_failed", message: expect.stringContaining("division by zero (22012)") } },
    { value: [{ n: 3 }] },
  ]);
  expect(all[1]?.status === "rejected" && sqlState(all[1].reason)).toBe("22012");
  expect(connection.statements - before).toBe(3);
});

test("a session has our settings and name; one that the server refuses is named", async (context) => {
  const connection = await opened(context, { idle_session_timeout: "5000" });
  const text = "SELECT current_setting('idle_session_timeout') AS idle, current_setting('application_name') AS name";
  expect(await connection.query({ text })).toEqual([{ idle: "5s", name: "retinue test" }]);
  const probes = "SELECT current_setting('tcp_keepalives_idle') AS idle, current_setting('tcp_user_timeout') AS silent";
  expect(await connection.query({ text: probes })).toEqual([{ idle: "4", silent: "16000" }]);
  await expect(opened(context, { no_such_setting: "1" })).rejects.toMatchObject({
    code: "store_setting_refused",
    message: expect.stringContaining("no_such_setting"),
  });
});

test.each([
  { name: "pg_terminate_backend", end: (pid: number) => server.run(`SELECT pg_terminate_backend(${pid})`) },
  { name: "a fast restart", end: () => server.restart("fast") },
  { name: "a crash of the server", end: () => server.restart("immediate") },
])("$name ends a connection once, also for every statement under way", async ({ end }) => {
  const connection = await openConnection({ address: addressOf(server.address("postgres")), purpose: "test" });
  const lost: Error[] = [];
  const told = new Promise<void>((resolve) => connection.onLost((error) => (lost.push(error), resolve())));
  const pid = await pidOf(connection);
  const underway = Promise.allSettled([connection.query({ text: "SELECT pg_sleep(60)" }), connection.query({ text: "SELECT 1" })]);
  await end(pid);
  const errors = (await underway).map((one) => one.status === "rejected" && one.reason);
  await told;
  expect([...errors, ...lost].map(isConnectionLost)).toEqual([true, true, true]);
  await expect(connection.query({ text: "SELECT 1" })).rejects.toMatchObject({ code: "store_connection_lost" });
  connection.onLost((error) => lost.push(error));
  expect(lost).toHaveLength(2);
  await connection.close();
});

test("a statement behind a lock sees what was stored while it waited, whatever isolation a database has", async (context) => {
  const url = await server.database();
  const database = new URL(url).pathname.slice(1);
  await server.run(`ALTER DATABASE ${database} SET default_transaction_isolation = 'repeatable read'`);
  const connection = await openConnection({ address: addressOf(url), purpose: "test" });
  context.onTestFinished(() => connection.close());
  expect(await connection.query({ text: "SHOW transaction_isolation" })).toEqual([{ transaction_isolation: "read committed" }]);
});

test("a silent session is ended by the server, and the process hears it", async (context) => {
  const connection = await opened(context, { idle_session_timeout: "200" });
  const error = await new Promise<Error>((resolve) => connection.onLost(resolve));
  expect(isConnectionLost(error)).toBe(true);
});

test("a closed connection answers what was sent, frees its locks before it resolves, and is not lost", async (context) => {
  const other = await opened(context);
  const connection = await openConnection({ address: addressOf(server.address("postgres")), purpose: "test" });
  let isLost = false;
  connection.onLost(() => (isLost = true));
  const lock = { text: "SELECT pg_try_advisory_lock(7) AS got" };
  expect(await connection.query(lock)).toEqual([{ got: true }]);
  const underway = connection.query({ text: "SELECT 1 AS n FROM pg_sleep(0.2)" });
  await connection.close();
  expect(await other.query(lock)).toEqual([{ got: true }]);
  expect(await underway).toEqual([{ n: 1 }]);
  expect(isLost).toBe(false);
});

test("an end leaves no timer, whether the connection is closed or lost: a process waits for those", async (context) => {
  const left = new Set<Timer>();
  const clock: Clock = {
    ...systemClock(),
    after(delayMs, run) {
      const timer = systemClock().after(delayMs, () => {
        left.delete(timer);
        run();
      });
      left.add(timer);
      return { cancel: () => (left.delete(timer), timer.cancel()) };
    },
  };
  const address = addressOf(server.address("postgres"));
  const [closed, ended] = [
    await openConnection({ address, purpose: "test", clock }),
    await openConnection({ address, purpose: "test", clock }),
  ];
  for (const connection of [closed, ended]) {
    connection.requireAnswers(60_000);
    await connection.query({ text: "SELECT 1 AS n" });
  }
  expect(left.size).toBe(2);
  await closed.close();
  const lost = new Promise((resolve) => ended.onLost(resolve));
  await (await opened(context)).query({ text: `SELECT pg_terminate_backend(${await pidOf(ended)})` });
  await lost;
  expect(left.size).toBe(0);
  await ended.close();
});

test("a server proves who it is by a certificate of its name, or is refused", async (context) => {
  const { cert, key } = tlsFiles(folder(context));
  const secured = await startPostgres({
    files: { "cert.pem": readFileSync(cert, "utf8"), "key.pem": readFileSync(key, "utf8") },
    settings: { listen_addresses: "127.0.0.1,127.1.2.3", ssl: "on", ssl_cert_file: "../cert.pem", ssl_key_file: "../key.pem" },
  });
  context.onTestFinished(() => secured.stop());
  const open = (address: string) => openConnection({ address: addressOf(address), purpose: "test" });
  const named = secured.address("postgres").replace("127.0.0.1", "localhost");
  const connection = await open(`${named}?sslmode=verify-full&sslrootcert=${cert}`);
  expect(await connection.query({ text: "SELECT ssl FROM pg_stat_ssl WHERE pid = pg_backend_pid()" })).toEqual([{ ssl: true }]);
  await connection.close();
  await expect(open(`${named}?sslmode=verify-full`)).rejects.toMatchObject({ code: "store_tls_refused" });
  await expect(open(`${named.replace("localhost", "127.1.2.3")}?sslmode=verify-full&sslrootcert=${cert}`)).rejects.toMatchObject({
    code: "store_tls_refused",
  });
  await expect(open(`${named}?sslmode=verify-full&sslrootcert=${cert}.missing`)).rejects.toMatchObject({ code: "store_tls_refused" });
  await expect(open(`${server.address("postgres")}?sslmode=verify-full`)).rejects.toMatchObject({
    code: "store_tls_refused",
    message: expect.stringContaining("has no TLS"),
    details: { hint: expect.stringContaining("switch it on") },
  });
});
