/** A start on a server that cannot be used: exit code 2 if a person has to change something, and 1 if a service manager may try again. */
import { Client } from "pg";
import { afterAll, beforeAll, expect, test } from "vitest";
import { EXIT } from "../../src/cli/command.ts";
import { inProcess } from "../harness/cli.ts";
import { fleetLab } from "../harness/fleet-lab.ts";
import { freePort } from "../harness/free-port.ts";
import { startPostgres, type PostgresServer } from "../harness/postgres.ts";
import { resultOf, textIn } from "../harness/process.ts";

let server: PostgresServer;
beforeAll(async () => void (server = await startPostgres({ major: 18 })), 60_000);
afterAll(() => server.stop());

test.for([
  {
    name: "a wrong password",
    address: (url: string) => url.replace(/:[^:@]+@/, ":wrong@"),
    code: "store_password_refused",
    exit: EXIT.misused,
  },
  { name: "a database that is missing", address: () => server.address("nowhere"), code: "store_database_missing", exit: EXIT.misused },
  {
    name: "a server that is not reached",
    address: async () => `postgres://me:secret@127.0.0.1:${await freePort()}/bots`,
    code: "store_unreachable",
    exit: EXIT.failed,
  },
  {
    name: "a server that stays read-only",
    address: (url: string) => `${url}?session_timeout=2`,
    setting: "default_transaction_read_only = on",
    code: "store_read_only",
    exit: EXIT.misused,
  },
])("$name ends the start with $code", async (one, context) => {
  const { code, exit } = one;
  const url = await server.database();
  if ("setting" in one) await server.run(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET ${one.setting}`);
  const lab = await fleetLab(context, { store: url, specialists: 1 });
  const ended = await lab.run({ store: "address" in one ? await one.address(url) : url }).ended;
  expect(resultOf(ended)["error"]).toMatchObject({ code });
  expect(ended.code).toBe(exit);
});

test("a user who may not make the schema ends the start, and check has said so before", async (context) => {
  const database = new URL(await server.database()).pathname.slice(1);
  await server.run("CREATE ROLE weak LOGIN PASSWORD 'weak'");
  const store = server.address(database, "weak", "weak");
  const lab = await fleetLab(context, { store, specialists: 1 });
  const process = lab.run();
  const ended = await process.ended;
  expect(ended.code).toBe(EXIT.misused);
  const { error } = resultOf(ended);
  expect(error).toMatchObject({ code: "store_rights_missing", hint: expect.stringContaining("correct the name of the database") });
  const words = ["--base-url", lab.baseUrl, "--set", "b", "--store", store, "--json"];
  const checked = await inProcess(["check", ...words], { cwd: process.root, env: lab.keys });
  expect(checked.code).toBe(EXIT.misused);
  expect(JSON.parse(checked.stdout).error).toMatchObject({ code: "store_rights_missing", hint: expect.stringContaining("GRANT CONNECT") });
});

test("a start in the middle of a failover goes on once the server takes writes", async (context) => {
  const url = await server.database();
  const database = new URL(url).pathname.slice(1);
  await server.run(`ALTER DATABASE ${database} SET default_transaction_read_only = on`);
  const lab = await fleetLab(context, { store: url, specialists: 1 });
  const process = lab.run();
  const said = await process.saying((line) => textIn(line, "message").includes("takes no writes"));
  expect(textIn(said, "message")).toContain("it is tried again for 48s, because a failover may be under way");
  await server.run(`ALTER DATABASE ${database} RESET default_transaction_read_only`);
  await lab.answered(await lab.news("after"));
});

test.for(["process", "holder"])("a start whose sessions end while they wait for the table %s is tried again", async (table, context) => {
  const url = await server.database();
  const database = new URL(url).pathname.slice(1);
  const lab = await fleetLab(context, { store: url, specialists: 1 });
  const first = lab.run();
  await lab.answered(await lab.news("before"));
  first.kill("SIGTERM");
  expect((await first.ended).code).toBe(0);
  const blocking = new Client(url);
  await blocking.connect();
  context.onTestFinished(() => blocking.end());
  await blocking.query(`BEGIN; LOCK TABLE retinue.${table} IN EXCLUSIVE MODE`);
  const process = lab.run();
  const endWaiting = async (): Promise<number> => {
    const rows = await server.run(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND application_name LIKE 'retinue %'",
      database,
    );
    return rows.length;
  };
  for (let ends = 0; ends < 2; ends++) await expect.poll(endWaiting).toBeGreaterThan(0);
  await blocking.query("COMMIT");
  await lab.answered(await lab.news("after"));
  const messages = process.said.map((line) => textIn(line, "message")).filter((message) => message.includes("tried again"));
  expect(messages).toEqual([expect.stringMatching(/the connection to .* ended: terminating connection .*: it is tried again for 48s$/)]);
});
