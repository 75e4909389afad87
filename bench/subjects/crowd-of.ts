/** Makes many of something and weighs them; watches many schedules of one minute and says how late they ran. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import { percentile } from "../harness/stats.ts";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

export function weigh(): { readonly heapMb: number; readonly rssMb: number } {
  for (let i = 0; i < 4; i++) collect();
  const { rss, heapUsed } = process.memoryUsage();
  return { heapMb: heapUsed / 1_048_576, rssMb: rss / 1_048_576 };
}

export async function crowd(count: number, make: (i: number) => unknown): Promise<{ weigh(): unknown }> {
  const kept: unknown[] = [];
  const empty = await settled();
  const began = performance.now();
  for (let i = 0; i < count; i++) kept.push(await make(i));
  const startMs = performance.now() - began;
  return { weigh: () => ({ empty, now: weigh(), startMs, known: kept.length }) };
}

const SETTLE_MS = 500;
/** At rest is as heavy as before so often in a row. */
const AT_REST = 4;
const MOST_WEIGHINGS = 60;

/** The process with none. What its modules began may go on for seconds on a busy machine. Throws where it never ends. */
export async function settled(): Promise<ReturnType<typeof weigh>> {
  let before = weigh();
  for (let i = 0, same = 0; i < MOST_WEIGHINGS; i++) {
    await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
    const now = weigh();
    same = Math.abs(now.heapMb - before.heapMb) < 0.1 ? same + 1 : 0;
    if (same === AT_REST) return now;
    before = now;
  }
  throw new Error("the process does not come to rest");
}

const MINUTE_MS = 60_000;

/** Notes how long after the first whole minute each of many schedules ran first. */
export function everyMinute(): { begin(): void; fired(name: string): void; late(): unknown } {
  const lateMs = new Map<string, number>();
  let due = Number.POSITIVE_INFINITY;
  return {
    begin: () => void (due = Math.ceil(Date.now() / MINUTE_MS) * MINUTE_MS),
    fired(name) {
      const now = Date.now();
      if (now >= due && !lateMs.has(name)) lateMs.set(name, now - due);
    },
    late: () => lateness([...lateMs.values()]),
  };
}

export function lateness(lateMs: readonly number[]): unknown {
  const looks = lateMs.length;
  return looks === 0 ? { looks } : { looks, p50: percentile(lateMs, 50), p99: percentile(lateMs, 99), most: percentile(lateMs, 100) };
}
