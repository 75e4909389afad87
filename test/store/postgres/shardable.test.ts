/** The statements of a store that works, read from the server: each row is found by its shard, so the tables can be divided by it. */
import { expect, onTestFinished, test } from "vitest";
import { parsePostgresAddress } from "../../../src/config/postgres-address.ts";
import { systemClock } from "../../../src/core/clock.ts";
import { seededRandom } from "../../../src/core/random.ts";
import { openPostgresStore } from "../../../src/store/postgres/postgres-store.ts";
import { ROW_PLACES } from "../../../src/store/postgres/row-places.ts";
import { startPostgres } from "../../harness/postgres.ts";
import { folder } from "../../harness/process.ts";
import { workedLife } from "../../harness/worked-life.ts";

/** Found by the holder's number, or by their own key: an order or a halt of a person, the salt, and findings about the network. */
const BY_ANOTHER_KEY = ["guardian_order", "holder", "ledger_time", "mark", "meta", "rolled_up", "standing", "stop"];

interface Write {
  readonly table: string;
  /** The columns by which a row is found. */
  readonly key: readonly string[];
}

/** What a statement inserts, changes and removes. */
function writesOf(statement: string): readonly Write[] {
  const inserted = [...statement.matchAll(/INSERT INTO \w+\.(\w+) \(([^)]+)\)[^)]*\)[^)]*?(?:ON CONFLICT \(([^)]+)\)|\))/g)];
  const removed = [...statement.matchAll(/DELETE FROM \w+\.(\w+) AS t USING .*? WHERE ([^)]+)\)/g)];
  const changed = [...statement.matchAll(/(?<!DO )UPDATE \w+\.(\w+) SET .*? WHERE (\w+) =/g)];
  return [
    ...inserted.map(([, table = "", columns = "", key]) => ({ table, key: (key ?? columns).split(", ") })),
    ...removed.map(([, table = "", where = ""]) => ({ table, key: [...where.matchAll(/t\.(\w+) =/g)].map(([, column = ""]) => column) })),
    ...changed.map(([, table = "", column = ""]) => ({ table, key: [column] })),
  ];
}

test("every row that work writes is found by its shard, and nothing is read back", async (context) => {
  const server = await startPostgres({ major: 18, settings: { shared_preload_libraries: "pg_stat_statements" } });
  onTestFinished(() => server.stop());
  const address = parsePostgresAddress(await server.database(), folder(context));
  const run = (sql: string) => server.run(sql, address.database);
  await run("CREATE EXTENSION pg_stat_statements");
  const store = await openPostgresStore({ address, clock: systemClock(), random: seededRandom(1) });
  await run("SELECT pg_stat_statements_reset()");
  await workedLife(store);
  const seen = (await run("SELECT query FROM pg_stat_statements WHERE query NOT LIKE '%pg_stat_statements%'")).map(({ query }) =>
    String(query),
  );
  await store.close();

  const writes = seen.flatMap(writesOf);
  const tables = new Set(writes.map(({ table }) => table));
  for (const table of ["event", "intent", "attempt", "answer", "run", "quota_cell", "source"]) expect(tables).toContain(table);
  // One write for each INSERT, DELETE and UPDATE: none was overlooked.
  const words = seen.flatMap((statement) => statement.match(/INSERT INTO|DELETE FROM|(?<!DO )UPDATE \w/g) ?? []);
  expect(writes).toHaveLength(words.length);
  // A notice would make commits wait for one another.
  expect(seen.filter((statement) => /NOTIFY/i.test(statement))).toEqual([]);
  const apart = writes.filter(({ key }) => !key.includes("shard")).map(({ table }) => table);
  expect(BY_ANOTHER_KEY).toEqual(expect.arrayContaining(apart));
  for (const table of apart) expect(["holder", "all", "home", undefined]).toContain(ROW_PLACES[table]);
  // The present is in memory: the server is asked for blocks of numbers, and kept in session.
  const reads = seen.filter((statement) => !/INSERT INTO|DELETE FROM|UPDATE \w/.test(statement));
  for (const statement of reads) expect(statement).toMatch(/^SELECT( nextval\('\w+\.fact_block'\) AS number)?$|^SELECT nextval\(\$1\)/);
});
