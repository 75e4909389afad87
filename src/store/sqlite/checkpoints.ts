/**
 * Checkpoints beside the event loop. SQLite moves its log to the file within any COMMIT that finds it long, and waits for the disk there: 5
 * to 15 ms in which nothing is answered. In a busy store, a thread with its own connection moves most of it. The rest is left to a COMMIT
 * at four times the length: the log restarts only once all of it is moved, and it keeps growing while the thread works.
 */
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import { SECOND } from "../../core/units.ts";
import type { CheckpointerStart, FromCheckpointer, ToCheckpointer } from "./checkpointer.ts";

/** Pages of the log at which a COMMIT moves it: 16 MB. */
export const LOG_PAGES = 4_000;
/** The same limit while the thread moves most of it. */
const LOG_PAGES_BESIDE = 4 * LOG_PAGES;
/** Commits between two checks of the log's length. */
const COMMITS = 32;
/** A store with this many commits within this time is busy. */
const BUSY_MS = SECOND;
/** Fewest pages that are worth a message to the thread. */
const ENOUGH_PAGES = LOG_PAGES / 4;
const HEAP_MB = 16;
const YOUNG_MB = 1;

const ENTRY = new URL(`./checkpointer${extname(import.meta.url)}`, import.meta.url);

export class Checkpoints {
  readonly #db: DatabaseSync;
  readonly #path: string;
  readonly #length: StatementSync;
  #commits = 0;
  #since = Number.NEGATIVE_INFINITY;
  #thread: Worker | undefined;
  #ended: Promise<void> = Promise.resolve();
  #working = false;
  /** The thread is not started again: COMMIT moves the log, as before. */
  #over = false;

  constructor(db: DatabaseSync, path: string) {
    this.#db = db;
    this.#path = path;
    this.#length = db.prepare("PRAGMA wal_checkpoint(NOOP)"); // only counts
  }

  /** True while the thread runs. */
  get beside(): boolean {
    return this.#thread !== undefined;
  }

  /** Called on every commit, outside any transaction, with monotonic milliseconds. */
  committed(now: number): void {
    if (++this.#commits < COMMITS) return;
    const busy = now - this.#since < BUSY_MS;
    this.#commits = 0;
    this.#since = now;
    if (!busy || this.#working || this.#over) return;
    const { log = 0, checkpointed = 0 } = this.#length.get() ?? {};
    if (Number(log) - Number(checkpointed) < ENOUGH_PAGES) return;
    this.#thread ??= this.#start();
    if (this.#thread === undefined) return;
    this.#working = true;
    this.#say(this.#thread, "checkpoint");
  }

  /** Ends the thread once it has finished its checkpoint. */
  async stop(): Promise<void> {
    const thread = this.#thread;
    this.#over = true;
    if (thread === undefined) return;
    this.#say(thread, "end");
    thread.ref();
    await this.#ended;
  }

  #say(thread: Worker, what: ToCheckpointer): void {
    thread.postMessage(what);
  }

  #start(): Worker | undefined {
    const start: CheckpointerStart = { path: this.#path };
    const resourceLimits = { maxOldGenerationSizeMb: HEAP_MB, maxYoungGenerationSizeMb: YOUNG_MB };
    let thread: Worker;
    try {
      thread = new Worker(ENTRY, { name: "retinue checkpoints", workerData: start, resourceLimits });
    } catch {
      this.#over = true; // no memory for a thread: a COMMIT takes longer now and then, and nothing else changes
      return undefined;
    }
    thread.unref();
    thread.on("message", (said: FromCheckpointer) => void (this.#working = said !== "done"));
    // A full or failing disk fails COMMIT and fsync too, which report it.
    thread.on("error", () => void (this.#over = true));
    this.#ended = new Promise((resolve) => {
      thread.on("exit", () => {
        this.#thread = undefined;
        this.#over = true;
        if (this.#db.isOpen) this.#db.exec(`PRAGMA wal_autocheckpoint = ${LOG_PAGES}`);
        resolve();
      });
    });
    this.#db.exec(`PRAGMA wal_autocheckpoint = ${LOG_PAGES_BESIDE}`);
    return thread;
  }
}
