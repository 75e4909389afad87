/** Simulates a machine's disk: an fsync takes time, and a power cut loses what was written before it completes. */
import { sleep, type Clock } from "../core/clock.ts";
import type { Random } from "../core/random.ts";
import { numberOf } from "../store/sqlite/columns.ts";
import { MEMORY, openDatabase, type OpenDatabase } from "../store/sqlite/database.ts";
import type { Observe } from "../store/sqlite/fact-log.ts";
import { createMirror } from "./mirror.ts";
import type { SimulatedProcess } from "./simulated-process.ts";

/** Tables whose rows something outside relies on: an opened socket, an acknowledged delivery. */
const RELIED_ON = ["attempt", "delivery", "event"] as const;
type ReliedOn = (typeof RELIED_ON)[number];

const SYNC_MS = { least: 1, most: 10 };
/** Share of fsyncs that wait for another writer. */
const SLOW_SHARE = 0.01;
const SLOW_MS = 300;

export interface Disk {
  readonly db: OpenDatabase["db"];
  /** Opens the database as the next process finds it. */
  /** Mirrors each fact as rows. */
  readonly observe: Observe;
  openFor(life: SimulatedProcess): OpenDatabase;
  /** Returns true if this row survives a power cut. */
  holds(table: ReliedOn, seq: number): boolean;
  close(): void;
}

export interface DiskOptions {
  readonly clock: Clock;
  readonly random: Random;
}

export function createDisk({ clock, random }: DiskOptions): Disk {
  const database = openDatabase(MEMORY);
  const { db } = database;
  const observe = createMirror(db);
  const last = {
    attempt: db.prepare("SELECT coalesce(max(seq), 0) AS seq FROM main.attempt"),
    delivery: db.prepare("SELECT coalesce(max(seq), 0) AS seq FROM delivery"),
    event: db.prepare("SELECT coalesce(max(seq), 0) AS seq FROM main.event"),
  };
  const onDisk: Record<ReliedOn, number> = { attempt: 0, delivery: 0, event: 0 };
  /** The fsync covers commits made before it began, even if the process dies before it completes. */
  const sync = async (): Promise<void> => {
    const served = RELIED_ON.map((table) => [table, numberOf(last[table].get() ?? {}, "seq")] as const);
    await sleep(clock, random.next() < SLOW_SHARE ? 1 + random.int(SLOW_MS) : SYNC_MS.least + random.int(SYNC_MS.most));
    for (const [table, seq] of served) onDisk[table] = Math.max(onDisk[table], seq);
  };
  return {
    db,
    observe,
    openFor: (life) => ({ db, sync: () => life.outside("fsync", sync), checkpoints: undefined, close: () => undefined }),
    holds: (table, seq) => seq <= onDisk[table],
    close: () => database.close(),
  };
}
