/** Reads for people in a thread of its own, started by the first read and ended when none comes for a while. */
import { extname } from "node:path";
import { Worker } from "node:worker_threads";
import type { Clock, Timer } from "../../core/clock.ts";
import { messageOf, Retryable, type RetinueError } from "../../core/errors.ts";
import { MINUTE } from "../../core/units.ts";
import { damageOf } from "./integrity.ts";
import type { Read, ReadName } from "./people-reads.ts";
import type { ReadAnswer, ReaderStart, ReadRequest } from "./reader-thread.ts";

/** Time without a read after which the thread ends. */
const IDLE_MS = MINUTE;
/** Longest time of one read. */
const READ_MS = MINUTE;
/** Reads that may wait for their turn. */
const MAX_WAITING = 256;
const HEAP_MB = 256;

const CLOSED = "the store was closed";

const ENTRY = new URL(`./reader-thread${extname(import.meta.url)}`, import.meta.url);

interface Waiting {
  readonly resolve: (value: unknown) => void;
  readonly reject: (error: RetinueError) => void;
}

export interface ReaderOptions {
  /** The store's file. */
  readonly path: string;
  readonly clock: Clock;
}

export class Reader {
  readonly #options: ReaderOptions;
  #thread: Worker | undefined;
  /** Asked and not answered, oldest first. */
  #waiting: Waiting[] = [];
  /** Ends the thread: idle, or stuck. */
  #timer: Timer | undefined;
  #isClosed = false;

  constructor(options: ReaderOptions) {
    this.#options = options;
  }

  /** True while the thread runs. */
  get isOpen(): boolean {
    return this.#thread !== undefined;
  }

  /** Resolves with the result of a read. Rejects with `Retryable` (`read_failed`) or `Misconfigured` (`store_damaged`). */
  readonly read: Read = (name, given) => this.#ask(name, given);

  async close(): Promise<void> {
    this.#isClosed = true;
    await this.#end(failed(CLOSED));
  }

  #ask(name: ReadName, given: readonly unknown[]): Promise<unknown> {
    if (this.#isClosed) return Promise.reject(failed(CLOSED));
    if (this.#waiting.length >= MAX_WAITING) return Promise.reject(failed(`${MAX_WAITING} reads wait already`));
    return new Promise((resolve, reject) => {
      this.#thread ??= this.#start();
      this.#waiting.push({ resolve, reject });
      if (this.#waiting.length === 1) this.#watch();
      this.#thread.ref();
      this.#thread.postMessage({ name, given } satisfies ReadRequest);
    });
  }

  #start(): Worker {
    const workerData: ReaderStart = { path: this.#options.path };
    const thread = new Worker(ENTRY, { name: "retinue reads", workerData, resourceLimits: { maxOldGenerationSizeMb: HEAP_MB } });
    thread.on("message", (answer: ReadAnswer) => this.#answered(thread, answer));
    thread.on("error", (error) => this.#ended(thread, failed(messageOf(error))));
    thread.on("exit", () => this.#ended(thread, failed("the thread ended")));
    return thread;
  }

  #answered(thread: Worker, answer: ReadAnswer): void {
    if (this.#thread !== thread) return; // on its way when the thread was ended
    const first = this.#waiting.shift();
    if ("value" in answer) first?.resolve(answer.value);
    else first?.reject(damageOf(new Error(answer.failed)) ?? failed(answer.failed));
    this.#watch();
    if (this.#waiting.length === 0) this.#thread?.unref();
  }

  /** Sets the time at which the thread is stuck, or idle. */
  #watch(): void {
    const isIdle = this.#waiting.length === 0;
    this.#timer?.cancel();
    this.#timer = this.#options.clock.after(isIdle ? IDLE_MS : READ_MS, () => void this.#end(failed("it took more than a minute")));
  }

  async #end(why: RetinueError): Promise<void> {
    const thread = this.#thread;
    if (thread === undefined) return;
    this.#ended(thread, why);
    await thread.terminate();
  }

  /** The next read starts another thread. */
  #ended(thread: Worker, why: RetinueError): void {
    if (this.#thread !== thread) return;
    this.#thread = undefined;
    this.#timer?.cancel();
    for (const { reject } of this.#waiting.splice(0)) reject(why);
  }
}

function failed(reason: string): Retryable {
  return new Retryable("read_failed", `the store could not be read for you: ${reason}`, {
    hint: "ask again, for less at once if it happens again; work goes on meanwhile",
  });
}
