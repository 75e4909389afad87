/**
 * Groups commits: writes of one turn of the event loop, or of the time the disk works, share one transaction, and one fsync serves all that
 * wait.
 *
 * Every write runs at once, in the open transaction; it is committed at the end of the turn, or of the running fsync. The strength of a
 * write defines when its promise resolves:
 *
 * - *soft*: immediately. It survives the end of the process from the next commit on, and a power cut from the next fsync on. All commits
 * share one log in order, so nothing outside can have relied on a soft row that was lost: only work that can be repeated unnoticed is soft.
 * - *counted*: after the commit. It counts work that may end the process.
 * - *hard*: after the commit and an fsync of the log. Something outside is about to rely on it, such as a socket that opens or a delivery
 * that is acknowledged.
 *
 * The fsync is ours and not SQLite's (`synchronous = NORMAL`), and runs beside the event loop: it takes a disk from 0.1 to 10 ms, in which
 * the next transaction grows. That one is committed when the disk is free again: a commit costs by the pages it writes, and events that
 * share one share pages.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { Fatal, messageOf, type RetinueError } from "../../core/errors.ts";
import { isStoreLost } from "../store-lost.ts";
import type { ChangeRecorder } from "./row-changes.ts";

export interface CommitsOptions {
  /** Runs a function at the end of the present turn of the event loop. */
  readonly soon: (run: () => void) => void;
  /** Resolves when every earlier commit is on disk. Undefined without a disk. */
  readonly sync: (() => Promise<void>) | undefined;
  /** Called when a COMMIT or an fsync failed: cached rows are then invalid. */
  readonly onLost: (error: Fatal) => void;
  /** Called when one operation was rolled back while the others of its group went on. */
  readonly onRollback: () => void;
  /** Records what is written, and forgets what a rollback undoes. */
  readonly recorder?: Pick<ChangeRecorder, "place" | "undone"> | undefined;
  /** Called before each COMMIT, which includes its writes. */
  readonly onCommit?: () => void;
  /** Called after each COMMIT, outside any transaction. */
  readonly onCommitted?: () => void;
  /** Set for a store that can only be read: the error of every write. */
  readonly readOnly?: RetinueError | undefined;
  /** True if a commit ends with the process until it is synced: then *counted* waits for that too. */
  readonly isVolatile?: boolean | undefined;
}

/** A promise of a caller; it is resolved with `value`. */
interface Waiting {
  readonly value: unknown;
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: RetinueError) => void;
}

export class Commits {
  readonly #db: DatabaseSync;
  readonly #options: CommitsOptions;
  readonly #sql: Readonly<Record<"begin" | "commit" | "save" | "release" | "undo", StatementSync>>;
  /** Wait for the next commit. */
  #counted: Waiting[] = [];
  #hard: Waiting[] = [];
  /** Committed, and wait for the next fsync. */
  #unsynced: Waiting[] = [];
  #syncing = false;
  #open = false;
  /** The end of this turn is scheduled. */
  #ending = false;
  /** The due fsync was delayed by a turn. */
  #deferred = false;
  #lost: RetinueError | undefined;
  /** Number of facts and rows added without a way back. */
  #added = 0;

  constructor(db: DatabaseSync, options: CommitsOptions) {
    this.#db = db;
    this.#lost = options.readOnly;
    this.#options = options;
    this.#sql = {
      begin: db.prepare("BEGIN IMMEDIATE"),
      commit: db.prepare("COMMIT"),
      save: db.prepare("SAVEPOINT one"),
      release: db.prepare("RELEASE one"),
      undo: db.prepare("ROLLBACK TO one"),
    };
  }

  /** True once a commit has failed, or if the store can only be read: nothing is accepted then. */
  get lost(): boolean {
    return this.#lost !== undefined;
  }

  /**
   * Resolves with the result of `run`, once it is on disk. `run` is synchronous and atomic. `onWritten` is called before it is on disk:
   * later writes reach the disk after it.
   */
  async hard<Result>(run: () => Result, onWritten?: (result: Result) => void): Promise<Result> {
    const result = this.#now(run);
    onWritten?.(result);
    return waitIn(this.#hard, result);
  }

  /** Resolves before the next commit, which includes it. */
  async soft<Result>(run: () => Result): Promise<Result> {
    return this.#now(run);
  }

  /** Resolves once it is committed, without waiting for the disk. */
  async counted<Result>(run: () => Result): Promise<Result> {
    const result = this.#now(run);
    return waitIn(this.#counted, result);
  }

  /**
   * Runs at once and only adds rows that were decided before: nothing in it can be undone, and a failure loses the store, because memory
   * has changed already.
   */
  add<Result>(run: () => Result): Result;
  /** The same with a value for it: a fact needs no closure of its own. */
  add<Value, Result>(run: (value: Value) => Result, value: Value): Result;
  add<Value, Result>(run: (value: Value | undefined) => Result, value?: Value): Result {
    this.begin();
    this.#added++;
    try {
      return run(value);
    } catch (error) {
      throw this.#lose(error);
    }
  }

  /** Opens a transaction if none is open; it is committed like any other. */
  begin(): void {
    if (this.#lost !== undefined) throw this.#lost;
    if (this.#open) return;
    this.#sql.begin.run();
    this.#open = true;
    this.#atEndOfTurn();
  }

  /** Resolves once all earlier writes are committed, without waiting for the disk. */
  committed(): Promise<void> {
    if (this.#lost !== undefined) return Promise.reject(this.#lost);
    if (this.#open) return waitIn(this.#counted, undefined);
    return this.#options.isVolatile === true ? this.synced() : Promise.resolve();
  }

  /** Resolves with `value` once all earlier writes are on disk. */
  synced(): Promise<void>;
  synced<Value>(value: Value): Promise<Value>;
  synced(value?: unknown): Promise<unknown> {
    if (this.#lost !== undefined) return Promise.reject(this.#lost);
    this.#atEndOfTurn();
    return waitIn(this.#hard, value);
  }

  /** Accepts nothing more: the file is damaged, or what holds it is gone. */
  fail(error: Fatal): void {
    this.#lose(error);
  }

  /** Runs at once, in the open transaction; undone if it throws. */
  undoable<Result>(run: () => Result): Result {
    return this.#now(run);
  }

  #atEndOfTurn(): void {
    if (this.#ending) return;
    this.#ending = true;
    this.#options.soon(() => {
      this.#ending = false;
      this.#endTurn();
    });
  }

  #endTurn(): void {
    if (this.#syncing) return; // the end of the fsync commits
    const freed = this.#counted.length > 0;
    this.#commit();
    if (this.#unsynced.length === 0 || this.#options.sync === undefined) return;
    // Their next writes share this fsync: mostly the request that their event leads to.
    this.#deferred = freed && !this.#deferred;
    if (this.#deferred) this.#atEndOfTurn();
    else void this.#sync(this.#options.sync);
  }

  /** Commits the open transaction. */
  #commit(): void {
    const counted = this.#counted;
    const hard = this.#hard;
    this.#counted = [];
    this.#hard = [];
    if (this.#open) {
      this.#open = false;
      try {
        this.#options.onCommit?.();
        this.#sql.commit.run();
        this.#options.onCommitted?.();
      } catch (error) {
        this.#lose(error);
      }
    }
    const lost = this.#lost;
    if (lost !== undefined) return [...counted, ...hard].forEach(({ reject }) => reject(lost));
    if (this.#options.isVolatile === true) this.#unsynced.push(...counted);
    else for (const { resolve, value } of counted) resolve(value);
    if (this.#options.sync === undefined) return hard.forEach(({ resolve, value }) => resolve(value));
    for (const waiting of hard) this.#unsynced.push(waiting);
  }

  /** Runs one fsync after the other while anything waits: each serves everything committed before it began. */
  async #sync(sync: () => Promise<void>): Promise<void> {
    this.#syncing = true;
    while (this.#unsynced.length > 0) {
      const group = this.#unsynced;
      this.#unsynced = [];
      try {
        await sync();
      } catch (error) {
        this.#lose(error);
      }
      const lost = this.#lost;
      for (const { value, resolve, reject } of group)
        if (lost === undefined) resolve(value);
        else reject(lost);
      this.#commit();
    }
    this.#syncing = false;
  }

  #now<Result>(run: () => Result): Result {
    this.begin();
    this.#sql.save.run();
    const before = this.#added;
    const place = this.#options.recorder?.place ?? 0;
    try {
      const result = run();
      this.#sql.release.run();
      return result;
    } catch (error) {
      // A full or failing disk makes SQLite roll back the whole transaction; and a fact applied to memory cannot be undone.
      if (!this.#db.isTransaction || this.#added !== before) throw this.#lose(error);
      this.#sql.undo.run();
      this.#sql.release.run();
      this.#options.recorder?.undone(place);
      this.#options.onRollback();
      throw error;
    }
  }

  /** A failed commit may have been written or not: nothing more is accepted, because only a restart reads the truth. */
  #lose(cause: unknown): RetinueError {
    if (this.#lost !== undefined) return this.#lost;
    const lost = isStoreLost(cause)
      ? cause
      : new Fatal("store_lost", `the store could not commit: ${messageOf(cause)}`, {
          cause,
          hint: "no more requests are sent; free disk space or repair the disk, then start again",
        });
    this.#lost = lost;
    this.#open = false;
    try {
      if (this.#db.isTransaction) this.#db.exec("ROLLBACK");
    } catch {
      // The connection is useless now; the error to report is the commit's.
    }
    this.#options.recorder?.undone(0);
    this.#options.onLost(lost);
    return lost;
  }
}

function waitIn<Value>(line: Waiting[], value: Value): Promise<Value> {
  return new Promise<Value>((resolve, reject) => line.push({ value, resolve: resolve as Waiting["resolve"], reject }));
}
