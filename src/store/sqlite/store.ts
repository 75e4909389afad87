/** The store in one SQLite file: every port over one connection, every write in a grouped commit. */
import type { DatabaseSync } from "node:sqlite";
import { ledgerOf } from "../ledger.ts";
import type { Ledger, Store } from "../store.ts";
import type { MetadataStore } from "../metadata.ts";
import { createAdmission, createRecovery, type AdmissionTables } from "./admission.ts";
import { Commits } from "./commits.ts";
import { MEMORY, openDatabase } from "./database.ts";
import { openFactStore } from "./facts/store.ts";
import { createApprovals, createKeyTables, createOpenRows } from "./keys.ts";
import { createDeliveries, createHasRoom } from "./deliveries.ts";
import { createHistory, createPrune } from "./history.ts";
import { createInbox, createInsertEvent } from "./inbox.ts";
import { ControlTable } from "./controls.ts";
import { createObligations } from "./obligations.ts";
import { pruneLedgers } from "./prune-ledgers.ts";
import { QuotaTable } from "./quota.ts";
import { createRedating } from "./clock-redating.ts";
import { SpendingTable } from "./spending.ts";
import { createApplyChange, createOutbox, createPayable } from "./outbox.ts";
import { RestoredTable } from "./restore-detection.ts";
import type { SqliteStoreOptions } from "./options.ts";
import { createSpecialists } from "./specialists.ts";
import { createRuns } from "./runs.ts";
import { createNetworkState } from "./network-state.ts";
import { createUpkeep } from "./upkeep.ts";
import { createMakeRoom, createSources, createWatchWriter } from "./sources.ts";

/** Opens a store for writing. Throws `Misconfigured` when the file cannot be used. */
export function openSqliteStore(options: SqliteStoreOptions): Store {
  if (options.database === undefined ? options.facts === true : options.database.facts === true) return openFactStore(options);
  const { clock, random } = options;
  const database = options.database ?? openDatabase(options.path, options);
  const { db } = database;
  const zone = options.zone ?? (() => "UTC");
  const quota = new QuotaTable(db, { random, ...(options.lateLandingMs === undefined ? {} : { lateLandingMs: options.lateLandingMs }) });
  const redating = createRedating(db, quota);
  const spending = new SpendingTable(db, { zone });
  const guardian = new ControlTable(db);
  const kept = options.database === undefined && options.path !== MEMORY;
  const restored = new RestoredTable(db, kept ? options.path : undefined);
  const forget = (): void => {
    for (const table of [quota, spending, guardian, restored]) table.forget();
    forgetDeliveries();
  };
  const commits = new Commits(db, {
    soon: (run) => clock.soon(run),
    sync: database.sync,
    onRollback: forget,
    onCommitted: () => database.checkpoints?.committed(clock.monotonic()),
    onLost: (error) => {
      forget();
      options.onLost?.(error);
    },
  });
  const insertEvent = createInsertEvent(db);
  const writer = createWatchWriter(db, createMakeRoom(db));
  const applyChange = createApplyChange(db, { spending, insertEvent, writer });
  const parts = { insertEvent, hasRoomForEvents: createHasRoom(db) };
  const { pruneDeliveries, forgetDeliveries, ...deliveries } = createDeliveries(db, commits, parts);
  const recover = createRecovery(db, quota, redating, restored);
  const prune = createPrune(db);
  const upkeep = createUpkeep(db, commits, kept ? options.path : undefined, () => clock.now());
  const tables = { quota, redating, spending, guardian, applyChange };
  return {
    ...(options.ledger === undefined ? createLedger(db, commits, tables, upkeep) : ledgerOf(options.ledger)),
    ...createInbox(db, commits, insertEvent, writer),
    ...deliveries,
    ...createRuns(db, commits, { insertEvent, guardian, restored }),
    ...createOutbox(db, commits, applyChange),
    ...createSources(db, commits),
    ...createApprovals(db, commits, { guardian, applyChange }),
    ...createSpecialists(db, commits),
    ...createHistory(db),
    ...createNetworkState(db, commits),
    async recover(now, firstCheckMs) {
      await options.ledger?.beginLedger(now);
      const recovered = await commits.hard(() => recover(now, firstCheckMs));
      restored.noteBeat();
      return recovered;
    },
    async prune(now, retention) {
      if (kept) {
        await commits.hard(() => restored.beat(now));
        restored.noteBeat();
      }
      return commits.soft(() => prune(now, retention) + pruneDeliveries(now) + pruneLedgers(tables, now));
    },
    async close() {
      try {
        if (!commits.lost) await commits.hard(() => undefined); // what is queued is written first
      } finally {
        await database.checkpoints?.stop();
        if (options.database === undefined) database.close();
      }
    },
  };
}

function createLedger(db: DatabaseSync, commits: Commits, tables: AdmissionTables, upkeep: MetadataStore): Ledger {
  return {
    ...createAdmission(db, commits, tables),
    ...createKeyTables(db, commits, {
      ...tables,
      owed: createObligations(db),
      payable: createPayable(db),
      openAttempts: createOpenRows(db),
    }),
    ...upkeep,
    beginLedger: (now) => commits.hard(() => tables.redating.begin(now)),
  };
}
