/** Makes many of something and weighs them. */
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

function weigh(): { readonly heapMb: number; readonly rssMb: number } {
  for (let i = 0; i < 4; i++) collect();
  const { rss, heapUsed } = process.memoryUsage();
  return { heapMb: heapUsed / 1_048_576, rssMb: rss / 1_048_576 };
}

export async function crowd(count: number, make: (i: number) => unknown): Promise<{ weigh(): unknown }> {
  const kept: unknown[] = [make(-1)]; // what the first one loads belongs to the process
  await new Promise((resolve) => setTimeout(resolve, 500));
  const empty = weigh();
  const began = performance.now();
  for (let i = 0; i < count; i++) kept.push(make(i));
  const startMs = performance.now() - began;
  return { weigh: () => ({ empty, now: weigh(), startMs, known: kept.length - 1 }) };
}
