/** A machine whose clock is far ahead when a process starts: what was used before still counts. On the store that runs. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { systemClock } from "../../src/core/clock.ts";
import { asHandle, asKeyId } from "../../src/core/ids.ts";
import { seededRandom } from "../../src/core/random.ts";
import { DAY, HOUR, MINUTE, SECOND } from "../../src/core/units.ts";
import { tierLimits } from "../../src/contract/tiers.ts";
import { decide } from "../../src/limits/decide.ts";
import { DEFAULT_FLOORS } from "../../src/limits/lanes.ts";
import { ledgerTime } from "../../src/limits/ledger-clock.ts";
import { DEFAULT_RETENTION } from "../../src/runtime/retention.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";

const T0 = Date.UTC(2026, 2, 1);
const SCOUT = asHandle("scout");
const KEY = asKeyId("k1");

/** One process from its start on; `aheadMs` is how far its wall clock is ahead of the network's. */
async function life(path: string, startsAt: number, aheadMs: number) {
  const at = { wall: startsAt + aheadMs, mono: 0 };
  const store = openSqliteStore({ path, clock: systemClock(), random: seededRandom(1) });
  const ledger = ledgerTime({ ...systemClock(), now: () => at.wall, monotonic: () => at.mono });
  await store.recover(ledger.now(), 0);
  await store.registerKey(SCOUT, KEY, { limits: tierLimits("free", "b"), floors: DEFAULT_FLOORS }, ledger.now());
  await store.prune(ledger.now(), DEFAULT_RETENTION); // as a runtime does when it begins
  /** Whether a read may leave; its answer carries the network's time, or does not. */
  const asks = async (isDated = true): Promise<boolean> => {
    const now = ledger.now();
    const admission = await store.admit(
      {
        request: { specialist: SCOUT, key: KEY, operation: "posts.list", effect: "read", lane: "poll", price: { kind: "free" } },
        now,
        deadlineAt: now + SECOND,
        holdExpiresAt: now + DAY,
        known: { may: [], review: false, caps: [] },
      },
      decide,
    );
    if (admission.kind !== "admitted") return false;
    const { attempt } = admission;
    const heard = isDated ? ledger.heed(-aheadMs, 0) : undefined;
    store.complete({
      attempt,
      end: {
        key: KEY,
        attempt: attempt.seq,
        lane: "poll",
        cost: 1,
        admittedAt: attempt.startedAt,
        deadlineAt: attempt.deadlineAt,
        ending: "answered",
      },
      outcome: "confirmed",
      now: ledger.now(),
      ...(heard === undefined ? {} : { heard }),
      events: [],
      watches: [],
    });
    return true;
  };
  const askAll = async (): Promise<number> => {
    let asked = 0;
    while (await asks()) asked += 1;
    return asked;
  };
  const pass = (ms: number): void => void ((at.wall += ms), (at.mono += ms));
  return { pass, asks, askAll, close: () => store.close() };
}

test.each([2 * HOUR, 3 * DAY])("a clock that is %i ms ahead since a restart gives not one more request", async (aheadMs) => {
  const root = mkdtempSync(join(tmpdir(), "retinue-ahead-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const path = join(root, "store.sqlite");
  const first = await life(path, T0, 0);
  const hour = await first.askAll();
  expect(hour).toBeGreaterThan(10);
  await first.close();

  const deaf = await life(path, T0 + SECOND, aheadMs); // ends before it has heard the time
  expect(await deaf.asks(false)).toBe(false);
  await deaf.close();

  const second = await life(path, T0 + MINUTE, aheadMs);
  expect(await second.askAll()).toBe(0);
  second.pass(50 * MINUTE);
  expect(await second.askAll()).toBe(0);
  second.pass(12 * MINUTE);
  expect(await second.askAll()).toBeGreaterThan(10);
  await second.close();
});

test("days in which nothing ran are over where the network's time says so too", async () => {
  const root = mkdtempSync(join(tmpdir(), "retinue-ahead-"));
  onTestFinished(() => rmSync(root, { recursive: true }));
  const path = join(root, "store.sqlite");
  const first = await life(path, T0, 0);
  for (let i = 0; i < 10; i++) expect(await first.asks()).toBe(true);
  await first.close();
  const second = await life(path, T0 + 3 * DAY, 0);
  const whole = await second.askAll();
  second.pass(HOUR + MINUTE);
  expect(await second.askAll()).toBe(whole);
  await second.close();
});
