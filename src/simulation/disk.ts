/** The disk of a simulated machine: an fsync takes its time, and until it is over what was written is lost with the power. */
import { sleep, type Clock } from "../core/clock.ts";
import type { Random } from "../core/random.ts";
import { numberOf } from "../store/sqlite/rows.ts";
import { MEMORY, openDatabase, type OpenDatabase } from "../store/sqlite/database.ts";
import type { Observe } from "../store/sqlite/facts/log.ts";
import { createMirror } from "./mirror.ts";
import type { SimulatedProcess } from "./simulated-process.ts";

/** Tables whose rows something outside relies on: a socket that opens, a delivery that is answered for. */
const RELIED_ON = ["attempt", "delivery", "event"] as const;
type ReliedOn = (typeof RELIED_ON)[number];

const SYNC_MS = { least: 1, most: 10 };
/** Now and then another writer has the disk. */
const SLOW_SHARE = 0.01;
const SLOW_MS = 300;

export interface Disk {
  readonly db: OpenDatabase["db"];
  /** To be told of each fact, where it holds facts. */
  readonly observe?: Observe | undefined;
  /** As one life of the process finds it. */
  openFor(life: SimulatedProcess): OpenDatabase;
  /** Whether this row would be there after a power cut. */
  holds(table: ReliedOn, seq: number): boolean;
  close(): void;
}

export interface DiskOptions {
  readonly clock: Clock;
  readonly random: Random;
  /** Holds facts; see `SimulateOptions`. */
  readonly facts?: boolean;
}

export function createDisk({ clock, random, facts = false }: DiskOptions): Disk {
  const database = openDatabase(MEMORY, { facts });
  const { db } = database;
  const observe = facts ? createMirror(db) : undefined;
  const last = {
    attempt: db.prepare("SELECT coalesce(max(seq), 0) AS seq FROM attempt"),
    delivery: db.prepare("SELECT coalesce(max(seq), 0) AS seq FROM delivery"),
    event: db.prepare("SELECT coalesce(max(seq), 0) AS seq FROM event"),
  };
  const onDisk: Record<ReliedOn, number> = { attempt: 0, delivery: 0, event: 0 };
  /** Serves what was committed before it began, also where the process does not live to hear of it. */
  const sync = async (): Promise<void> => {
    const served = RELIED_ON.map((table) => [table, numberOf(last[table].get() ?? {}, "seq")] as const);
    await sleep(clock, random.next() < SLOW_SHARE ? 1 + random.int(SLOW_MS) : SYNC_MS.least + random.int(SYNC_MS.most));
    for (const [table, seq] of served) onDisk[table] = Math.max(onDisk[table], seq);
  };
  return {
    db,
    observe,
    openFor: (life) => ({ db, facts, sync: () => life.outside("fsync", sync), checkpoints: undefined, close: () => undefined }),
    holds: (table, seq) => seq <= onDisk[table],
    close: () => database.close(),
  };
}
