/** The use of a server's store is known before anything joins: its network, whether it is unused, and its halts. */
import { afterAll, beforeAll, expect, test, type TestContext } from "vitest";
import { parsePostgresAddress } from "../../../src/config/postgres-address.ts";
import { eventId } from "../../../src/contract/event-id.ts";
import { systemClock } from "../../../src/core/clock.ts";
import { asHandle } from "../../../src/core/ids.ts";
import { seededRandom } from "../../../src/core/random.ts";
import { EVERYONE } from "../../../src/limits/verdict.ts";
import { Membership } from "../../../src/store/postgres/membership.ts";
import { openConnection, type PostgresConnection } from "../../../src/store/postgres/open-connection.ts";
import { openPostgresStore } from "../../../src/store/postgres/postgres-store.ts";
import { claimNetwork, haltsOf, lookAtServer } from "../../../src/store/postgres/server-use.ts";
import { startPostgres, type PostgresServer } from "../../harness/postgres.ts";
import { folder } from "../../harness/process.ts";

const clock = systemClock();
const HERE = "https://here.example.com/v1";
const THERE = "https://there.example.com/v1";
const scout = asHandle("scout");
const EVENT = { specialist: scout, id: eventId("post.created", "p1"), kind: "post.created", payload: {}, via: "poll", hops: 0 } as const;
let server: PostgresServer;
beforeAll(async () => void (server = await startPostgres({ major: 15 })), 60_000);
afterAll(() => server.stop());

async function lab(context: TestContext) {
  const address = parsePostgresAddress(await server.database(), folder(context));
  const use = (network: string, allowMoved = false) => ({ store: address, network, allowMoved });
  return {
    address,
    use,
    open: () => openPostgresStore({ address, clock, random: seededRandom(1) }),
    async connect(): Promise<PostgresConnection> {
      const connection = await openConnection({ address, purpose: "test" });
      context.onTestFinished(() => connection.close());
      return connection;
    },
    joining: (network: string) =>
      Membership.open({
        address,
        clock,
        handles: [scout],
        newSalt: () => "salt",
        admit: (connection) => claimNetwork(connection, address.schema, use(network)),
      }),
  };
}

test("a look makes no tables, and tells a store that was used from one that was only made", async (context) => {
  const { address, open } = await lab(context);
  expect(await lookAtServer(address)).toEqual({ network: undefined, isUnused: true });
  expect(await lookAtServer(address)).toEqual({ network: undefined, isUnused: true });
  const store = await open();
  await store.belongTo(HERE);
  expect(await lookAtServer(address)).toEqual({ network: HERE, isUnused: true });
  await store.putEvents({ events: [EVENT] }, clock.now());
  await store.close();
  expect(await lookAtServer(address)).toEqual({ network: HERE, isUnused: false });
});

test("a look finds that the user may not make the schema, and makes nothing itself; an owner of the schema needs no such right", async (context) => {
  const { address } = await lab(context);
  await server.run("CREATE ROLE weak LOGIN PASSWORD 'weak'");
  const asWeak = parsePostgresAddress(server.address(address.database, "weak", "weak"), folder(context));
  const refused: unknown = await lookAtServer(asWeak).catch((error: unknown) => error);
  expect(refused).toMatchObject({ code: "store_rights_missing" });
  await expect(openPostgresStore({ address: asWeak, clock, random: seededRandom(1) })).rejects.toEqual(refused);
  expect(await server.run("SELECT FROM pg_namespace WHERE nspname = 'retinue'", address.database)).toEqual([]);
  await server.run("CREATE SCHEMA retinue AUTHORIZATION weak", address.database);
  expect(await lookAtServer(asWeak)).toEqual({ network: undefined, isUnused: true });
});

test("of processes that begin together one names the network, and the other is refused without having been there", async (context) => {
  const { address, joining } = await lab(context);
  const both = await Promise.allSettled([joining(HERE), joining(THERE)]);
  const [joined] = both.flatMap((one) => (one.status === "fulfilled" ? [one.value] : []));
  expect(both.flatMap((one) => (one.status === "rejected" ? [one.reason] : []))).toMatchObject([{ code: "store_of_other_network" }]);
  expect(await server.run("SELECT count(*)::int AS n FROM retinue.process", address.database)).toEqual([{ n: 1 }]);
  await joined?.close();
});

test("a network that has moved takes its store along", async (context) => {
  const { address, use, open, connect } = await lab(context);
  const store = await open();
  await store.belongTo(HERE);
  await store.close();
  await claimNetwork(await connect(), address.schema, use(THERE, true));
  expect(await lookAtServer(address)).toMatchObject({ network: THERE });
});

test("halts are told, that of everyone first", async (context) => {
  const { address, open, connect } = await lab(context);
  const store = await open();
  await store.stop("halt", "a", "one", 1);
  await store.stop("pause", "b", "rest", 2);
  await store.stop("halt", EVERYONE, "all", 3);
  await store.close();
  expect(await haltsOf(await connect(), address.schema)).toEqual([
    { scope: EVERYONE, reason: "all", since: 3 },
    { scope: "a", reason: "one", since: 1 },
  ]);
});
