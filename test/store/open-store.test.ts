/** A store on a server: the same promises as a file, with the server as its disk, one process at work and others that stand by. */
import { globSync, statSync } from "node:fs";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, type TestContext } from "vitest";
import { parseStoreAddress, storeFile } from "../../src/config/store-address.ts";
import { eventId } from "../../src/contract/event-id.ts";
import { systemClock } from "../../src/core/clock.ts";
import { Retryable, type Fatal } from "../../src/core/errors.ts";
import { asHandle, asKeyId } from "../../src/core/ids.ts";
import { seededRandom } from "../../src/core/random.ts";
import { DEFAULT_FLOORS } from "../../src/limits/lanes.ts";
import { openStore, type OpenStoreOptions } from "../../src/store/open-store.ts";
import { openForReading } from "../../src/store/sqlite/reading.ts";
import { keptShapes } from "../../src/store/sqlite/row-changes.ts";
import type { Store } from "../../src/store/store.ts";
import { startPostgres, type PostgresServer } from "../harness/postgres.ts";
import { folder } from "../harness/process.ts";
import { workedLife } from "../harness/worked-life.ts";

const scout = asHandle("scout");
const clock = systemClock();
let server: PostgresServer;
beforeAll(async () => void (server = await startPostgres({ major: 18 })), 60_000);
afterAll(() => server.stop());

interface Lab {
  readonly address: string;
  open(options?: Partial<OpenStoreOptions>): Promise<Store>;
  /** The working copy of the store at work. */
  copy(): string;
  rows(sql: string): Promise<readonly Readonly<Record<string, unknown>>[]>;
}

/** A database of its own, whose stores are closed when the test is over. */
async function lab(context: TestContext): Promise<Lab> {
  const address = await server.database();
  const parsed = parseStoreAddress(address, folder(context));
  return {
    address,
    copy: () => globSync(`${storeFile(parsed)}-+([0-9])-+([0-9])`)[0] ?? "",
    async open(options = {}) {
      const store = await openStore(parsed, { clock, random: seededRandom(1), ...options });
      onTestFinished(() => store.close().catch(() => undefined));
      return store;
    },
    rows: (sql) => server.run(sql, new URL(address).pathname.slice(1)),
  };
}

const arrival = (id: string, payload: object = {}) => ({
  events: [
    {
      specialist: scout,
      id: eventId("post.created", id),
      kind: "post.created",
      payload: { id, ...payload },
      via: "poll",
      hops: 0,
    } as const,
  ],
});

/** All rows of the copy and of the server, by table, as text. */
async function bothSides({ copy, rows }: Lab): Promise<{ readonly here: Map<string, string[]>; readonly there: Map<string, string[]> }> {
  const db = openForReading(copy());
  try {
    const [here, there] = [new Map<string, string[]>(), new Map<string, string[]>()];
    for (const { name, columns } of keptShapes(db)) {
      const shown = columns.filter((column) => column !== "one");
      const asText = (row: Readonly<Record<string, unknown>>): string =>
        JSON.stringify(
          shown.map((column) => (row[column] instanceof Uint8Array ? Buffer.from(row[column]).toString("hex") : row[column])),
          (_key, value: unknown) => (typeof value === "bigint" ? Number(value) : value),
        );
      here.set(name, db.prepare(`SELECT * FROM ${name}`).all().map(asText).sort());
      const own = columns.includes("one") ? "WHERE holder = (SELECT max(number) FROM retinue.holder)" : "";
      const found = await rows(`SELECT ${shown.map((column) => `"${column}"`).join(", ")} FROM retinue."${name}" ${own}`);
      there.set(
        name,
        found
          .map((row) =>
            asText(
              Object.fromEntries(
                Object.entries(row).map(([column, value]) => [
                  column,
                  typeof value === "string" && /^-?\d+$/.test(value) && isNumber(db, name, column) ? Number(value) : value,
                ]),
              ),
            ),
          )
          .sort(),
      );
    }
    return { here, there };
  } finally {
    db.close();
  }
}

function isNumber(db: ReturnType<typeof openForReading>, table: string, column: string): boolean {
  const row = db.prepare("SELECT type FROM pragma_table_info(?) WHERE name = ?").get(table, column);
  return row?.["type"] === "INTEGER";
}

describe("a store on a server", () => {
  test("its working copy is for its owner alone, with all files beside it", async (context) => {
    const here = await lab(context);
    const store = await here.open();
    await store.putEvents(arrival("p1"), clock.now());
    const files = globSync(`${here.copy()}*`);
    expect(files.length).toBeGreaterThan(1);
    expect(files.map((file) => statSync(file).mode & 0o777)).toEqual(files.map(() => 0o600));
  });

  test("has every row of its working copy, after all kinds of work", async (context) => {
    const here = await lab(context);
    const store = await here.open({ readsBeside: true });
    await workedLife(store);
    await store.saveNetworkState({ put: [{ kind: "test", name: "a", data: {} }], drop: [] }, clock.now()); // all before it is stored then
    const sides = await bothSides(here);
    for (const [table, rows] of sides.here) expect(sides.there.get(table), table).toEqual(rows);
    for (const table of ["event", "run", "attempt", "answer", "quota_key", "source", "watch", "spend_row", "guardian_order", "delivery"])
      expect(sides.here.get(table)?.length, table).toBeGreaterThan(0);
  });

  test("goes on where the process before it was ended without a word", async (context) => {
    const here = await lab(context);
    const first = await here.open();
    await first.registerKey(scout, asKeyId("k1"), { limits: { perHour: 60, perDay: 600 }, floors: DEFAULT_FLOORS }, clock.now());
    await first.putEvents(arrival("p1"), clock.now());
    await first.stop("halt", "*", "because", clock.now());
    await here.rows(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'retinue writer' AND datname = current_database()",
    );
    const second = await here.open();
    await second.recover(clock.now(), 0);
    expect((await second.putEvents(arrival("p1"), clock.now())).fresh).toEqual([]);
    expect(second.claimEvents(scout, clock.now(), 9).map(({ id }) => id)).toEqual(["post.created:p1"]);
    expect((await second.stops()).halts).toMatchObject([{ scope: "*", reason: "because" }]);
    expect(await second.keyOf(scout)).toBe("k1");
  });

  test("treats another server with its rows, as a promoted replica, as a copy: what may have been done since is in doubt", async (context) => {
    const here = await lab(context);
    const first = await here.open();
    await first.recover(clock.now(), 0);
    await first.close();
    const again = await here.open();
    expect((await again.recover(clock.now(), 0)).restoredFrom).toBeUndefined();
    await again.close();
    await here.rows("UPDATE retinue.shard SET server = 'another/2'");
    const promoted = await here.open();
    expect((await promoted.recover(clock.now(), 0)).restoredFrom).toBeGreaterThan(0);
  });

  test("writes a backup that opens as a file", async (context) => {
    const here = await lab(context);
    const store = await here.open();
    await store.stop("halt", "*", "kept in the copy", clock.now());
    const file = join(folder(context), "copy.sqlite");
    await store.backup(file);
    const copy = await openStore(parseStoreAddress(`sqlite:${file}`, "/"), { clock, random: seededRandom(1) });
    expect((await copy.stops()).halts).toMatchObject([{ reason: "kept in the copy" }]);
    await copy.close();
  });

  test("keeps a fact whose text ends in half an emoji, which JSON on the server may not hold, and knows it again", async (context) => {
    const here = await lab(context);
    const store = await here.open();
    const half = arrival(`p${"👩".slice(0, 1)}`, { text: "👩".slice(0, 1) });
    await store.putEvents(half, clock.now());
    await store.close();
    const after = await here.open();
    await after.recover(clock.now(), 0);
    expect((await after.putEvents(half, clock.now())).fresh).toEqual([]);
    expect(after.claimEvents(scout, clock.now(), 9).map(({ id }) => id)).toEqual(["post.created:p\uFFFD"]);
  });

  test("keeps a text with a NUL, which the server takes in no text, and a time with a fraction", async (context) => {
    const here = await lab(context);
    const store = await here.open();
    await store.putEvents(arrival("p\0 1", { text: "a\0b\u202e<script>" }), clock.now());
    await store.stop("pause", "x", "why\0not", clock.now() + 0.5);
    await store.close();
    const after = await here.open();
    await after.recover(clock.now(), 0);
    expect((await after.stops()).pauses).toMatchObject([{ reason: "why\uFFFDnot" }]);
    expect(after.claimEvents(scout, clock.now(), 1)[0]?.payload).toMatchObject({ text: "a\0b\u202e<script>" });
  });
});

describe("one process at work", () => {
  test("a second one is refused, and told that it is no process that has the store", async (context) => {
    const here = await lab(context);
    await here.open();
    await expect(here.open()).rejects.toThrow("another command has the store");
    await expect(here.open()).rejects.toMatchObject({ code: "store_in_use" });
  });

  test("the next one goes on when it has ended", async (context) => {
    const here = await lab(context);
    const first = await here.open();
    await first.putEvents(arrival("p1"), clock.now());
    await expect(here.open()).rejects.toBeInstanceOf(Retryable);
    await first.close();
    const second = await here.open();
    await second.recover(clock.now(), 0);
    expect(second.claimEvents(scout, clock.now(), 9)).toHaveLength(1);
  });

  test("a query makes no store where there is none", async (context) => {
    const here = await lab(context);
    await expect(here.open({ mustExist: true })).rejects.toMatchObject({ code: "store_missing" });
    expect(await here.rows("SELECT 1 FROM pg_namespace WHERE nspname = 'retinue'")).toEqual([]);
    await (await here.open()).close();
    await (await here.open({ mustExist: true })).close();
  });

  test("a reader sees the rows of now, and its orders fail with the reason", async (context) => {
    const here = await lab(context);
    const first = await here.open();
    await first.putEvents(arrival("p1"), clock.now());
    await first.stop("pause", "x", "stored after the event", clock.now());
    const reason = new Retryable("store_in_use", "somebody has it");
    const reader = await here.open({ readOnly: reason });
    expect((await reader.findEvents("post.created:p1", 1))[0]?.state).toBe("ready");
    await expect(reader.stop("halt", "*", "now", clock.now())).rejects.toBe(reason);
  });
});

describe("a lost server", () => {
  test("takes nothing more, and everything that waits for it hears so", async (context) => {
    const here = await lab(context);
    const lost = Promise.withResolvers<Fatal>();
    const store = await here.open({ onLost: lost.resolve });
    await store.putEvents(arrival("p1"), clock.now());
    await here.rows(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE application_name = 'retinue writer' AND datname = current_database()",
    );
    expect(await lost.promise).toMatchObject({ code: "store_lost" });
    await expect(store.putEvents(arrival("p2"), clock.now())).rejects.toMatchObject({ code: "store_lost" });
    await expect(store.stop("halt", "*", "now", clock.now())).rejects.toMatchObject({ code: "store_lost" });
  });
});

test("an address of a file opens that file", async (context) => {
  const root = folder(context);
  const store = await openStore(parseStoreAddress("sqlite:own.sqlite", root), { clock, random: seededRandom(1) });
  await store.putEvents(arrival("p1"), clock.now());
  await store.close();
  expect(storeFile(parseStoreAddress("sqlite:own.sqlite", root))).toBe(join(root, "own.sqlite"));
});
