/** The clock of quotas, as shards go from one holder to the next. */
import { afterAll, beforeAll, expect, onTestFinished, test, type TestContext } from "vitest";
import { parsePostgresAddress } from "../../../src/config/postgres-address.ts";
import { systemClock } from "../../../src/core/clock.ts";
import { seededRandom } from "../../../src/core/random.ts";
import { MINUTE } from "../../../src/core/units.ts";
import { decide } from "../../../src/limits/decide.ts";
import { DEFAULT_FLOORS } from "../../../src/limits/lanes.ts";
import { ALL_SHARDS, SHARDS } from "../../../src/store/postgres/ownership.ts";
import { openShards } from "../../../src/store/postgres/postgres-store.ts";
import type { Store } from "../../../src/store/store.ts";
import { endOf, KEY, wanted } from "../../harness/admitted.ts";
import { SCOUT } from "../../harness/guardian-over-store.ts";
import { cutWriters } from "../../harness/cut-writers.ts";
import { startPostgres, type PostgresServer } from "../../harness/postgres.ts";
import { folder } from "../../harness/process.ts";

let server: PostgresServer;
beforeAll(async () => void (server = await startPostgres({ major: 18 })), 60_000);
afterAll(() => server.stop());

async function lab(context: TestContext) {
  const address = parsePostgresAddress(await server.database(), folder(context));
  const real = systemClock();
  let aheadMs = 0;
  const clock = { ...real, now: () => real.now() + aheadMs };
  return {
    clock,
    database: address.database,
    rows: (sql: string) => server.run(sql, address.database),
    pass: (ms: number) => void (aheadMs += ms),
    async open(shards = ALL_SHARDS): Promise<Store> {
      const held = await openShards({ address, clock, random: seededRandom(1), shards });
      if (held === undefined) throw new Error("none of them is free");
      const { store } = held;
      onTestFinished(() => store.close().catch(() => undefined));
      await store.recover(clock.now(), 0);
      return store;
    },
  };
}

type Lab = Awaited<ReturnType<typeof lab>>;

/** Sends requests until one has to wait. Returns their number. */
async function useUp(here: Lab, store: Store): Promise<number> {
  for (let sent = 0; ; sent++) {
    const admission = await store.admit(wanted(here), decide);
    if (admission.kind !== "admitted") return sent;
    store.complete(endOf(here, admission));
  }
}

const ENDS: { readonly [how: string]: (here: Lab, store: Store) => Promise<unknown> } = {
  "was lost": (here) => cutWriters(server, here.database),
  "ended in order": (_, store) => store.close(),
};

test.each(Object.keys(ENDS))("a used-up key stays so until the network confirms the time, though its holder %s", async (how) => {
  const here = await lab({ onTestFinished } as TestContext);
  const first = await here.open();
  await first.registerKey(SCOUT, KEY, { limits: { perHour: 60, perDay: 600 }, floors: DEFAULT_FLOORS }, here.clock.now());
  expect(await useUp(here, first)).toBeGreaterThan(10);
  await ENDS[how]?.(here, first);
  here.pass(61 * MINUTE);
  const next = await here.open();
  expect(await useUp(here, next)).toBe(0);
});

test("shards of several holders go on by the clock that is behind most", async (context) => {
  const here = await lab(context);
  const halves = [await here.open(ALL_SHARDS.slice(0, SHARDS / 2)), await here.open(ALL_SHARDS.slice(SHARDS / 2))];
  for (const store of halves) await store.close();
  const holders = (await here.rows("SELECT number FROM retinue.holder ORDER BY number")).map(({ number }) => Number(number));
  await here.rows(`UPDATE retinue.ledger_time SET lag_ms = ${10 * MINUTE}, seen_at = seen_at - 1000 WHERE holder = ${holders[0]}`);
  await here.open();
  const [last] = await here.rows("SELECT lag_ms FROM retinue.ledger_time ORDER BY holder DESC LIMIT 1");
  expect(Number(last?.["lag_ms"])).toBeGreaterThanOrEqual(10 * MINUTE);
});
