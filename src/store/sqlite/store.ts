/** The store in one SQLite file: every interface over one connection, every write in a grouped commit. */
import type { DatabaseSync } from "node:sqlite";
import type { Clock } from "../../core/clock.ts";
import type { Fatal, RetinueError } from "../../core/errors.ts";
import type { Random } from "../../core/random.ts";
import { ledgerOf } from "../ledger.ts";
import type { Ledger, Store } from "../store.ts";
import type { MetadataStore } from "../metadata.ts";
import { createAdmission, createRecovery, type AdmissionTables } from "./admission.ts";
import { Commits } from "./commits.ts";
import { MEMORY, openDatabase, openReadOnlyDatabase, type DatabaseOptions, type OpenDatabase } from "./database.ts";
import { createApprovals, createKeyTables } from "./keys.ts";
import { createDeliveries } from "./deliveries.ts";
import { createHistory, createPrune } from "./history.ts";
import { createInbox, createInsertEvent } from "./inbox.ts";
import { ControlTable } from "./controls.ts";
import { QuotaTable } from "./quota.ts";
import { createRedating } from "./clock-redating.ts";
import { SpendingTable } from "./spending.ts";
import { createApplyChange, createOutbox } from "./outbox.ts";
import { RestoredTable } from "./restore-detection.ts";
import { createSpecialists } from "./specialists.ts";
import { createRuns } from "./runs.ts";
import { createNetworkState } from "./network-state.ts";
import { createUpkeep } from "./upkeep.ts";
import { createSources, createWatchWriter } from "./sources.ts";

export interface SqliteStoreOptions extends DatabaseOptions {
  /** A file, or `:memory:`. */
  readonly path: string;
  /** An open database instead of the path; left open at the end. For simulated processes, which share one disk. */
  readonly database?: OpenDatabase;
  readonly clock: Clock;
  readonly random: Random;
  /** The Guardian's IANA time zone. Default UTC. */
  readonly zone?: () => string;
  /** Time after its deadline in which a request may still count, from the network's profile. */
  readonly lateLandingMs?: number;
  /** The ledger of another store, in place of its own: for a dry run, whose reads are charged to the project's. */
  readonly ledger?: Ledger;
  /** Set if the store can only be read: the error of every write. It is opened without a lock, beside its user. */
  readonly readOnly?: RetinueError;
  /** Called once when a commit fails: nothing can be stored, so nothing may be sent. */
  readonly onLost?: (error: Fatal) => void;
}

/**
 * Opens a store, for writing unless it says otherwise. Throws `Misconfigured` if the file cannot be used, `Retryable` (`store_unwritable`)
 * if its disk takes no writes.
 */
export function openSqliteStore(options: SqliteStoreOptions): Store {
  const { clock, random, readOnly } = options;
  const database = options.database ?? (readOnly === undefined ? openDatabase(options.path, options) : openReadOnlyDatabase(options.path));
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
    readOnly,
    onRollback: forget,
    onCommitted: () => database.checkpoints?.committed(clock.monotonic()),
    onLost: (error) => {
      forget();
      options.onLost?.(error);
    },
  });
  const insertEvent = createInsertEvent(db);
  const writer = createWatchWriter(db);
  const applyChange = createApplyChange(db, { spending, insertEvent, writer });
  const { pruneDeliveries, forgetDeliveries, ...deliveries } = createDeliveries(db, commits, insertEvent);
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
      return commits.soft(() => prune(now, retention) + pruneDeliveries(now) + pruneLedger(tables, now));
    },
    async close() {
      try {
        if (!commits.lost) await commits.hard(() => undefined); // queued writes come first
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
    ...createKeyTables(db, commits, tables),
    ...upkeep,
    beginLedger: (now) => commits.hard(() => tables.redating.begin(now)),
  };
}

function pruneLedger({ quota, spending, guardian }: AdmissionTables, now: number): number {
  // Ledgers prune by their own time: a wall clock set forward must not free what still counts.
  const ledger = quota.earliest(Math.min(now, quota.seenAt()));
  quota.evict(ledger); // keys unused for a day leave the memory
  return quota.prune(ledger, 100) + spending.prune(ledger) + guardian.prune(now) + spending.expire(now);
}
