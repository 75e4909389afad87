/** A start on a server that cannot be used: exit code 2 if a person has to change something, and 1 if a service manager may try again. */
import { afterAll, beforeAll, expect, test } from "vitest";
import { EXIT } from "../../src/cli/command.ts";
import { fleetLab } from "../harness/fleet-lab.ts";
import { freePort } from "../harness/free-port.ts";
import { startPostgres, type PostgresServer } from "../harness/postgres.ts";
import { resultOf } from "../harness/process.ts";

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
  { name: "a server set to read-only", setting: "default_transaction_read_only = on", code: "store_read_only", exit: EXIT.failed },
])("$name ends the start with $code", { timeout: 60_000 }, async (one, context) => {
  const { code, exit } = one;
  const url = await server.database();
  if ("setting" in one) await server.run(`ALTER DATABASE ${new URL(url).pathname.slice(1)} SET ${one.setting}`);
  const lab = await fleetLab(context, { store: url, specialists: 1 });
  const ended = await lab.run({ store: "address" in one ? await one.address(url) : url }).ended;
  expect(resultOf(ended)["error"]).toMatchObject({ code });
  expect(ended.code).toBe(exit);
});
