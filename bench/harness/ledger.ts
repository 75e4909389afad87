/** Admissions as fast as they go through the real store: what the admission and growth suites measure. */
import { setTimeout } from "node:timers/promises";
import { asHandle, asKeyId } from "../../src/core/ids.ts";
import { systemClock } from "../../src/core/clock.ts";
import { systemRandom } from "../../src/core/random.ts";
import { decide } from "../../src/limits/decide.ts";
import { DEFAULT_FLOORS } from "../../src/limits/lanes.ts";
import { openSqliteStore } from "../../src/store/sqlite/store.ts";
import type { Store } from "../../src/store/store.ts";
import { serverCpuMs } from "./server-usage.ts";
import { percentile } from "./stats.ts";

export interface AdmissionLoad {
  /** A file, or `:memory:`. */
  readonly path: string;
  readonly keys: number;
  readonly count: number;
  /** Callers that each wait for one admission, then settle it. */
  readonly atOnce: number;
  /** The first process of a server whose time counts as well. */
  readonly server?: number | undefined;
}

export interface AdmissionSpeed {
  readonly perSecond: number;
  /** Time of the processor for each, in microseconds: what others do on the machine changes it least. */
  readonly cpuMicros: number;
  /** That of the server. */
  readonly serverMicros: number;
  readonly p50Ms: number;
  readonly p99Ms: number;
}

const UNLIMITED = { perHour: 1e9, perDay: 1e9 };
/** At least one admission for each key: the first one after a start reads the key's rows. */
const WARM_UP = 5_000;

export function inFile(path: string): Store {
  return openSqliteStore({ path, clock: systemClock(), random: systemRandom() });
}

/** `open` opens another store than the file. */
export async function admissions(
  { path, keys, count, atOnce, server }: AdmissionLoad,
  open: () => Promise<Store> = () => Promise.resolve(inFile(path)),
): Promise<AdmissionSpeed> {
  const clock = systemClock();
  const store = await open();
  try {
    for (let i = 0; i < keys; i++)
      await store.registerKey(asHandle(`s${i}`), asKeyId(`key-${i}`), { limits: UNLIMITED, floors: DEFAULT_FLOORS }, clock.now());
    await rounds(store, keys, Math.max(WARM_UP, keys), atOnce, []);
    const took: number[] = [];
    await startIsOver();
    const cost = stopwatch(server);
    await rounds(store, keys, count, atOnce, took);
    return { ...cost(count), p50Ms: percentile(took, 50), p99Ms: percentile(took, 99) };
  } finally {
    await store.close();
  }
}

const LOOK_MS = 100;
const IDLE_SHARE = 0.1;

/** Waits until this process is idle: the check of a large file for damage, beside its use, belongs to the start. */
export async function startIsOver(): Promise<void> {
  for (let used = 1; used > IDLE_SHARE;) {
    const before = process.cpuUsage();
    await setTimeout(LOOK_MS);
    const { user, system } = process.cpuUsage(before);
    used = (user + system) / 1_000 / LOOK_MS;
  }
}

/** Starts to count; the answer, called at the end, says what each of `count` took. */
export function stopwatch(server?: number): (count: number) => Pick<AdmissionSpeed, "perSecond" | "cpuMicros" | "serverMicros"> {
  const began = performance.now();
  const before = process.cpuUsage();
  const ofServer = (): number => (server === undefined ? 0 : serverCpuMs(server));
  const serverBefore = ofServer();
  return (count) => {
    const { user, system } = process.cpuUsage(before);
    return {
      perSecond: (count / (performance.now() - began)) * 1_000,
      cpuMicros: (user + system) / count,
      serverMicros: ((ofServer() - serverBefore) * 1_000) / count,
    };
  };
}

async function rounds(store: Store, keys: number, count: number, atOnce: number, took: number[]): Promise<void> {
  let left = count;
  const caller = async (): Promise<void> => {
    while (left-- > 0) {
      const n = left % keys;
      const [specialist, key] = [asHandle(`s${n}`), asKeyId(`key-${n}`)];
      const now = Date.now();
      const began = performance.now();
      const admission = await store.admit(
        {
          request: { specialist, key, operation: "posts.get", effect: "read", lane: "poll", price: { kind: "free" } },
          now,
          deadlineAt: now + 30_000,
          holdExpiresAt: now,
          known: { may: undefined, review: false, caps: [] },
        },
        decide,
      );
      took.push(performance.now() - began);
      if (admission.kind !== "admitted") throw new Error(`not admitted: ${JSON.stringify(admission)}`);
      const { attempt } = admission;
      const end = {
        key,
        attempt: attempt.seq,
        lane: "poll" as const,
        cost: 1,
        admittedAt: attempt.startedAt,
        deadlineAt: attempt.deadlineAt,
        ending: "answered" as const,
      };
      store.complete({ attempt, end, outcome: "confirmed", now: Date.now(), events: [], watches: [] });
    }
  };
  await Promise.all(Array.from({ length: atOnce }, caller));
}
