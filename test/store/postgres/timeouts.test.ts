/** Timeouts that a role or a database has for other programs: they neither refuse a start nor end a store. */
import { Client } from "pg";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, type TestContext } from "vitest";
import { parsePostgresAddress } from "../../../src/config/postgres-address.ts";
import { asEventId, asHandle } from "../../../src/core/ids.ts";
import { systemClock } from "../../../src/core/clock.ts";
import { seededRandom } from "../../../src/core/random.ts";
import { timeoutTooShort } from "../../../src/store/postgres/server-errors.ts";
import { openPostgresStore } from "../../../src/store/postgres/postgres-store.ts";
import { POSTGRES_MAJORS, startPostgres, type PostgresServer } from "../../harness/postgres.ts";
import { folder } from "../../harness/process.ts";

const clock = systemClock();
const arrival = {
  events: [
    { specialist: asHandle("scout"), id: asEventId("post.created:p1"), kind: "post.created", payload: {}, via: "poll", hops: 0 } as const,
  ],
};

describe.each(POSTGRES_MAJORS)("PostgreSQL %i", (major) => {
  let server: PostgresServer;
  beforeAll(async () => void (server = await startPostgres({ major })), 60_000);
  afterAll(() => server.stop());

  /** Another session that has a table for as long as the test says. */
  async function locked(url: string, table: string): Promise<() => Promise<void>> {
    const client = new Client({ connectionString: url });
    await client.connect();
    onTestFinished(() => client.end());
    await client.query(`BEGIN; LOCK TABLE retinue.${table} IN EXCLUSIVE MODE`);
    return async () => void (await client.query("COMMIT"));
  }

  const names = major >= 17 ? ["statement_timeout", "lock_timeout", "transaction_timeout"] : ["statement_timeout", "lock_timeout"];

  test.each(names)("a role's %s ends no commit that waits longer", async (name) => {
    const context = { onTestFinished } as TestContext;
    const url = await server.database();
    const address = parsePostgresAddress(url, folder(context));
    await server.run(`ALTER DATABASE ${address.database} SET ${name} = '1s'`);
    const store = await openPostgresStore({ address, clock, random: seededRandom(1) });
    onTestFinished(() => store.close());
    await store.recover(clock.now(), 0);
    await server.run(`ALTER DATABASE ${address.database} RESET ${name}`); // for the session that waits on purpose
    const release = await locked(server.address(address.database, "postgres"), "event");
    const put = store.putEvents(arrival, clock.now());
    const waiting = async () =>
      server.run("SELECT 1 FROM pg_stat_activity WHERE wait_event_type = 'Lock' AND clock_timestamp() - query_start > '2s'::interval");
    await expect.poll(waiting).toHaveLength(1);
    await release();
    expect((await put).fresh).toHaveLength(1);
  });
});

test("a timeout too short for any statement is named, with the statements that end it", () => {
  const address = parsePostgresAddress("postgres://bots@localhost/agents", "/project");
  expect(timeoutTooShort(address, new Error("canceling statement"))).toMatchObject({
    name: "Misconfigured",
    message: expect.stringContaining("statement_timeout"),
    details: { hint: 'ALTER ROLE "bots" RESET statement_timeout, or ALTER DATABASE "agents" RESET statement_timeout' },
  });
});
