/** Rows past their retention go from the server too, whatever has gone before them. */
import { expect, test } from "vitest";
import { parsePostgresAddress } from "../../../src/config/postgres-address.ts";
import { systemClock } from "../../../src/core/clock.ts";
import { seededRandom } from "../../../src/core/random.ts";
import { DAY } from "../../../src/core/units.ts";
import { openPostgresStore } from "../../../src/store/postgres/postgres-store.ts";
import { startPostgres } from "../../harness/postgres.ts";
import { folder } from "../../harness/process.ts";
import { workedLife } from "../../harness/worked-life.ts";

/** Tables whose rows are numbered facts. */
const FACTS = ["event", "run", "attempt", "answer", "change", "intent"] as const;
const RETENTION = { eventsMs: DAY, intentsMs: 2 * DAY, requestsMs: DAY };

test.for([15, 18] as const)("PostgreSQL %i: a year later nothing of a worked life is left but what is open", async (major, context) => {
  const server = await startPostgres({ major });
  context.onTestFinished(() => server.stop());
  const address = parsePostgresAddress(await server.database(), folder(context));
  const counts = async () => {
    const sums = FACTS.map((table) => `(SELECT count(*)::int FROM retinue.${table}) AS ${table}`).join(", ");
    const [row] = await server.run(`SELECT ${sums}`, address.database);
    return row as { readonly [table in (typeof FACTS)[number]]: number };
  };
  const options = { address, clock: systemClock(), random: seededRandom(1) };
  const first = await openPostgresStore(options);
  await workedLife(first);
  await first.close();
  const before = await counts();
  for (const table of FACTS) expect(before[table], table).toBeGreaterThan(0);

  const store = await openPostgresStore(options);
  await store.reads.logTotal({}); // its past is here
  for (const year of [1, 2, 3, 4]) while ((await store.prune(Date.now() + year * 365 * DAY, RETENTION)) > 0);
  await store.close();
  const after = await counts();
  expect(after).toMatchObject({ run: 0, answer: 0 });
  for (const table of ["event", "attempt", "intent", "change"] as const) expect(after[table], table).toBeLessThan(before[table] / 2);

  const again = await openPostgresStore(options);
  expect((await again.reads.overview(Date.now())).size).toBeGreaterThan(0);
  await again.close();
});
