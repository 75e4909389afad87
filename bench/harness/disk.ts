/** What the disk alone takes to make a write durable: the floor under everything that keeps something. */
import { closeSync, fdatasync, fsyncSync, openSync, rmSync, writeSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { figure, percentile, summarise } from "./stats.ts";

const BYTES = 32 * 1_024;
/** Written over and over, as a database does with its log: only the bytes have to reach the disk. */
const PLACES = 500;
const WRITES = 1_500;

export interface DiskFloor {
  readonly p50: number;
  readonly p99: number;
}

/** Writes 32 KB and waits for the disk, so many times a second. */
export async function diskFloor(folder: string, perSecond: number): Promise<DiskFloor> {
  const path = join(folder, "disk-floor");
  const file = openSync(path, "w");
  const sync = promisify(fdatasync);
  const bytes = Buffer.alloc(BYTES, 1);
  for (let place = 0; place < PLACES; place++) writeSync(file, bytes, 0, BYTES, place * BYTES);
  fsyncSync(file);
  const took = new Float64Array(WRITES);
  const began = performance.now();
  for (let n = 0; n < WRITES; n++) {
    const due = began + (n / perSecond) * 1_000;
    const early = due - performance.now();
    if (early > 0) await new Promise((resolve) => setTimeout(resolve, early));
    const from = performance.now();
    writeSync(file, bytes, 0, BYTES, (n % PLACES) * BYTES);
    await sync(file);
    took[n] = performance.now() - from;
  }
  closeSync(file);
  rmSync(path);
  return { p50: percentile(took, 50), p99: percentile(took, 99) };
}

/** The floor of several runs, in words. */
export function floorSaid(floors: readonly DiskFloor[], perSecond: number): string {
  const median = (what: keyof DiskFloor): string => figure(summarise(floors.map((one) => one[what])).median);
  return `The disk alone, in the same runs: ${BYTES / 1_024} KB written and synced ${perSecond} times a second take ${median("p50")} ms at p50 and ${median("p99")} ms at p99. What keeps something waits for it at least once.`;
}
