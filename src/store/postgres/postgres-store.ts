/**
 * The store in PostgreSQL: the store of one process, whose file is a working copy and whose disk is the server. Every decision is made as on
 * one machine, in memory and rows of the copy; what a commit changed goes to the server before anything outside relies on it.
 *
 * A store has all shards or some: several stores, of one process or of many, are the whole together. It is a *holder* of its shards, with one
 * connection that writes. A holder that ends in order leaves nothing behind that a start has to read again; one that is lost leaves facts
 * after its mark, which the next holder folds first.
 */
import { placeOf, type PostgresAddress } from "../../config/postgres-address.ts";
import type { Clock } from "../../core/clock.ts";
import { defined } from "../../core/defined.ts";
import { Retryable } from "../../core/errors.ts";
import type { Handle } from "../../core/ids.ts";
import { BrieflyTaken } from "../briefly-taken.ts";
import { MEMORY } from "../sqlite/database.ts";
import { COPIED_AT } from "../sqlite/restore-detection.ts";
import type { SqliteStoreOptions } from "../sqlite/store-options.ts";
import { openSqliteStore } from "../sqlite/store.ts";
import { openWholeFile } from "../sqlite/whole-file.ts";
import type { WorkingCopy } from "../sqlite/working-copy.ts";
import type { Store } from "../store.ts";
import { awaitPast } from "./await-past.ts";
import { NumberBlocks } from "./blocks.ts";
import { ACCOUNTS, CommitGroups } from "./commit-groups.ts";
import { openConnection, type PostgresConnection } from "./open-connection.ts";
import { ALL_SHARDS, asOid, LOCKS, SHARD_LOCKS, takeShards, writerOf, writerPurpose } from "./ownership.ts";
import { guardianAccount } from "./guardian-account.ts";
import { GuardianMoney } from "./guardian-money.ts";
import { loadRows } from "./load-rows.ts";
import { NO_HOLDER, openLocalCopy, requireLocalFolder } from "./local-folder.ts";
import { Past } from "./past.ts";
import { knownVersion } from "./postgres-schema.ts";
import { openWriter, type ReadyWriter, type WriterOptions } from "./ready-writer.ts";
import { livingSettings, sessionTimes, type SessionSettings, type SessionTimes } from "./session-settings.ts";
import { endHolder, groupsOf, newHolder, noteLosers, noteServer, registerHolder, type HolderGroup } from "./holders.ts";
import { shardMap } from "./shard-map.ts";

export interface PostgresStoreOptions extends Omit<SqliteStoreOptions, "path" | "database" | "numbers" | "blocking">, WriterOptions {
  /** Takes those of these shards that are free. Default: all shards, and it is refused if one is not free. */
  readonly shards?: readonly number[];
  /** Gives the session that writes. Default: it is opened. */
  readonly writers?: ReadyWriter;
  /** The machine's clock, by which the age of the session is counted. Default: `clock`. */
  readonly wall?: Clock;
  /** Called if a read has to wait long for the past, and waits on. Default: such a read is refused (`past_unread`). */
  readonly onPastAwaited?: () => void;
}

/** A store of some shards. */
export interface HeldStore {
  readonly store: Store;
  readonly shards: readonly number[];
  /** The living processes that lost them: what they had begun to send may still leave while they are stopped. */
  readonly lostBy: readonly number[];
  /** What is still being read behind the start. */
  readonly past: Pick<Past, "missing" | "decided">;
  /** True if the specialist belongs to one of them. */
  has(specialist: Handle): boolean;
  /** A specialist that has no rows yet belongs to this shard from now on. */
  place(specialist: Handle, shard: number): void;
  /** Gives the shards up at once: nothing is stored any longer, and no request begins. */
  lose(cause: string): void;
}

/** A session that reads the past waits long for its process, which has the present to do first; it keeps old rows from being removed. */
const PAST_SETTINGS: SessionSettings = { idle_in_transaction_session_timeout: "60s", cursor_tuple_fraction: "1" };

/** Throws `Retryable` or `Misconfigured` if the server cannot be used, and `Retryable` (`store_in_use`) while another process has shards of it. */
export async function openPostgresStore(options: PostgresStoreOptions): Promise<Store> {
  const { readOnly } = options;
  if (readOnly !== undefined) return openForReading(options);
  const held = await openShards(options);
  if (held !== undefined && held.shards.length === ALL_SHARDS.length) return held.store;
  await held?.store.close();
  throw await storeInUse(options);
}

/** The error of a store whose shards another process has, or another command. */
export async function storeInUse(options: PostgresStoreOptions): Promise<Retryable> {
  const owners = await ownersOf(options);
  if (owners.some(({ isCommand }) => !isCommand))
    return new Retryable("store_in_use", `another runtime has the store: ${owners.map(({ name }) => name).join("; ")}`, {
      hint: `give the order in the project of a running process, or end the processes first: retinue fleet lists those on ${placeOf(options.address)}`,
    });
  return owners.length === 0
    ? new BrieflyTaken("another runtime has the store: it has just started, or ended", { hint: "repeat the command" })
    : new BrieflyTaken("another command has the store", {
        hint: "repeat yours when that one has ended; a retinue run --dry-run has the store for as long as it runs",
      });
}

/** Opens those of the shards that are free; undefined if none is. Throws as `openPostgresStore` does. */
export async function openShards(options: PostgresStoreOptions): Promise<HeldStore | undefined> {
  const { address, shards: wanted = ALL_SHARDS } = options;
  const times = sessionTimes(address.sessionTimeoutMs);
  const { schema } = address;
  requireLocalFolder(address);
  const connection = await (options.writers?.take() ?? openWriter(options));
  connection.requireAnswers(times.answerMs); // a server that is gone would hold up the next try for a quarter of an hour
  try {
    const [shards] = await Promise.all([takeShards(connection, { schema, wanted, times }), knownVersion(connection, schema)]);
    if (shards.length === 0) {
      await connection.close();
      options.writers?.prepare();
      return undefined;
    }
    const [, before] = await Promise.all([noteLosers(connection, schema, shards), groupsOf(connection, schema, shards)]);
    const left = before.filter(({ isClosed }) => !isClosed);
    for (const group of left) await fold({ connection, group, options, times });
    const [group] = left.length === 0 ? before : await groupsOf(connection, schema, shards);
    if (group === undefined) throw new Retryable("store_in_use", "a shard has changed hands meanwhile");
    const lostBy = [...new Set(before.flatMap((one) => one.lostBy))];
    const holder = await openHolder({ connection, group, options, times });
    options.writers?.prepare(); // not after a failure: the next try would wait for it
    return { ...holder, lostBy };
  } catch (error) {
    await connection.close();
    throw error;
  }
}

interface Holding {
  readonly connection: PostgresConnection;
  readonly group: HolderGroup;
  readonly options: PostgresStoreOptions;
  readonly times: SessionTimes;
}

/** Writes what a lost holder left after its mark. Nothing is decided: open requests stay open, for whoever starts. */
async function fold(holding: Holding): Promise<void> {
  const { onLost: _l, onOpened: _o, observe: _f, ...options } = holding.options;
  const { end } = await openHolding({ ...holding, options }, MEMORY);
  await end();
}

async function openHolder(holding: Holding): Promise<Omit<HeldStore, "lostBy">> {
  const { connection, options, group } = holding;
  const { address, clock } = options;
  const { store, end, shardOf, place, copy, fail } = await openHolding(holding, address.localFile);
  const shards = new Set(group.shards);
  const past = new Past({
    connect: () => openConnection({ address, purpose: "past", settings: PAST_SETTINGS }),
    copy,
    schema: address.schema,
    shards: group.holders.length === 0 ? [] : group.shards, // nobody had them yet
    shardOf,
    onFailed: fail,
  });
  past.start();
  return {
    shards: group.shards,
    has: (specialist) => shards.has(shardOf(specialist)),
    place,
    lose(cause) {
      fail(cause);
      void connection.close();
    },
    past,
    store: {
      ...awaitPast(store, past, defined({ clock, onAwaited: options.onPastAwaited })),
      async recover(...given) {
        const recovered = await store.recover(...given);
        await noteServer(connection, options.address.schema, group.shards); // a copy is recognised again until it is recovered
        return recovered;
      },
      async close() {
        past.close();
        try {
          await end();
        } finally {
          await connection.close();
        }
      },
    },
  };
}

interface Opened {
  readonly store: Store;
  readonly copy: WorkingCopy;
  readonly shardOf: (specialist: Handle) => number;
  readonly place: HeldStore["place"];
  /** Ends the store, because something that it needs is lost. */
  readonly fail: (cause: unknown) => void;
  readonly end: () => Promise<void>;
}

async function openHolding(holding: Holding, file: string): Promise<Opened> {
  const { connection, group, options, times } = holding;
  const { address, clock } = options;
  const { schema } = address;
  const numbers = new NumberBlocks(connection, schema);
  const [holder] = await Promise.all([newHolder(connection, schema), numbers.renew()]);
  await registerHolder(connection, { schema, group, holder, process: options.process ?? 0, now: clock.now(), numbers });
  const copy = openLocalCopy(file, holder);
  const connect = (): Promise<PostgresConnection> => openConnection({ address, purpose: "money", settings: livingSettings(times) });
  const money = new GuardianMoney({ schema, holder, clock, times, connect });
  try {
    return await openHolderStore(holding, { holder, numbers, copy, money });
  } catch (error) {
    copy.close();
    await money.close();
    throw error;
  }
}

interface HolderParts {
  readonly holder: number;
  readonly numbers: NumberBlocks;
  readonly copy: WorkingCopy;
  readonly money: GuardianMoney;
}

async function openHolderStore(
  { connection, group, options, times }: Holding,
  { holder, numbers, copy, money }: HolderParts,
): Promise<Opened> {
  const { clock, address } = options;
  const { schema } = address;
  const { keys, placements, hasHolds } = await loadRows(connection, { schema, copy, group, holder, now: clock.now() });
  if (group.copiedAt !== undefined) copy.load("meta", [{ name: COPIED_AT, value: String(group.copiedAt) }]);
  const shards = shardMap({ keys, placements, copy, home: group.shards[0] ?? 0 });
  if (hasHolds) await money.listen();
  const groups = new CommitGroups({ connection, copy, clock, wall: options.wall ?? clock, shards, times, holder, schema });
  let isLost = false;
  const store = openSqliteStore({
    ...options,
    path: MEMORY,
    database: copy.database({ committed: () => groups.committed(), sync: () => groups.sync(), failure: groups.failure }),
    numbers,
    shared: money,
    onLost(error) {
      isLost = true;
      options.onLost?.(error);
    },
  });
  return {
    store: {
      ...store,
      ...claiming(store, money),
      requireCurrent: () => groups.requireCurrent(),
      async backup(path) {
        await groups.sync();
        await store.backup(path);
        await addAccount(path, address);
      },
    },
    copy,
    shardOf: shards.ofSpecialist,
    place: (specialist, shard) => void placements.set(specialist, shard),
    fail: (cause) => groups.fail(cause),
    async end() {
      try {
        try {
          await store.close();
          if (!groups.isLost) await groups.sync();
        } finally {
          await money.close();
        }
        if (!isLost && !groups.isLost) await endHolder(connection, schema, holder, clock.now());
      } finally {
        groups.close();
        copy.close();
      }
    },
  };
}

/** The working copy has this holder's part of the Guardian's account: a copy of the store gets the sum of all. */
async function addAccount(path: string, address: PostgresAddress): Promise<void> {
  const account = await guardianAccount(address);
  const whole = openWholeFile(path);
  try {
    whole.put(ACCOUNTS, account);
  } finally {
    whole.close();
  }
}

/** Admission with a grant of the Guardian's money, where its caps are to be kept. */
function claiming(store: Store, money: GuardianMoney): Pick<Store, "admit" | "openHold"> {
  return {
    async admit(admit, decide) {
      const { price } = admit.request;
      if (price.kind !== "priced") return store.admit(admit, decide);
      const claimed = await money.claim(price.worst, admit.known.caps ?? []);
      const admitted = store.admit(admit, decide); // it decides at once
      claimed();
      return admitted;
    },
    async openHold(wanted, decide) {
      const claimed = await money.claim(wanted.hold.money, wanted.known.caps);
      const held = store.openHold(wanted, decide);
      claimed();
      return held;
    },
  };
}

/** The rows of now, in a copy that takes no writes. */
async function openForReading(options: PostgresStoreOptions): Promise<Store> {
  const { address, clock } = options;
  requireLocalFolder(address);
  const connection = await openWriter(options);
  const copy = openLocalCopy(address.localFile, NO_HOLDER);
  try {
    const group = { shards: ALL_SHARDS, holders: [], lostBy: [], isClosed: false, copiedAt: undefined };
    await loadRows(connection, { schema: address.schema, copy, group, holder: undefined, now: clock.now() });
    copy.load(ACCOUNTS, await guardianAccount(address));
  } finally {
    await connection.close();
  }
  const store = openSqliteStore({ ...options, path: MEMORY, database: { ...copy.asRead(), isCopy: true } });
  return {
    ...store,
    async close() {
      await store.close();
      copy.close();
    },
  };
}

interface Owner {
  readonly name: string;
  readonly isCommand: boolean;
}

/** The processes and commands that have shards now, by name. */
async function ownersOf({ address }: PostgresStoreOptions): Promise<readonly Owner[]> {
  const connection = await openConnection({ address, purpose: "check" });
  try {
    const rows = await connection.query({
      text: `SELECT DISTINCT a.application_name = 'retinue ${writerPurpose(0)}' AS command, coalesce(p.name, 'a process') AS name, p.started_at
        FROM (SELECT DISTINCT l.pid FROM ${LOCKS} WHERE l.classid::bigint = ${asOid(SHARD_LOCKS)}) AS holding
        JOIN pg_stat_activity a ON a.pid = holding.pid
        LEFT JOIN ${address.schema}.process p ON a.application_name = ${writerOf("p.number")} ORDER BY 1, 2`,
      values: [address.schema],
    });
    return rows.map(({ command, name, started_at: at }) => ({
      name: command === true ? "a command" : at === null ? String(name) : `${String(name)}, since ${new Date(Number(at)).toISOString()}`,
      isCommand: command === true,
    }));
  } finally {
    await connection.close();
  }
}
