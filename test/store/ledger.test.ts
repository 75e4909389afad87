/** The ledger of a store: a store that charges to it keeps everything else itself. */
import { expect, test } from "vitest";
import { seededRandom } from "../../src/core/random.ts";
import { ledgerOf } from "../../src/store/ledger.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { admit, KEY, withKey } from "../harness/admitted.ts";
import { desk, SCOUT } from "../harness/guardian-over-store.ts";

test("charges and stops are shared both ways, events and accounts are not", async () => {
  const real = desk();
  await withKey(real);
  const dry = openSqliteStore({ path: ":memory:", clock: real.clock, random: seededRandom(2), ledger: real.store });
  const here = { ...real, store: dry };
  await admit(here);
  expect((await real.on(real.store.quotaUse(KEY, real.clock.now())))?.hour.used).toBe(1);
  await real.on(real.store.stop("halt", "scout", "wrong words", 5));
  expect((await real.on(dry.stops())).halts).toMatchObject([{ scope: "scout" }]);
  await real.on(dry.saveAccount(SCOUT, "agt_dry", real.clock.now()));
  expect(await real.on(real.store.accounts())).toEqual(new Map());
  await real.on(dry.close());
  expect((await real.on(real.store.stops())).halts).toHaveLength(1);
});

test("a ledger has no name of the rest of the store", async () => {
  const { store } = desk();
  const names = Object.keys(ledgerOf(store));
  for (const name of ["claimEvents", "finishRun", "dueIntents", "close", "prune", "recover"]) expect(names).not.toContain(name);
});
