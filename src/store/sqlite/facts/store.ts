/** The store over facts: what happened is a row that is inserted once, what is the case now is in memory. */
import type { WatchWrite } from "../../../contract/event.ts";
import { ledgerOf } from "../../ledger.ts";
import type { Ledger, Store } from "../../store.ts";
import { createDeliveries } from "../deliveries.ts";
import { createApprovals, createKeyTables } from "../keys.ts";
import { createNetworkState } from "../network-state.ts";
import { pruneLedgers } from "../prune-ledgers.ts";
import { createSourceRows, createWatchWriter, type WatchWriter } from "../sources.ts";
import { createSpecialists } from "../specialists.ts";
import { createUpkeep } from "../upkeep.ts";
import { createAdmission, openAttempts } from "./admission.ts";
import { differences } from "./compare.ts";
import { openCore, type Core, type FactStoreOptions } from "./core.ts";
import { createPlainDeliveries, type PlainDeliveries } from "./deliveries.ts";
import { createHistory, createPrune } from "./history.ts";
import { createInbox, type Inbox } from "./inbox.ts";
import { createChanges, createOutbox, type Changes } from "./outbox.ts";
import { createRecovery } from "./recovery.ts";
import { createRuns } from "./runs.ts";
import { createSources } from "./sources.ts";
import { createSpokenWords } from "./words.ts";

/** The index that holds proposed intents, and its states. */
const LIVE = { index: "intent_live", states: "'proposed', 'ready', 'sending', 'in_doubt'" };

/** What changes events and intents from more than one part. */
interface Parts {
  readonly changes: Changes;
  readonly writer: WatchWriter;
  readonly inbox: Inbox;
  readonly deliveries: PlainDeliveries;
}

/** Opens a store for writing. Throws `Misconfigured` when the file cannot be used. */
export function openFactStore(options: FactStoreOptions): Store {
  const core = openCore(options);
  const { db, path, rows, present, quota, commits, dues, settle, guardian, restored, spending, redating, log, debts } = core;
  const { changes, writer, inbox, deliveries } = createParts(core);
  const { insertEvent, hasRoomForEvents: _h, endUnbegun: _e, ...inboxStore } = inbox;
  const { pruneDeliveries: _p, forgetDeliveries: _f, flushCounts: _c, pendingCounts, ...deliveryStore } = deliveries;
  options.onOpened?.(() => differences(rows, { present, cells: quota.pendingCells, counts: pendingCounts() }));
  const { intents } = rows;
  const { owed } = debts;
  const { applyChange } = changes;
  const createLedger = (): Ledger => ({
    ...createAdmission(db, { present, commits, log, quota, redating, spending, guardian, owed, changes, insertEvent, writer }),
    ...createControls(core, changes),
    ...createUpkeep(db, commits, path, () => options.clock.now()),
    beginLedger: async (now) => {
      commits.add(() => {
        quota.flush(); // what earlier processes counted is in rows before the clock is judged
        redating.begin(now);
      });
      await commits.synced();
    },
  });
  return {
    ...inboxStore,
    ...deliveryStore,
    ...createRuns(db, { present, commits, log, intents, words: createSpokenWords(db, present), insertEvent, guardian, restored }),
    ...createOutbox(db, { present, commits, log, intents, changes, settle }),
    ...createLooks(core),
    ...createSources(db, present, dues),
    ...(options.ledger === undefined ? createLedger() : ledgerOf(options.ledger)),
    ...createApprovals(db, commits, { guardian, applyChange, settle, waitingIn: LIVE }),
    ...createSpecialists(db, commits),
    ...createHistory(db, { present, rows, settle }),
    ...createNetworkState(db, commits),
    ...createLife(core, inbox, deliveries, options),
  };
}

function createParts({ db, present, commits, log, rows, spending, dues, debts, settle, told, deliveries: late }: Core): Parts {
  const changes = createChanges({ present, commits, log, intents: rows.intents, spending }, () => ({
    insertEvent: (event, now) => inbox.insertEvent(event, now),
    writer,
  }));
  const plain = createWatchWriter(db, (now) => changes.wake("obligations_full", now));
  // What is kept of sources and followed objects is read again once they change.
  const writer: WatchWriter = {
    cursor(write, now) {
      dues.forget(write.specialist);
      plain.cursor(write, now);
    },
    watch(write: WatchWrite, now: number) {
      dues.forget(write.specialist);
      if (write.kind === "job") debts.forget();
      plain.watch(write, now);
    },
  };
  const inbox: Inbox = createInbox(db, { present, commits, log, writer, rows, settle });
  const { insertEvent, hasRoomForEvents } = inbox;
  const stored = createDeliveries(db, commits, { insertEvent, hasRoomForEvents });
  const deliveries = createPlainDeliveries(db, { commits, inbox, stored, dues, onNudged: () => debts.forget(), told });
  late.flushCounts = deliveries.flushCounts;
  late.forget = stored.forgetDeliveries;
  return { changes, writer, inbox, deliveries };
}

function createLooks({ db, commits, dues, debts }: Core) {
  const sources = createSourceRows(db, commits);
  return {
    ...sources,
    postponeWatches(...[specialist, now, until]: Parameters<Store["postponeWatches"]>) {
      dues.forget(specialist);
      debts.forget();
      return sources.postponeWatches(specialist, now, until);
    },
  };
}

function createControls({ db, commits, quota, spending, guardian, present, debts }: Core, { payable }: Changes) {
  const controls = createKeyTables(db, commits, {
    quota,
    spending,
    guardian,
    payable,
    owed: debts.owed,
    openAttempts: () => openAttempts(present),
  });
  return {
    ...controls,
    registerKey(...[handle, key, limits, now]: Parameters<Store["registerKey"]>) {
      debts.forget();
      return controls.registerKey(handle, key, limits, now);
    },
  };
}

/** Its start, its care and its end. */
function createLife(
  { db, path, present, log, quota, redating, restored, dues, commits, folding, spending, guardian, close }: Core,
  inbox: Inbox,
  { pruneDeliveries }: PlainDeliveries,
  { clock, ledger }: FactStoreOptions,
): Pick<Store, "recover" | "prune" | "close"> {
  const recover = createRecovery(db, { present, log, quota, redating, restored });
  const prune = createPrune(db);
  return {
    async recover(now, firstCheckMs) {
      dues.forgetAll();
      await ledger?.beginLedger(now);
      const recovered = commits.add(() => recover(now, firstCheckMs));
      await commits.synced();
      restored.noteBeat();
      return recovered;
    },
    async prune(now, retention) {
      if (path !== undefined) {
        await commits.hard(() => restored.beat(now));
        restored.noteBeat();
      }
      return commits.add(() => {
        folding.fold();
        return pruneLedgers({ quota, spending, guardian }, now) + prune(now, retention) + pruneDeliveries(now);
      });
    },
    async close() {
      try {
        if (commits.lost) return;
        inbox.endUnbegun(clock.now());
        commits.add(folding.fold);
        await commits.synced(); // what is queued is written first
      } finally {
        await close();
      }
    },
  };
}
