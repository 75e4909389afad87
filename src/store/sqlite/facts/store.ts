/** The store over facts: what happened is a row that is inserted once, what is the case now is in memory. */
import type { WatchWrite } from "../../../contract/event.ts";
import type { Store } from "../../store.ts";
import { Commits } from "../commits.ts";
import { MEMORY, openDatabase, type OpenDatabase } from "../database.ts";
import { createDeliveries } from "../deliveries.ts";
import { createKeyTables } from "../keys.ts";
import { ControlTable } from "../controls.ts";
import { QuotaTable } from "../quota.ts";
import { createRedateRows, createRedating } from "../clock-redating.ts";
import { SpendingTable } from "../spending.ts";
import { RestoredTable } from "../restore-detection.ts";
import { createSpecialists } from "../specialists.ts";
import { createNetworkState } from "../network-state.ts";
import type { SqliteStoreOptions } from "../options.ts";
import { createUpkeep } from "../upkeep.ts";
import { createSourceRows, createWatchWriter, type WatchWriter } from "../sources.ts";
import { createAdmission, openAttempts } from "./admission.ts";
import { differences } from "./compare.ts";
import { createPlainDeliveries } from "./deliveries.ts";
import { createFolding } from "./fold.ts";
import { createHistory, createPrune } from "./history.ts";
import { createInbox } from "./inbox.ts";
import { createRows, load } from "./load.ts";
import { createLog, type Observe } from "./log.ts";
import { createChanges, createOutbox } from "./outbox.ts";
import { createOwed } from "./obligations.ts";
import { createRecovery } from "./recovery.ts";
import { createRuns } from "./runs.ts";
import { createDues, createSources, type Dues } from "./sources.ts";
import { createSpokenWords } from "./words.ts";

export interface FactStoreOptions extends SqliteStoreOptions {
  readonly observe?: Observe;
  /** Given once what answers where memory and rows differ. For tests, which want them equal. */
  readonly onOpened?: (differences: () => readonly string[]) => void;
  /** Called after each commit. */
  readonly onCommitted?: () => void;
}

/** Opens a store for writing. Throws `Misconfigured` when the file cannot be used. */
export function openFactStore(options: FactStoreOptions): Store {
  const { clock, random } = options;
  const database: OpenDatabase = options.database ?? openDatabase(options.path, { ...options, facts: true });
  const { db } = database;
  const isFile = options.database === undefined && options.path !== MEMORY;
  const path = isFile ? options.path : undefined;
  const rows = createRows(db);
  const { present, uncounted, told } = load(rows);
  const guardian = new ControlTable(db);
  const spending = new SpendingTable(db, { zone: options.zone ?? (() => "UTC") });
  const restored = new RestoredTable(db, path);
  const quota: QuotaTable = new QuotaTable(db, {
    random,
    ...(options.lateLandingMs === undefined ? {} : { lateLandingMs: options.lateLandingMs }),
    open: { of: (key, except) => present.attemptsOf(key, except), all: () => present.attempts.values() },
    onFlush: () => folding.countedAll(),
  });
  for (const { attempt, countedAt } of uncounted) quota.replay(attempt.key, attempt.lane, attempt.cost, countedAt);
  const forget = (): void => {
    for (const table of [quota, spending, guardian, restored]) table.forget();
    stored.forgetDeliveries();
    dues.forgetAll();
    debts.forget();
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
  const folding = createFolding(db, {
    present,
    flushQuota: () => quota.flush(),
    flushCounts: () => deliveries.flushCounts(),
  });
  const dues = createDues(db);
  const debts = createOwed(db, present);
  const redating = createRedating(db, quota, createRedateRows(db, "limited_use"));
  const { intents } = rows;
  const changes = createChanges({ present, commits, log, intents, spending }, () => ({ insertEvent: inbox.insertEvent, writer }));
  const writer = watched(
    createWatchWriter(db, (now) => changes.wake("obligations_full", now)),
    dues,
    debts,
  );
  const { fold } = folding;
  const inbox = createInbox(db, { present, commits, log, writer, rows, fold });
  const { insertEvent, hasRoomForEvents, endUnbegun, ...inboxStore } = inbox;
  const stored = createDeliveries(db, commits, { insertEvent, hasRoomForEvents });
  const deliveries = createPlainDeliveries(db, { commits, inbox, stored, dues, onNudged: () => debts.forget(), told });
  const { pruneDeliveries, forgetDeliveries: _f, flushCounts: _c, pendingCounts, ...deliveryStore } = deliveries;
  options.onOpened?.(() => differences(rows, { present, cells: quota.pendingCells, counts: pendingCounts() }));
  const recover = createRecovery(db, { present, log, quota, redating, restored });
  const prune = createPrune(db);
  const sources = createSourceRows(db, commits);
  const guarded = createKeyTables(db, commits, {
    quota,
    spending,
    guardian,
    applyChange: changes.applyChange,
    owed: debts.owed,
    payable: changes.payable,
    proposed(intent) {
      const live = present.byId(intent);
      return live?.state === "proposed" ? live.seq : undefined;
    },
    openAttempts: () => openAttempts(present),
  });
  return {
    ...inboxStore,
    ...deliveryStore,
    ...createRuns(db, { present, commits, log, intents, words: createSpokenWords(db, present), insertEvent, guardian, restored }),
    ...createOutbox(db, { present, commits, log, intents, changes, fold }),
    ...sources,
    postponeWatches(specialist, now, until) {
      dues.forget(specialist);
      debts.forget();
      return sources.postponeWatches(specialist, now, until);
    },
    ...createSources(db, present, dues),
    ...createAdmission(db, { present, commits, log, quota, redating, spending, guardian, owed: debts.owed, changes, insertEvent, writer }),
    ...guarded,
    registerKey(handle, key, limits, now) {
      debts.forget();
      return guarded.registerKey(handle, key, limits, now);
    },
    ...createSpecialists(db, commits),
    ...createHistory(db, { present, commits, rows, fold }),
    ...createNetworkState(db, commits),
    ...createUpkeep(db, commits, path, () => clock.now()),
    async recover(now, firstCheckMs) {
      dues.forgetAll();
      const recovered = commits.add(() => recover(now, firstCheckMs));
      await commits.synced();
      restored.noteBeat();
      return recovered;
    },
    async prune(now, retention) {
      if (isFile) {
        await commits.hard(() => restored.beat(now));
        restored.noteBeat();
      }
      return commits.add(() => {
        fold();
        // Ledgers forget by their own time: a wall clock set forward must not free what still counts.
        const ledger = quota.earliest(Math.min(now, quota.seenAt()));
        quota.evict(ledger); // keys nobody used for a day need no place in memory
        const spent = quota.prune(ledger, 100) + spending.prune(ledger);
        return prune(now, retention) + pruneDeliveries(now) + spent + guardian.prune(now) + spending.expire(now);
      });
    },
    async close() {
      try {
        if (!commits.lost) {
          endUnbegun(clock.now());
          commits.add(fold);
          await commits.synced(); // what is queued is written first
        }
      } finally {
        await database.checkpoints?.stop();
        if (options.database === undefined) database.close();
      }
    },
  };
}

/** What is kept of sources and followed objects is read again once they change. */
function watched(writer: WatchWriter, dues: Dues, debts: { forget(): void }): WatchWriter {
  return {
    cursor(write, now) {
      dues.forget(write.specialist);
      writer.cursor(write, now);
    },
    watch(write: WatchWrite, now: number) {
      dues.forget(write.specialist);
      if (write.kind === "job") debts.forget();
      writer.watch(write, now);
    },
  };
}
