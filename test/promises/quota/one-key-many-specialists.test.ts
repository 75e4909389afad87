/** 64 specialists on one key through the real store, in grouped commits: exactly the limit, and a halt stops writes at once. */
import { afterEach, describe, expect, test } from "vitest";
import { systemClock } from "../../../src/core/clock.ts";
import { asHandle, asKeyId } from "../../../src/core/ids.ts";
import { seededRandom } from "../../../src/core/random.ts";
import { SECOND } from "../../../src/core/units.ts";
import { decide } from "../../../src/limits/decide.ts";
import { MEMORY } from "../../../src/store/sqlite/database.ts";
import { openSqliteStore } from "../../../src/store/sqlite/store.ts";
import type { Store } from "../../../src/store/store.ts";
import type { Admission, Admit } from "../../../src/store/admission.ts";

const T0 = Date.UTC(2026, 2, 1);
const KEY = asKeyId("shared");
const ONE_LANE = { obligation: 100, reply: 0, act: 0, watch: 0, poll: 0, explore: 0 };
const RACERS = Array.from({ length: 64 }, (_, i) => asHandle(`racer${i}`));

const stores: Store[] = [];
afterEach(async () => {
  for (const store of stores.splice(0)) await store.close();
});

async function open(limits: { readonly perHour: number; readonly perDay: number }): Promise<Store> {
  const store = openSqliteStore({ path: MEMORY, clock: systemClock(), random: seededRandom(1) });
  stores.push(store);
  for (const handle of RACERS) await store.registerKey(handle, KEY, { limits, floors: ONE_LANE }, T0);
  return store;
}

function wanted(specialist: Admit["request"]["specialist"], effect: "read" | "reconciled" = "read"): Admit {
  return {
    request: { specialist, key: KEY, operation: "posts.get", effect, lane: "obligation", price: { kind: "free" } },
    now: T0,
    deadlineAt: T0 + 30 * SECOND,
    holdExpiresAt: T0 + 30 * SECOND,
    known: { may: undefined, review: false, caps: [] },
  };
}

const admitted = (admissions: readonly Admission[]): number => admissions.filter(({ kind }) => kind === "admitted").length;

describe("64 specialists on one key", () => {
  test("racing for the last units get exactly the limit between them", async () => {
    const store = await open({ perHour: 100, perDay: 500 });
    const all = await Promise.all([...RACERS, ...RACERS].map((handle) => store.admit(wanted(handle), decide)));
    expect(admitted(all)).toBe(100);
    expect(await store.quotaUse(KEY, T0)).toMatchObject({ hour: { used: 100, limit: 100 }, day: { used: 100, limit: 500 } });
    expect(await store.openAttempts()).toHaveLength(100);
  });

  test("with 64 writes in flight, a halt admits none after it, and those in flight are listed", async () => {
    const store = await open({ perHour: 1_000, perDay: 5_000 });
    const before = await Promise.all(RACERS.map((handle) => store.admit(wanted(handle, "reconciled"), decide)));
    const [, ...after] = await Promise.all([
      store.stop("halt", "*", "enough", T0),
      ...RACERS.map((handle) => store.admit(wanted(handle, "reconciled"), decide)),
    ]);
    expect([admitted(before), admitted(after)]).toEqual([64, 0]);
    expect(await store.openAttempts()).toHaveLength(64);
  });
});
