/** A store that is copied from a file to a server and back: caps, shared keys and numbers are as exact there as before. */
import { existsSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test, type TestContext } from "vitest";
import { parseStoreAddress, type StoreAddress } from "../../src/config/store-address.ts";
import { eventId } from "../../src/contract/event-id.ts";
import { systemClock } from "../../src/core/clock.ts";
import { Refused } from "../../src/core/errors.ts";
import { asHandle, asKeyId, type Handle } from "../../src/core/ids.ts";
import { seededRandom } from "../../src/core/random.ts";
import { HOUR } from "../../src/core/units.ts";
import { capsOf } from "../../src/limits/caps.ts";
import { decideHold } from "../../src/limits/hold-decision.ts";
import { DEFAULT_FLOORS } from "../../src/limits/lanes.ts";
import { GUARDIAN } from "../../src/limits/spending.ts";
import { copyStore } from "../../src/store/copy-store.ts";
import { openStore } from "../../src/store/open-store.ts";
import type { Store } from "../../src/store/store.ts";
import { startCuttingProxy } from "../harness/cutting-proxy.ts";
import { startPostgres, type PostgresServer } from "../harness/postgres.ts";
import { folder } from "../harness/process.ts";

const clock = systemClock();
const random = seededRandom(1);
let server: PostgresServer;
beforeAll(async () => void (server = await startPostgres({ major: 18 })), 60_000);
afterAll(() => server.stop());

const UNIT = 1_000_000;
/** A day of all together. */
const CAP = 10;
const [ADA, BERT, CLEO] = [asHandle("ada"), asHandle("bert"), asHandle("cleo")];
const HANDLES = [ADA, BERT, CLEO];
const SHARED_KEY = asKeyId("one key of two");

async function places(context: TestContext) {
  const root = folder(context);
  return {
    file: parseStoreAddress(`sqlite:${join(root, "a.sqlite")}`, root),
    server: parseStoreAddress(await server.database(), root),
    back: parseStoreAddress(`sqlite:${join(root, "b.sqlite")}`, root),
  };
}

async function during<Result>(address: StoreAddress, work: (store: Store) => Promise<Result>): Promise<Result> {
  const store = await openStore(address, { clock, random });
  try {
    await store.recover(clock.now(), 0);
    return await work(store);
  } finally {
    await store.close();
  }
}

const copy = (from: StoreAddress, to: StoreAddress) => copyStore({ from, to, clock, random });

async function hold(store: Store, specialist: Handle, units: number): Promise<string> {
  const money = { currency: "credits", micros: units * UNIT };
  const wanted = {
    hold: { id: `${specialist}:${random.word(8)}`, specialist, money, expiresAt: clock.now() + HOUR },
    now: clock.now(),
    known: { caps: capsOf(GUARDIAN, { perDay: { currency: "credits", micros: CAP * UNIT } }), halt: undefined },
  };
  return (await store.openHold(wanted, decideHold)).kind;
}

const arrival = (specialist: Handle, id: string) => ({
  events: [{ specialist, id: eventId("post.created", id), kind: "post.created", payload: { id }, via: "poll", hops: 0 } as const],
});

async function begin(store: Store): Promise<void> {
  await store.belongTo("http://127.0.0.1/v1");
  for (const handle of HANDLES) {
    const key = handle === "cleo" ? asKeyId("a key alone") : SHARED_KEY;
    await store.registerKey(handle, key, { limits: { perHour: 60, perDay: 600 }, floors: DEFAULT_FLOORS }, clock.now());
    await store.putEvents(arrival(handle, "p1"), clock.now());
  }
}

/** Events of the specialists that wait; one that comes again is not new. */
const waiting = async (store: Store): Promise<readonly string[]> => {
  const known = await store.reads.findEvents("post.created:p1", 99);
  return known.map(({ specialist, state }) => `${specialist} ${state}`).toSorted();
};

describe("a copied store", () => {
  test("has spent what the original had, of the Guardian's cap over all, there and back", async (context) => {
    const at = await places(context);
    await during(at.file, async (store) => {
      await begin(store);
      expect(await hold(store, ADA, 4)).toBe("hold");
    });
    expect(await copy(at.file, at.server)).toEqual({ specialists: 3 });
    await during(at.server, async (store) => {
      expect(await hold(store, BERT, 7)).toBe("wait");
      expect(await hold(store, CLEO, 4)).toBe("hold");
    });
    await copy(at.server, at.back);
    await during(at.back, async (store) => {
      expect(await hold(store, CLEO, 3)).toBe("wait");
      expect(await hold(store, BERT, 2)).toBe("hold");
      expect(await hold(store, ADA, 1)).toBe("wait");
    });
  });

  test.for(["held", "read"])("is a backup as well, of a store that is %s: it has spent what all holders had", async (how, context) => {
    const at = await places(context);
    for (const specialist of [ADA, BERT])
      await during(at.server, async (store) => {
        await begin(store);
        expect(await hold(store, specialist, 4)).toBe("hold");
      });
    const { back } = at;
    if (back.kind !== "sqlite") throw new Error("it is a file");
    if (how === "held") await during(at.server, (store) => store.backup(back.path));
    else {
      const store = await openStore(at.server, { clock, random, readOnly: new Refused("store_unreadable", "for a query") });
      await store.backup(back.path);
      await store.close();
    }
    await during(back, async (store) => {
      expect(await hold(store, CLEO, 3)).toBe("wait");
      expect(await hold(store, CLEO, 2)).toBe("hold");
    });
  });

  test("has the original's events and network, and gives its new ones higher numbers", async (context) => {
    const at = await places(context);
    await during(at.file, begin);
    await copy(at.file, at.server);
    const all = HANDLES.map((handle) => `${handle} ready`);
    await during(at.server, async (store) => {
      expect([await waiting(store), await store.network()]).toEqual([all, "http://127.0.0.1/v1"]);
      expect((await store.putEvents(arrival(ADA, "p1"), clock.now())).fresh).toEqual([]);
      expect((await store.putEvents(arrival(ADA, "p2"), clock.now())).fresh).toHaveLength(1);
    });
    const [numbers] = await server.run(
      "SELECT max(seq) FILTER (WHERE id LIKE '%p1') AS old, min(seq) FILTER (WHERE id LIKE '%p2') AS new FROM retinue.event",
      at.server.kind === "postgres" ? at.server.database : "",
    );
    expect(Number(numbers?.["new"])).toBeGreaterThan(Number(numbers?.["old"]));
    await copy(at.server, at.back);
    await during(at.back, async (store) => {
      expect((await store.putEvents(arrival(ADA, "p2"), clock.now())).fresh).toEqual([]);
      expect((await store.putEvents(arrival(ADA, "p3"), clock.now())).fresh).toHaveLength(1);
      expect(await waiting(store)).toEqual(all);
    });
  });

  test("has specialists with one key in one shard, together with the key's quota", async (context) => {
    const at = await places(context);
    await during(at.file, begin);
    await copy(at.file, at.server);
    const rows = await server.run(
      `SELECT count(DISTINCT shard) AS shards, count(*) AS rows FROM (
        SELECT shard FROM retinue.specialist WHERE key_id = '${SHARED_KEY}' UNION ALL SELECT shard FROM retinue.quota_key WHERE key_id = '${SHARED_KEY}') AS found`,
      at.server.kind === "postgres" ? at.server.database : "",
    );
    expect(rows).toEqual([{ shards: "1", rows: "3" }]);
  });

  test("is no restored one: nothing is in doubt; the original stays halted", async (context) => {
    const at = await places(context);
    await during(at.file, begin);
    await copy(at.file, at.server);
    const store = await openStore(at.server, { clock, random });
    expect((await store.recover(clock.now(), 0)).restoredFrom).toBeUndefined();
    expect((await store.stops()).halts).toEqual([]);
    await store.close();
    expect((await during(at.file, (original) => original.stops())).halts).toMatchObject([{ scope: "*" }]);
  });
});

describe("a copy is refused, and leaves the original as it was", () => {
  test("where the other store was used", async (context) => {
    const at = await places(context);
    await during(at.file, begin);
    await during(at.server, begin);
    await expect(copy(at.file, at.server)).rejects.toMatchObject({ code: "store_not_empty" });
    await expect(copy(at.server, at.file)).rejects.toMatchObject({ code: "store_not_empty" });
    await expect(copy(at.file, at.file)).rejects.toMatchObject({ code: "store_not_empty" });
    for (const place of [at.file, at.server]) expect((await during(place, (store) => store.stops())).halts).toEqual([]);
  });

  test("while somebody has one of the two", async (context) => {
    const at = await places(context);
    await during(at.file, begin);
    await during(at.server, () => Promise.resolve()); // made, and not used
    for (const taken of [at.file, at.server])
      await during(taken, async () => {
        await expect(copy(at.file, at.server)).rejects.toMatchObject({
          code: "store_in_use",
          details: { hint: expect.stringContaining("end the processes") },
        });
      });
    expect(await copy(at.file, at.server)).toEqual({ specialists: 3 });
  });

  test("where rows cannot be stored half-way: the server is empty again, and takes the next copy", async (context) => {
    const at = await places(context);
    await during(at.file, begin);
    await during(at.server, () => Promise.resolve());
    const run = (sql: string) => server.run(sql, at.server.kind === "postgres" ? at.server.database : "");
    await run("ALTER TABLE retinue.specialist ADD CONSTRAINT broken CHECK (handle <> 'cleo')");
    await expect(copy(at.file, at.server)).rejects.toThrow(/broken/);
    expect(await run("SELECT 1 FROM retinue.event")).toEqual([]);
    expect((await during(at.file, (store) => store.stops())).halts).toEqual([]);
    await run("ALTER TABLE retinue.specialist DROP CONSTRAINT broken");
    expect(await copy(at.file, at.server)).toEqual({ specialists: 3 });
    expect(existsSync(`${at.back.kind === "sqlite" ? at.back.path : ""}-copy`)).toBe(false);
  });

  test.for([
    { how: "unheard", first: "store_connection_lost", halts: 0, again: 3 },
    { how: "unanswered", first: 3, halts: 1, again: "store_not_empty" },
    { how: "unreachable", first: "copy_unconfirmed", halts: 1, again: 3 },
  ])("where the connection ends as it is stored ($how), unless the rows say that it was, or nobody can read them", async (row, context) => {
    const at = await places(context);
    await during(at.file, begin);
    const database = at.server.kind === "postgres" ? at.server.database : "";
    const proxy = await startCuttingProxy(context, server.port);
    const through = parseStoreAddress(`${proxy.through(server.address(database))}?session_timeout=2`, folder(context));
    let isFilling = false;
    proxy.cutAt(row.how === "unanswered" ? row.how : "unheard", (text) => {
      isFilling ||= text.includes(".placement (");
      const isStored = isFilling && text === "COMMIT";
      if (isStored && row.how === "unreachable") queueMicrotask(() => proxy.silence(true));
      return isStored;
    });
    const outcome = (to: StoreAddress): Promise<unknown> =>
      copy(at.file, to).then(
        ({ specialists }) => specialists,
        (error: { readonly code?: string }) => error.code,
      );
    const halts = async (): Promise<number> => (await during(at.file, (store) => store.stops())).halts.length;
    expect(await outcome(through)).toBe(row.first);
    expect(proxy.hasCut).toBe(true);
    expect(await halts()).toBe(row.halts);
    expect(await outcome(at.server)).toBe(row.again);
    expect(await halts()).toBe(1);
  });
});
