/** Servers that cannot hold a store, and those that hold somebody else's: each is refused at the start, with what to do. */
import { afterAll, beforeAll, describe, expect, test, type TestContext } from "vitest";
import { parseStoreAddress } from "../../../src/config/store-address.ts";
import { systemClock } from "../../../src/core/clock.ts";
import { seededRandom } from "../../../src/core/random.ts";
import { isRetinueError } from "../../../src/core/errors.ts";
import { openStore } from "../../../src/store/open-store.ts";
import { freePort } from "../../harness/free-port.ts";
import { POSTGRES_MAJORS, startPostgres, type PostgresServer } from "../../harness/postgres.ts";
import { startPooler } from "../../harness/pooler.ts";
import { folder } from "../../harness/process.ts";

const opened = (context: TestContext, address: string) =>
  openStore(parseStoreAddress(address, folder(context)), { clock: systemClock(), random: seededRandom(1) });
const nameOf = (address: string): string => new URL(address).pathname.slice(1);

describe.each(POSTGRES_MAJORS)("PostgreSQL %i", (major) => {
  let server: PostgresServer;
  beforeAll(async () => void (server = await startPostgres({ major, settings: { max_connections: "12" } })), 60_000);
  afterAll(() => server.stop());

  test("opens an empty database, and the same one again", async (context) => {
    const address = await server.database();
    await (await opened(context, address)).close();
    const again = await opened(context, address);
    expect(await again.stops()).toEqual({ halts: [], pauses: [] });
    await again.close();
  });

  test("a wrong password is refused, and no message repeats it", async (context) => {
    const address = (await server.database()).replace(/:[^:@]+@/, ":wrong-secret@");
    const error: unknown = await opened(context, address).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "store_password_refused" });
    expect(JSON.stringify(error) + String(error)).not.toContain("wrong-secret");
  });

  test("a database that is missing is named, with the statement that makes it", async (context) => {
    await expect(opened(context, server.address("nowhere"))).rejects.toMatchObject({
      code: "store_database_missing",
      details: {
        hint: `correct the name in the store's address, or create it: CREATE DATABASE "nowhere" OWNER "postgres" ENCODING 'UTF8' TEMPLATE template0`,
      },
    });
  });

  test("a database set to read-only is refused, with the statement that ends it", async (context) => {
    const address = await server.database();
    await server.run(`ALTER DATABASE "${nameOf(address)}" SET default_transaction_read_only = on`);
    await expect(opened(context, address)).rejects.toMatchObject({
      code: "store_read_only",
      message: expect.stringContaining("default_transaction_read_only is on"),
      details: { hint: expect.stringContaining(`ALTER DATABASE "${nameOf(address)}"`) },
    });
  });

  test("a user without the right to make the schema is told which statement gives it", async (context) => {
    const address = await server.database();
    await server.run("CREATE ROLE weak LOGIN PASSWORD 'weak'").catch(() => undefined);
    await expect(opened(context, server.address(nameOf(address), "weak", "weak"))).rejects.toMatchObject({
      code: "store_rights_missing",
      details: {
        hint: expect.stringMatching(/^correct the name of the database .*, or, .*: GRANT CONNECT, CREATE ON DATABASE "\w+" TO "weak"$/),
      },
    });
  });

  test("a schema and tables of another role are told with all the statements that open them", async (context) => {
    const address = await server.database();
    const name = nameOf(address);
    await (await opened(context, address)).close();
    await server.run("CREATE ROLE guest LOGIN PASSWORD 'guest'");
    const asGuest = server.address(name, "guest", "guest");
    const error: unknown = await opened(context, asGuest).catch((thrown: unknown) => thrown);
    expect(error).toMatchObject({ code: "store_rights_missing", message: expect.stringContaining("belongs to another role") });
    await server.run(isRetinueError(error) ? (error.details.hint ?? "").replace("as the owner of the database: ", "") : "", name);
    await (await opened(context, asGuest)).close();
  });

  test("a role that owns an empty schema needs no right on the database", async (context) => {
    const address = await server.database();
    await server.run("CREATE ROLE keeper LOGIN PASSWORD 'keeper'");
    await server.run("CREATE SCHEMA retinue AUTHORIZATION keeper", nameOf(address));
    const store = await opened(context, server.address(nameOf(address), "keeper", "keeper"));
    expect(await store.stops()).toEqual({ halts: [], pauses: [] });
    await store.close();
  });

  test("a database of another encoding is refused", async (context) => {
    await server.run("CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0");
    await expect(opened(context, server.address("latin"))).rejects.toMatchObject({
      code: "store_setting_refused",
      details: { expected: "UTF8" },
    });
  });

  test("a database set to commit without the disk is refused", async (context) => {
    const address = await server.database();
    await server.run(`ALTER DATABASE "${nameOf(address)}" SET synchronous_commit = off`);
    await expect(opened(context, address)).rejects.toMatchObject({ code: "store_server_not_durable" });
  });

  test("another program's schema is left alone", async (context) => {
    const address = await server.database();
    await server.run("CREATE SCHEMA retinue; CREATE TABLE retinue.invoices (id int)", nameOf(address));
    await expect(opened(context, address)).rejects.toMatchObject({ code: "store_foreign" });
    await (await opened(context, `${address}?schema=own`)).close();
    expect(await server.run("SELECT count(*)::int AS n FROM pg_tables WHERE schemaname = 'retinue'", nameOf(address))).toEqual([{ n: 1 }]);
  });

  test("a schema of a later version is refused", async (context) => {
    const address = await server.database();
    await (await opened(context, address)).close();
    await server.run("INSERT INTO retinue.migration (number) VALUES (999)", nameOf(address));
    await expect(opened(context, address)).rejects.toMatchObject({ code: "store_newer" });
  });

  test("an ordinary user who owns the database is enough", async (context) => {
    const address = await server.database();
    await server.run(`CREATE ROLE owner_of LOGIN PASSWORD 'owner'; ALTER DATABASE "${nameOf(address)}" OWNER TO owner_of`);
    const store = await opened(context, server.address(nameOf(address), "owner_of", "owner"));
    expect(await store.stops()).toEqual({ halts: [], pauses: [] });
    await store.close();
  });

  test("a server without a free connection says so", async (context) => {
    const address = await server.database();
    await server.run(
      `ALTER DATABASE "${nameOf(address)}" CONNECTION LIMIT 1; CREATE ROLE plain LOGIN PASSWORD 'plain'; GRANT CREATE ON DATABASE "${nameOf(address)}" TO plain`,
    );
    await expect(opened(context, server.address(nameOf(address), "plain", "plain"))).rejects.toMatchObject({
      code: "store_connections_full",
    });
  });

  test("a pooler in transaction mode is refused, since no lock holds there; one in session mode is as good as the server", async (context) => {
    const address = await server.database();
    await expect(opened(context, await startPooler(context, server, address, "transaction"))).rejects.toMatchObject({
      code: "store_sessions_shared",
    });
    await (await opened(context, await startPooler(context, server, address, "session"))).close();
  });

  test("a replica is refused, and taken once it is promoted", async (context) => {
    const own = await startPostgres({ major });
    context.onTestFinished(() => own.stop());
    const address = await own.database();
    await (await opened(context, address)).close();
    await own.copy();
    await own.becomeReplica();
    await expect(opened(context, address)).rejects.toMatchObject({
      code: "store_read_only",
      message: expect.stringContaining("it is a replica"),
      details: { hint: expect.stringContaining("primary") },
    });
    await own.run("SELECT pg_promote()");
    await (await opened(context, address)).close();
  });

  test("several processes that start on an empty database at once make its tables once", async (context) => {
    const address = await server.database();
    const tries = await Promise.allSettled([1, 2, 3].map(() => opened(context, address)));
    const stores = tries.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
    expect(stores).toHaveLength(1);
    const refused = tries.flatMap((one) => (one.status === "rejected" ? [one.reason] : []));
    expect(refused).toMatchObject([{ code: "store_in_use" }, { code: "store_in_use" }]);
    for (const store of stores) await store.close();
  });
});

test("a server that does not answer is named without its password", async (context) => {
  const address = `postgres://user:its-password@127.0.0.1:${await freePort()}/retinue`;
  const error: unknown = await opened(context, address).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "store_unreachable" });
  expect(JSON.stringify(error) + String(error)).not.toContain("its-password");
});

test("a server that may lose commits is refused", async (context) => {
  const server = await startPostgres({ settings: { fsync: "off" } });
  context.onTestFinished(() => server.stop());
  await expect(opened(context, await server.database())).rejects.toMatchObject({ code: "store_server_not_durable" });
});
