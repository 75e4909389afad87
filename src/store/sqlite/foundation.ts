/** The common parts of the store: the file, the memory, the log, and the tables that are rows. */
import type { Present } from "../../live/present.ts";
import { Fatal } from "../../core/errors.ts";
import { Commits } from "./commits.ts";
import { ControlTable } from "./control-table.ts";
import { MEMORY, openDatabase, type OpenDatabase } from "./database.ts";
import { openReadOnlyDatabase } from "./reading.ts";
import type { SqliteStoreOptions } from "./store-options.ts";
import { QuotaTable } from "./quota.ts";
import { RestoredTable } from "./restore-detection.ts";
import { GUARDIAN } from "../../limits/spending.ts";
import { SpendingTable } from "./spending.ts";
import { createFolding, type Folding } from "./fold.ts";
import { createRows, load, type FactRows, type Loaded } from "./load.ts";
import { damageOf } from "./integrity.ts";
import { createLog, type FactLog } from "./fact-log.ts";
import { createObligations, type KeyObligations } from "./obligations.ts";
import { createDues, type Dues } from "./due-work.ts";
import { OWN_NUMBERS, type Numbers } from "./numbers.ts";
import { createCursorValues, type CursorValues } from "./sources.ts";

export interface Foundation {
  readonly db: OpenDatabase["db"];
  readonly numbers: Numbers;
  /** Undefined without a file of its own. */
  readonly path: string | undefined;
  /** The file that readers beside the process open. */
  readonly readPath: string | undefined;
  readonly rows: FactRows;
  readonly present: Present;
  readonly quota: QuotaTable;
  readonly spending: SpendingTable;
  readonly guardian: ControlTable;
  readonly restored: RestoredTable;
  readonly commits: Commits;
  readonly log: FactLog;
  readonly folding: Folding;
  /** Writes the rows of everything that changed; once the store is lost they stay as they are. */
  readonly foldNow: () => void;
  readonly dues: Dues;
  readonly cursors: CursorValues;
  readonly debts: KeyObligations;
  /** The part of deliveries in rollbacks, set once they exist. */
  readonly deliveries: { forget: () => void };
  readonly close: () => Promise<void>;
}

export function openFoundation(options: SqliteStoreOptions): Foundation {
  const { clock, random, lateLandingMs, readOnly, numbers = OWN_NUMBERS } = options;
  const database = options.database ?? (readOnly === undefined ? openDatabase(options.path, options) : openReadOnlyDatabase(options.path));
  const { db } = database;
  const path = options.database === undefined && options.path !== MEMORY ? options.path : undefined;
  const rows = createRows(db);
  const { present, uncounted } = loadFrom(database, rows);
  const guardian = new ControlTable(db);
  const spending = new SpendingTable(db, { zone: options.zone ?? (() => "UTC"), numbers, shared: options.shared });
  const restored = new RestoredTable(db, path);
  const quota: QuotaTable = new QuotaTable(db, {
    random,
    ...(lateLandingMs === undefined ? {} : { lateLandingMs }),
    open: { of: (key, except) => present.attemptsOf(key, except), all: () => present.attempts.values() },
    onFlush: () => folding.countedAll(),
  });
  for (const { attempt, countedAt } of uncounted) quota.replay(attempt.key, attempt.lane, attempt.cost, countedAt);
  const dues = createDues(db);
  const debts = createObligations(db, present);
  const deliveries: Foundation["deliveries"] = { forget: () => undefined };
  const forget = (): void => {
    for (const table of [quota, spending, guardian, restored, debts]) table.forget();
    dues.forgetAll();
    deliveries.forget();
  };
  const commits = createCommits(database, options, {
    forget,
    atCommit: () => folding.atCommit(clock.monotonic()),
  });
  options.shared?.attach({
    own: (currency) => spending.account(GUARDIAN, currency, 0),
    stored: () => commits.synced(),
    freeze: (currency, reason) => commits.hard(() => spending.freezeShared(currency, reason, clock.now())),
    followFreeze: (currency, freeze) => commits.hard(() => spending.followFreeze(currency, freeze)),
  });
  const log = createLog(db, { present, commits, numbers, observe: options.observe, recorder: database.elsewhere?.recorder });
  const folding = createFolding(db, {
    present,
    countedKeys: () => quota.countedKeys,
    flushQuota: () => quota.flush(),
  });
  const foldNow = (): void => {
    if (!commits.lost) commits.add(folding.fold);
  };
  // A copy has a commit of its own, since the store refuses every write.
  if (database.isCopy === true) inTransaction(db, folding.fold);
  const close = async (): Promise<void> => {
    await database.checkpoints?.stop();
    if (options.database === undefined) database.close();
  };
  const tables = { quota, spending, guardian, restored };
  return {
    ...tables,
    db,
    numbers,
    path,
    readPath: path ?? database.elsewhere?.path,
    rows,
    present,
    commits,
    log,
    folding,
    foldNow,
    dues,
    cursors: createCursorValues(),
    debts,
    deliveries,
    close,
  };
}

/** Groups the commits of an open file. `forget` drops what was cached of rows. */
function createCommits(
  database: OpenDatabase,
  { clock, readOnly, onCommitted, onLost }: SqliteStoreOptions,
  { forget, atCommit }: { readonly forget: () => void; readonly atCommit: () => void },
): Commits {
  const commits = new Commits(database.db, {
    soon: (run) => clock.soon(run),
    sync: database.sync,
    readOnly,
    isVolatile: database.elsewhere !== undefined,
    onRollback: forget,
    recorder: database.elsewhere?.recorder,
    onCommit: atCommit,
    onCommitted() {
      database.checkpoints?.committed(clock.monotonic());
      database.elsewhere?.committed();
      onCommitted?.();
    },
    onLost(error) {
      forget();
      onLost?.(error);
    },
  });
  void database.damage?.then((verdict) => verdict !== undefined && commits.fail(lostToDamage(verdict)));
  void database.elsewhere?.failure.then((error) => commits.fail(error));
  return commits;
}

function lostToDamage(verdict: string): Fatal {
  return new Fatal("store_lost", `the store is damaged: ${verdict}`, {
    hint: "no more requests are sent; restore a backup, and keep the damaged file, because it records what was sent",
  });
}

function loadFrom(database: OpenDatabase, rows: FactRows): Loaded {
  try {
    return load(rows);
  } catch (error) {
    database.close();
    throw damageOf(error) ?? error;
  }
}

function inTransaction(db: OpenDatabase["db"], run: () => void): void {
  db.exec("BEGIN");
  run();
  db.exec("COMMIT");
}
