/** What all parts of the store of facts stand on: the file, what is in memory, the log, and the tables that are rows as before. */
import type { Present } from "../../../live/present.ts";
import { createRedateRows, createRedating, type Redating } from "../clock-redating.ts";
import { Commits } from "../commits.ts";
import { ControlTable } from "../controls.ts";
import { MEMORY, openDatabase, type OpenDatabase } from "../database.ts";
import type { SqliteStoreOptions } from "../options.ts";
import { QuotaTable } from "../quota.ts";
import { RestoredTable } from "../restore-detection.ts";
import { SpendingTable } from "../spending.ts";
import { createFolding, type Folding } from "./fold.ts";
import { createRows, load, type FactRows, type Loaded } from "./load.ts";
import { createLog, type FactLog, type Observe } from "./log.ts";
import { createOwed, type OwedByKeys } from "./obligations.ts";
import { createDues, type Dues } from "./sources.ts";

export interface FactStoreOptions extends SqliteStoreOptions {
  readonly observe?: Observe;
  /** Given once what answers where memory and rows differ. For tests, which want them equal. */
  readonly onOpened?: (differences: () => readonly string[]) => void;
  /** Called after each commit. */
  readonly onCommitted?: () => void;
}

export interface Core {
  readonly db: OpenDatabase["db"];
  /** Undefined where there is no file of its own. */
  readonly path: string | undefined;
  readonly rows: FactRows;
  readonly present: Present;
  readonly told: Loaded["told"];
  readonly quota: QuotaTable;
  readonly redating: Redating;
  readonly spending: SpendingTable;
  readonly guardian: ControlTable;
  readonly restored: RestoredTable;
  readonly commits: Commits;
  readonly log: FactLog;
  readonly folding: Folding;
  /** Brings the rows up to what is in memory; after a loss they stay as they are. */
  readonly settle: () => void;
  readonly dues: Dues;
  readonly debts: OwedByKeys;
  /** What deliveries have to do with folds and rollbacks, set once they are there. */
  readonly deliveries: { flushCounts: () => void; forget: () => void };
  readonly close: () => Promise<void>;
}

export function openCore(options: FactStoreOptions): Core {
  const { clock, random, lateLandingMs } = options;
  const database = options.database ?? openDatabase(options.path, { ...options, facts: true });
  const { db } = database;
  const path = options.database === undefined && options.path !== MEMORY ? options.path : undefined;
  const rows = createRows(db);
  const { present, uncounted, told } = load(rows);
  const guardian = new ControlTable(db);
  const spending = new SpendingTable(db, { zone: options.zone ?? (() => "UTC") });
  const restored = new RestoredTable(db, path);
  const quota: QuotaTable = new QuotaTable(db, {
    random,
    ...(lateLandingMs === undefined ? {} : { lateLandingMs }),
    open: { of: (key, except) => present.attemptsOf(key, except), all: () => present.attempts.values() },
    onFlush: () => folding.countedAll(),
  });
  for (const { attempt, countedAt } of uncounted) quota.replay(attempt.key, attempt.lane, attempt.cost, countedAt);
  const dues = createDues(db);
  const debts = createOwed(db, present);
  const deliveries: Core["deliveries"] = { flushCounts: () => undefined, forget: () => undefined };
  const forget = (): void => {
    for (const table of [quota, spending, guardian, restored, debts]) table.forget();
    dues.forgetAll();
    deliveries.forget();
  };
  const commits = new Commits(db, {
    soon: (run) => clock.soon(run),
    sync: database.sync,
    onRollback: forget,
    onCommit: () => folding.atCommit(clock.monotonic()),
    onCommitted() {
      database.checkpoints?.committed(clock.monotonic());
      options.onCommitted?.();
    },
    onLost(error) {
      forget();
      options.onLost?.(error);
    },
  });
  const log = createLog(db, commits, present, options.observe);
  const folding = createFolding(db, { present, flushQuota: () => quota.flush(), flushCounts: () => deliveries.flushCounts() });
  const settle = (): void => {
    if (!commits.lost) commits.add(folding.fold);
  };
  const redating = createRedating(db, quota, createRedateRows(db, "limited_use"));
  const close = async (): Promise<void> => {
    await database.checkpoints?.stop();
    if (options.database === undefined) database.close();
  };
  const tables = { quota, redating, spending, guardian, restored };
  return { ...tables, db, path, rows, present, told, commits, log, folding, settle, dues, debts, deliveries, close };
}
