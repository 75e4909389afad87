/** Several stores on one server, each with some of its shards: together they are the whole, whoever had which before. */
import { afterAll, beforeAll, describe, expect, onTestFinished, test, type TestContext } from "vitest";
import { parsePostgresAddress } from "../../../src/config/postgres-address.ts";
import { eventId } from "../../../src/contract/event-id.ts";
import { systemClock } from "../../../src/core/clock.ts";
import { asHandle, asKeyId, type Handle } from "../../../src/core/ids.ts";
import { seededRandom } from "../../../src/core/random.ts";
import { DEFAULT_FLOORS } from "../../../src/limits/lanes.ts";
import { ALL_SHARDS, SHARDS } from "../../../src/store/postgres/ownership.ts";
import { openPostgresStore, openShards, type HeldStore } from "../../../src/store/postgres/postgres-store.ts";
import { hashedShard } from "../../../src/store/postgres/shard-map.ts";
import type { Store } from "../../../src/store/store.ts";
import { cutWriters } from "../../harness/cut-writers.ts";
import { startPostgres, type PostgresServer } from "../../harness/postgres.ts";
import { folder } from "../../harness/process.ts";

const clock = systemClock();
let server: PostgresServer;
beforeAll(async () => void (server = await startPostgres({ major: 18 })), 60_000);
afterAll(() => server.stop());

const HALVES = [ALL_SHARDS.slice(0, SHARDS / 2), ALL_SHARDS.slice(SHARDS / 2)] as const;
const HANDLES = Array.from({ length: 24 }, (_, i) => asHandle(`scout${i}`));

async function lab(context: TestContext) {
  const address = parsePostgresAddress(await server.database(), folder(context));
  const options = { address, clock, random: seededRandom(1) };
  const rows = (sql: string) => server.run(sql, address.database);
  return {
    rows,
    async open(shards: readonly number[]): Promise<HeldStore> {
      const held = await openShards({ ...options, shards });
      if (held === undefined) throw new Error("none of them is free");
      onTestFinished(() => held.store.close().catch(() => undefined));
      return held;
    },
    tryOpen: (shards: readonly number[]) => openShards({ ...options, shards }),
    async whole(): Promise<Store> {
      const store = await openPostgresStore(options);
      onTestFinished(() => store.close().catch(() => undefined));
      return store;
    },
    cut: () => cutWriters(server, address.database),
  };
}

const arrival = (specialist: Handle, id: string) => ({
  events: [{ specialist, id: eventId("post.created", id), kind: "post.created", payload: { id }, via: "poll", hops: 0 } as const],
});

/** Gives each specialist of these shards a key and an event. */
async function work({ store, shards }: HeldStore, id: string): Promise<void> {
  const mine = HANDLES.filter((handle) => shards.includes(hashedShard(handle)));
  for (const handle of mine) {
    await store.registerKey(
      handle,
      asKeyId(`key of ${handle}`),
      { limits: { perHour: 60, perDay: 600 }, floors: DEFAULT_FLOORS },
      clock.now(),
    );
    await store.putEvents(arrival(handle, id), clock.now());
  }
}

async function waiting(stores: readonly Store[], ...ids: readonly string[]): Promise<readonly string[]> {
  const found: string[] = [];
  for (const store of stores)
    for (const id of ids)
      for (const { specialist, state } of await store.reads.findEvents(`post.created:${id}`, 99))
        if (state === "ready") found.push(`${specialist} post.created:${id}`);
  return found.toSorted();
}

const all = (...ids: readonly string[]): readonly string[] =>
  HANDLES.flatMap((handle) => ids.map((id) => `${handle} post.created:${id}`)).toSorted();

describe("stores of some shards", () => {
  test("each has the rows of its own specialists, and both together are the whole", async (context) => {
    const here = await lab(context);
    const [one, two] = [await here.open(HALVES[0]), await here.open(HALVES[1])];
    await work(one, "p1");
    await work(two, "p1");
    await one.store.close();
    await two.store.close();
    const halves = [await here.open(HALVES[0]), await here.open(HALVES[1])];
    expect(halves.map(({ shards }) => shards.length)).toEqual([512, 512]);
    for (const { store } of halves) await store.recover(clock.now(), 0);
    const counts = await Promise.all(halves.map(async ({ store }) => (await store.reads.overview(clock.now())).size));
    expect(counts[0]).toBeGreaterThan(0);
    expect((counts[0] ?? 0) + (counts[1] ?? 0)).toBe(HANDLES.length);
    expect(
      await waiting(
        halves.map(({ store }) => store),
        "p1",
      ),
    ).toEqual(all("p1"));
  });

  test("an event that is stored while its store closes waits in the next one", async (context) => {
    const here = await lab(context);
    const specialist = asHandle("scout");
    const { store } = await here.open([hashedShard(specialist)]);
    let isClosed = false;
    const closing = store.close().then(() => (isClosed = true));
    const puts: Promise<string | undefined>[] = [];
    for (let i = 0; !isClosed; i++) {
      const { events } = arrival(specialist, `p${i}`);
      const put = store.putEvents({ events: events.map((event) => ({ ...event, via: "webhook" })) }, clock.now()); // acknowledged once it is stored
      puts.push(
        put.then(
          () => events[0]?.id,
          () => undefined,
        ),
      );
      await new Promise((resolve) => void setImmediate(resolve));
    }
    await closing;
    const stored = (await Promise.all(puts)).filter((id) => id !== undefined);
    expect(stored).not.toEqual([]);
    const next = await here.open([hashedShard(specialist)]);
    const claimed = new Set<string>();
    for (let isMore = true; isMore;) {
      const batch = next.store.claimEvents(specialist, clock.now(), puts.length); // those beyond a thousand come with a later one
      for (const { id } of batch) claimed.add(id);
      isMore = batch.length > 0;
    }
    expect(stored.filter((id) => !claimed.has(id))).toEqual([]);
  });

  test("a shard that somebody has is not taken, and what is free is", async (context) => {
    const here = await lab(context);
    const one = await here.open(HALVES[0]);
    const rest = await here.open(ALL_SHARDS);
    expect(rest.shards).toEqual(HALVES[1]);
    expect(await here.tryOpen(ALL_SHARDS)).toBeUndefined();
    await expect(here.whole()).rejects.toMatchObject({ code: "store_in_use" });
    await one.store.close();
    expect((await here.open(ALL_SHARDS)).shards).toEqual(HALVES[0]);
  });

  test("a holder whose session was ended stores nothing more, though the server takes every other connection", async (context) => {
    const here = await lab(context);
    const held = await here.open(ALL_SHARDS);
    await work(held, "p1");
    await held.store.saveNetworkState({ put: [{ kind: "test", name: "a", data: {} }], drop: [] }, clock.now());
    await here.cut();
    const late = (async () => {
      await held.store.putEvents(arrival(asHandle("scout1"), "late"), clock.now());
      await held.store.saveNetworkState({ put: [{ kind: "test", name: "late", data: {} }], drop: [] }, clock.now());
    })();
    await expect(late).rejects.toMatchObject({ code: "store_lost" });
    expect(await here.rows("SELECT id FROM retinue.event WHERE id LIKE '%late'")).toEqual([]);
    const next = await here.open(ALL_SHARDS);
    await next.store.recover(clock.now(), 0);
    expect(await waiting([next.store], "p1", "late")).toEqual(all("p1"));
  });

  test.for(["in order", "without a word"])("both ended %s, one takes all of it", async (how, context) => {
    const here = await lab(context);
    const [one, two] = [await here.open(HALVES[0]), await here.open(HALVES[1])];
    for (const [held, id] of [
      [one, "p1"],
      [two, "p1"],
      [one, "p2"],
      [two, "p2"],
    ] as const)
      await work(held, id);
    // All before it is on the server then.
    for (const { store } of [one, two])
      await store.saveNetworkState({ put: [{ kind: "test", name: "a", data: {} }], drop: [] }, clock.now());
    if (how === "in order") await Promise.all([one.store.close(), two.store.close()]);
    else await here.cut();
    const whole = await here.whole();
    await whole.recover(clock.now(), 0);
    expect(await waiting([whole], "p1", "p2")).toEqual(all("p1", "p2"));
    expect(await whole.keyOf(asHandle("scout3"))).toBe("key of scout3");
    await whole.close();
    // Parts across the halves of before.
    const thirds = [0, 1, 2].map((part) => ALL_SHARDS.filter((shard) => shard % 3 === part));
    const stores = await Promise.all(thirds.map((shards) => here.open(shards)));
    for (const { store } of stores) await store.recover(clock.now(), 0);
    for (const held of stores) await work(held, "p3");
    expect(
      await waiting(
        stores.map(({ store }) => store),
        "p1",
        "p2",
        "p3",
      ),
    ).toEqual(all("p1", "p2", "p3"));
    for (const handle of HANDLES) {
      const known = await Promise.all(stores.map(({ store }) => store.putEvents(arrival(handle, "p3"), clock.now())));
      expect(known.filter(({ fresh }) => fresh.length === 0).length, handle).toBeGreaterThan(0);
    }
  });
});
