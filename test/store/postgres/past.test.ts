/** A start on a server reads the present; the past comes behind it, and nothing that depends on the past is decided or shown before. */
import { afterAll, beforeAll, expect, onTestFinished, test, type TestContext } from "vitest";
import { parsePostgresAddress } from "../../../src/config/postgres-address.ts";
import { systemClock } from "../../../src/core/clock.ts";
import { asHandle, type Handle } from "../../../src/core/ids.ts";
import { seededRandom } from "../../../src/core/random.ts";
import { MINUTE } from "../../../src/core/units.ts";
import { virtualClock } from "../../../src/core/virtual-clock.ts";
import { openConnection } from "../../../src/store/postgres/open-connection.ts";
import { Past } from "../../../src/store/postgres/past.ts";
import { openPostgresStore } from "../../../src/store/postgres/postgres-store.ts";
import { openWorkingCopy } from "../../../src/store/sqlite/working-copy.ts";
import type { Row } from "../../../src/store/sqlite/columns.ts";
import type { Store } from "../../../src/store/store.ts";
import { startCuttingProxy } from "../../harness/cutting-proxy.ts";
import { oldRows } from "../../harness/old-rows.ts";
import { startPostgres, type PostgresServer } from "../../harness/postgres.ts";
import { folder } from "../../harness/process.ts";
import { workedLife } from "../../harness/worked-life.ts";

const clock = systemClock();
let server: PostgresServer;
beforeAll(async () => void (server = await startPostgres({ major: 18 })), 60_000);
afterAll(() => server.stop());

async function lab(context: TestContext) {
  const address = parsePostgresAddress(await server.database(), folder(context));
  const rows = (sql: string) => server.run(sql, address.database);
  return {
    rows,
    async open(more: Partial<Parameters<typeof openPostgresStore>[0]> = {}): Promise<Store> {
      const store = await openPostgresStore({ address, clock, random: seededRandom(1), ...more });
      onTestFinished(() => store.close().catch(() => undefined));
      return store;
    },
    async age(handles: readonly Handle[], count: number): Promise<void> {
      for (const statement of oldRows(handles, count, clock.now())) await rows(statement);
    },
    async cut(purpose: string): Promise<number> {
      const cut = await rows(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name LIKE 'retinue ${purpose}%' AND datname = current_database()`,
      );
      return cut.length;
    },
  };
}

const arrival = (specialist: Handle, id: string) => ({
  events: [{ specialist, id: `post.created:${id}` as never, kind: "post.created", payload: {}, via: "poll", hops: 0 } as const],
});

/** Everything that people can read, save what a new start adds. */
async function everything(store: Store): Promise<unknown> {
  const handles = await store.reads.handles();
  const each = await Promise.all(
    handles.map(async (specialist) => ({
      specialist,
      events: await store.reads.eventsOf(specialist, 1_000),
      timeline: await store.reads.timeline({ specialist, limit: 1_000 }),
      jobs: await store.reads.jobBoard(specialist),
    })),
  );
  const counts = [...(await store.reads.overview(0))].map(([handle, { counts: all }]) => ({ handle, all }));
  const { hours, intents, failedEvents, waitingIntents, logTotal } = store.reads;
  return [
    each,
    counts,
    await intents({ limit: 1_000 }),
    await failedEvents({ limit: 1_000 }),
    await waitingIntents(1_000),
    await logTotal({}),
    await hours({ since: 0 }),
  ];
}

test("a store that is opened again shows all that it has done, and knows it", async (context) => {
  const { open } = await lab(context);
  const first = await open();
  await workedLife(first);
  const before = await everything(first);
  await first.close();
  let differences: () => readonly string[] = () => ["not opened"];
  const second = await open({ onOpened: (found) => void (differences = found) });
  expect(await everything(second)).toEqual(before);
  expect(differences()).toEqual([]);
  await second.close();
  expect(await everything(await open())).toEqual(before);
});

test("what a lost store left behind its mark is in the next one, with its past", async (context) => {
  const { open, cut } = await lab(context);
  const first = await open();
  await workedLife(first);
  const { 0: each, 2: intents } = (await everything(first)) as readonly unknown[];
  await cut("writer");
  let differences: () => readonly string[] = () => ["not opened"];
  const second = await open({ onOpened: (found) => void (differences = found) });
  const after = (await everything(second)) as readonly unknown[];
  expect(after[2]).toEqual(intents);
  expect(after[0]).toEqual(each);
  expect(differences()).toEqual([]);
});

test("specialists begin one by one as their past comes, those that are asked for first; what they have seen stays known", async (context) => {
  const { open, age } = await lab(context);
  const handles = Array.from({ length: 40 }, (_, i) => asHandle(`scout${i}`));
  const first = await open();
  await first.putEvents(arrival(asHandle("scout0"), "new"), clock.now());
  await first.close();
  await age(handles, 80_000);
  const store = await open();
  // The present is here: an event that waits, and what needs no past.
  expect(await store.reads.backlog()).toMatchObject({ events: 1 });
  const asked = asHandle("scout39");
  const came: string[] = [];
  const wait = (handle: Handle) => store.pastOf(handle)?.then(() => void came.push(handle));
  expect(store.awaitsPast(asked)).toBe(true);
  expect(store.pastOf(asked)).toBeDefined();
  await Promise.all([wait(asked), ...handles.filter((handle) => handle !== asked).map(wait)]);
  expect(came.indexOf(asked)).toBeLessThan(8);
  expect(came).toHaveLength(40);
  expect(store.awaitsPast(asked)).toBe(false);
  // The event of long ago is known, although nobody had waited for it.
  expect(await store.putEvents(arrival(asked, "old39"), clock.now())).toMatchObject({ fresh: [], known: 1 });
  expect(await store.reads.findEvents("post.created:old39", 9)).toMatchObject([{ specialist: asked, state: "done" }]);
  expect(await store.reads.eventsOf(asked, 1_000)).toHaveLength(500);
});

test("an event that comes while the past is read waits for it", async (context) => {
  const { open, age } = await lab(context);
  const handle = asHandle("scout1");
  await (await open()).close();
  await age([asHandle("scout0"), handle], 80_000);
  const store = await open();
  const [known, fresh] = await Promise.all([
    store.putEvents(arrival(handle, "old1"), clock.now()),
    store.putEvents(arrival(handle, "never seen"), clock.now()),
  ]);
  expect([known.known, fresh.known]).toEqual([1, 0]);
});

test("a store that cannot read its past is lost, and says so", async (context) => {
  const { open, age, cut } = await lab(context);
  await (await open()).close();
  await age([asHandle("scout1")], 400_000);
  const lost = Promise.withResolvers<string>();
  const store = await open({ onLost: ({ code }) => lost.resolve(code) });
  const past = store.pastOf(asHandle("scout1"));
  past?.catch(() => undefined);
  await expect.poll(() => cut("past")).toBe(1);
  expect(await lost.promise).toBe("store_lost");
  await store.close().catch(() => undefined);
  await expect(past).rejects.toMatchObject({ code: "past_unread" });
  const again = await open();
  await again.pastOf(asHandle("scout1"));
  const shown = () => again.reads.eventsOf(asHandle("scout1"), 10).catch(({ code }: { readonly code: string }) => code);
  await expect.poll(shown).toHaveLength(10);
});

test("a past that no packet of arrives any longer is given up after a minute", async (context) => {
  const proxy = await startCuttingProxy(context, server.port);
  const address = parsePostgresAddress(proxy.through(await server.database()), folder(context));
  const time = virtualClock();
  const copy = openWorkingCopy(":memory:");
  const connected = Promise.withResolvers<void>();
  const failures: unknown[] = [];
  const past = new Past({
    async connect() {
      const connection = await openConnection({ address, purpose: "past", clock: time });
      proxy.silence(true);
      connected.resolve();
      return connection;
    },
    copy,
    schema: address.schema,
    shards: [1],
    shardOf: () => 1,
    onFailed: (error) => void failures.push(error),
  });
  past.start();
  await connected.promise;
  await time.advance(MINUTE - 1);
  expect(failures).toEqual([]);
  await time.advance(1);
  await expect
    .poll(() => failures)
    .toMatchObject([{ code: "store_connection_lost", message: expect.stringContaining("has not answered for") }]);
  past.close();
  copy.close();
});

test("older rows are added between commits, unrecorded, and never over newer ones", async () => {
  const copy = openWorkingCopy(":memory:");
  const { db } = copy.database({ committed: () => undefined, sync: async () => undefined, failure: new Promise(() => undefined) });
  const intent = (seq: number, state: string): Row => ({
    ...Object.fromEntries((copy.shapes.find(({ name }) => name === "intent")?.columns ?? []).map((column) => [column, 0])),
    seq,
    id: `intent ${seq}`,
    specialist: "scout",
    operation: "posts.reply",
    state,
  });
  const count = { specialist: "scout", operation: "posts.reply" };
  copy.load("intent", [intent(2, "ready")]);
  copy.load("intent_count", [
    { ...count, state: "ready", n: 1 },
    { ...count, state: "confirmed", n: 1 },
  ]);
  db.exec("BEGIN; UPDATE intent SET state = 'sending' WHERE seq = 2");
  let isAdded = false;
  const added = copy.loadOlder("intent", [intent(1, "confirmed"), intent(2, "ready")]).then(() => (isAdded = true));
  await Promise.resolve();
  expect(isAdded).toBe(false);
  db.exec("COMMIT");
  copy.recordCommit();
  await added;
  expect(db.prepare("SELECT seq, state FROM intent ORDER BY seq").all()).toEqual([
    { seq: 1, state: "confirmed" },
    { seq: 2, state: "sending" },
  ]);
  expect(db.prepare("SELECT state, n FROM intent_count ORDER BY state").all()).toEqual([
    { state: "confirmed", n: 1 },
    { state: "ready", n: 1 },
  ]);
  expect([...copy.takeChanges()].map(([table, { rows }]) => [table, rows.size])).toEqual([["intent", 1]]);
  copy.close();
});
