/** The store in one SQLite file: what happened are rows inserted once, the present is in memory, and every write is in a grouped commit. */
import type { WatchWrite } from "../../contract/event.ts";
import { ledgerOf, type Ledger } from "../ledger.ts";
import type { PeopleReads } from "../people-reads.ts";
import type { Store } from "../store.ts";
import { createDeliveries, type Deliveries } from "./delivery-rows.ts";
import { createApprovals, createKeyTables } from "./controls.ts";
import { createHolds } from "./holds.ts";
import { createNetworkState } from "./network-state.ts";
import { pruneLedgers } from "./prune-ledgers.ts";
import { createSourceRows, createWatchWriter, type WatchWriter } from "./sources.ts";
import { createSpecialists } from "./specialists.ts";
import { createUpkeep } from "./upkeep.ts";
import { createAdmission, openAttempts, writesInDoubt } from "./admission.ts";
import { differences } from "./compare-memory.ts";
import { openFoundation, type Foundation } from "./foundation.ts";
import type { SqliteStoreOptions } from "./store-options.ts";
import { createPlainDeliveries } from "./deliveries.ts";
import { createDueWork } from "./due-work.ts";
import { createOrders } from "./orders.ts";
import { createPeopleReads, createReadTable, readIn, type Read } from "./people-reads.ts";
import { createPrune } from "./prune.ts";
import { Reader } from "./reader.ts";
import { OWN_NUMBERS } from "./numbers.ts";
import { BATCH, createRollUp } from "./roll-up.ts";
import { createInbox, type Inbox } from "./inbox.ts";
import { createChanges, createOutbox, type Changes } from "./outbox.ts";
import { createRecovery } from "./recovery.ts";
import { createRuns } from "./runs.ts";
import { createSpokenWords } from "./spoken-words.ts";

/** Parts that change events and intents for others. */
interface Parts {
  readonly changes: Changes;
  readonly writer: WatchWriter;
  readonly inbox: Inbox;
  readonly deliveries: Deliveries;
}

/** Opens a store for writing. Throws `Misconfigured` if the file cannot be used. */
export function openSqliteStore(options: SqliteStoreOptions): Store {
  const core = openFoundation(options);
  const { db, path, readPath, rows, present, quota, commits, dues, foldNow, guardian, restored, spending, log, debts } = core;
  const { here, reads, reader, readHere } = createReads(core, options);
  const { changes, writer, inbox, deliveries } = createParts(core);
  const { insertEvent, hasRoomForEvents: _h, endUnbegun: _e, ...inboxStore } = inbox;
  const { pruneDeliveries: _p, forgetDeliveries: _f, ...deliveryStore } = deliveries;
  options.onOpened?.(() => differences(rows, { present, cells: quota.pendingCells }));
  const { intents } = rows;
  const { owed, soon } = debts;
  const createLedger = (): Ledger => ({
    ...createAdmission(db, { present, commits, log, quota, spending, guardian, owed, soon, changes, insertEvent, writer }),
    ...createHolds({ commits, spending, guardian, changes }),
    ...createControls(core, changes, (now, handle) => reads.money(now, handle)),
    ...createUpkeep(db, commits, path ?? readPath, () => options.clock.now()),
    beginLedger: async (now) => {
      commits.add(() => quota.begin(now));
      await commits.synced();
    },
    passTime: async (now) => {
      if (!commits.lost) commits.add(() => quota.passTime(now));
    },
  });
  return {
    ...here,
    reads,
    readHere,
    ...inboxStore,
    ...deliveryStore,
    ...createRuns(db, { present, commits, log, intents, words: createSpokenWords(db, present), insertEvent, guardian, restored }),
    ...createOutbox(db, { present, commits, log, intents, changes, foldNow }),
    ...createLooks(core),
    ...createDueWork(db, present, dues),
    ...(options.ledger === undefined ? createLedger() : ledgerOf(options.ledger)),
    ...createApprovals(commits, { guardian, changes }),
    ...createSpecialists(db, commits),
    ...createOrders(db, commits, core.numbers),
    ...createNetworkState(db, commits),
    ...createLife(core, { inbox, deliveries, reader }, options),
  };
}

/** The reads of the process itself, and those for people: beside its work if the store has a file that others can read. */
function createReads({ db, readPath, commits, present, foldNow }: Foundation, { clock, readsBeside = false }: SqliteStoreOptions) {
  const table = createReadTable(db);
  const read: Read = async (name, given) => {
    foldNow();
    return readIn(table, name, given);
  };
  const here = createPeopleReads(read, present);
  if (!readsBeside || readPath === undefined) return { here, reads: here, reader: undefined, readHere: () => undefined };
  const reader = new Reader({ path: readPath, clock });
  let isBeside = true;
  const readBeside: Read = async (name, given) => {
    if (!isBeside) return read(name, given);
    foldNow();
    if (!commits.lost) await commits.committed(); // another connection sees nothing earlier
    return reader.read(name, given);
  };
  return { here, reads: createPeopleReads(readBeside, present), reader, readHere: () => void (isBeside = false) };
}

function createParts({
  db,
  present,
  commits,
  log,
  rows,
  spending,
  dues,
  debts,
  cursors,
  foldNow,
  deliveries: late,
  numbers,
}: Foundation): Parts {
  const changes = createChanges({ present, commits, log, intents: rows.intents, spending }, () => ({
    insertEvent: (event, now) => inbox.insertEvent(event, now),
    writer,
  }));
  const plain = createWatchWriter(db, cursors, (now) => changes.wake("obligations_full", now));
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
  const inbox: Inbox = createInbox(db, { present, commits, log, writer, rows, foldNow });
  const { insertEvent, hasRoomForEvents } = inbox;
  const stored = createDeliveries(db, commits, { insertEvent, hasRoomForEvents, numbers });
  const deliveries = createPlainDeliveries(db, { commits, inbox, stored, dues, onNudged: () => debts.forget() });
  late.forget = stored.forgetDeliveries;
  return { changes, writer, inbox, deliveries };
}

function createLooks({ db, commits, cursors, dues, debts }: Foundation) {
  const sources = createSourceRows(db, commits, cursors);
  return {
    ...sources,
    postponeWatches(...[specialist, now, until, alike]: Parameters<Store["postponeWatches"]>) {
      dues.forget(specialist);
      debts.forget();
      return sources.postponeWatches(specialist, now, until, alike);
    },
  };
}

function createControls(
  { db, commits, quota, spending, guardian, present, debts }: Foundation,
  { payable }: Changes,
  money: PeopleReads["money"],
) {
  const controls = createKeyTables(db, commits, {
    quota,
    spending,
    guardian,
    payable,
    money,
    owed: debts.owed,
    inFlight: { openAttempts: async () => openAttempts(present), writesInDoubt: async () => writesInDoubt(present) },
  });
  return {
    ...controls,
    registerKey(...[handle, key, limits, now]: Parameters<Store["registerKey"]>) {
      debts.forget();
      return controls.registerKey(handle, key, limits, now);
    },
  };
}

interface LifeParts {
  readonly inbox: Inbox;
  readonly deliveries: Deliveries;
  readonly reader: Reader | undefined;
}

/** Recovery, roll-ups, pruning and closing. */
function createLife(
  { db, path, numbers, present, log, quota, restored, dues, commits, folding, spending, guardian, close }: Foundation,
  { inbox, deliveries: { pruneDeliveries }, reader }: LifeParts,
  { clock, ledger, rollsUpAtEnd = numbers !== OWN_NUMBERS }: SqliteStoreOptions,
): Pick<Store, "recover" | "rollUp" | "prune" | "pastOf" | "awaitsPast" | "requireCurrent" | "close"> {
  /** Events up to this number may have ended an earlier process, until they are recovered. */
  let unrecovered = present.last;
  const recover = createRecovery(db, { present, log, quota, spending, restored });
  const prune = createPrune(db);
  const rolling = createRollUp(db, present);
  return {
    async recover(now, firstCheckMs, capped = []) {
      dues.forgetAll();
      await ledger?.beginLedger(now);
      const recovered = commits.add(() => recover(now, firstCheckMs, capped));
      unrecovered = 0;
      await commits.synced();
      restored.noteBeat();
      return recovered;
    },
    async rollUp() {
      if (commits.lost || rolling.left < BATCH) return false;
      commits.add(rolling.roll);
      await commits.committed();
      return true;
    },
    async prune(now, retention) {
      if (path !== undefined) {
        await commits.hard(() => restored.beat(now));
        restored.noteBeat();
      }
      return commits.add(() => {
        folding.fold();
        rolling.roll();
        return pruneLedgers({ quota, spending, guardian }, now) + prune(now, retention) + pruneDeliveries(now) + rolling.prune(now);
      });
    },
    pastOf: () => undefined, // all of it is in the file
    awaitsPast: () => false,
    requireCurrent: () => undefined, // its lock ends with the process
    async close() {
      await reader?.close();
      try {
        if (commits.lost) return;
        inbox.endUnbegun(unrecovered, clock.now());
        commits.add(folding.foldToEnd);
        if (rollsUpAtEnd) commits.add(rolling.rollAll); // the next store may have other rows beside them
        await commits.synced(); // queued writes come first
      } finally {
        await close();
      }
    },
  };
}
