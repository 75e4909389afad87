/** What a key that nobody uses weighs in the heap, with the whole store around it: registered, busy two days ago, looked at since. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { asHandle, asKeyId } from "../../src/core/ids.ts";
import { systemRandom } from "../../src/core/random.ts";
import { DAY, MINUTE } from "../../src/core/units.ts";
import { virtualClock } from "../../src/core/virtual-clock.ts";
import { decide } from "../../src/limits/decide.ts";
import { DEFAULT_FLOORS } from "../../src/limits/lanes.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import { TIER_LIMITS } from "../../src/contract/tiers.ts";

/** What each key sent before it fell idle. */
export const REQUESTS = 20;
/** Statements, pages and compiled code come with the first keys, and are not theirs. */
const WARM_UP = 200;

export interface IdleKeys {
  /** Of heap, for each key, idle since two days. */
  readonly idleBytes: number;
  /** The same while what it sent still counts. */
  readonly recentBytes: number;
}

export async function idleKeys(count: number): Promise<IdleKeys> {
  const clock = virtualClock(Date.UTC(2026, 0, 1));
  const store = openSqliteStore({ path: ":memory:", clock, random: systemRandom() });
  const began = clock.now();
  const { perHour, perDay } = TIER_LIMITS.free;
  const use = async (from: number, to: number, since: number): Promise<void> => {
    for (let i = from; i < to; i++) {
      const [specialist, key] = [asHandle(`s${i}`), asKeyId(`key-${i}`)];
      await clock.run(store.registerKey(specialist, key, { limits: { perHour, perDay }, floors: DEFAULT_FLOORS }, since));
    }
    // Side by side, as time goes on for all of them.
    for (let n = 0; n < REQUESTS; n++)
      for (let i = from; i < to; i++) {
        const [specialist, key, now] = [asHandle(`s${i}`), asKeyId(`key-${i}`), since + n * MINUTE];
        const admission = await clock.run(
          store.admit(
            {
              request: { specialist, key, operation: "posts.list", effect: "read", lane: "poll", price: { kind: "free" } },
              now,
              deadlineAt: now,
              holdExpiresAt: now,
              known: { may: undefined, review: false, caps: [] },
            },
            decide,
          ),
        );
        if (admission.kind !== "admitted") throw new Error(`not admitted: ${JSON.stringify(admission)}`);
        const { attempt } = admission;
        const end = { key, attempt: attempt.seq, lane: "poll", cost: 1, admittedAt: now, deadlineAt: now, ending: "answered" } as const;
        await clock.run(store.complete({ attempt, end, outcome: "confirmed", now, events: [], watches: [] }));
      }
  };
  try {
    await use(0, WARM_UP, began);
    const before = heapUsed();
    await use(WARM_UP, WARM_UP + count, began + REQUESTS * MINUTE);
    const recentBytes = (heapUsed() - before) / count;
    const later = began + 2 * DAY;
    for (let i = 0; i < WARM_UP + count; i++) await clock.run(store.quotaUse(asKeyId(`key-${i}`), later));
    return { recentBytes, idleBytes: (heapUsed() - before) / count };
  } finally {
    await clock.run(store.close());
  }
}

/** After a full collection. */
function heapUsed(): number {
  setFlagsFromString("--expose-gc");
  const collect: unknown = runInNewContext("gc");
  if (typeof collect === "function") collect();
  return process.memoryUsage().heapUsed;
}
