/**
 * Runs handlers in threads of their own, for definitions with `isolate: "worker"`.
 *
 * A handler that blocks, runs out of memory or ends its thread costs that handling, and affects no other. This contains accidents, not
 * hostile code: a thread shares the process's files, sockets and environment.
 */
import type { Clock, Timer } from "../../core/clock.ts";
import { Misconfigured } from "../../core/errors.ts";
import type { Logger } from "../../core/log.ts";
import { MINUTE } from "../../core/units.ts";
import type { RunRequest } from "../../specialist/run-request.ts";
import { RunInterrupted, type RunResult } from "../../specialist/run.ts";
import type { Specialist } from "../../specialist/specialist.ts";
import { WorkerThread } from "./worker-thread.ts";

export interface WorkerPoolOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** The JavaScript heap of each thread, in MiB. Default 128. */
  readonly heapMb?: number;
  /** Text that definitions print goes to the log. Default: to this process's own streams. */
  readonly capturesPrints?: boolean | undefined;
  /** An idle thread ends after this time. Default 1 min. */
  readonly idleMs?: number;
}

export interface WorkerPool {
  /** Throws `Misconfigured` (`isolate_needs_file`) for a specialist that no thread can load. */
  check(specialist: Specialist): void;
  /** Does the same as `runHandler`, in a thread. There are as many threads as concurrent handlings. */
  run(specialist: Specialist, kind: string, request: RunRequest): Promise<RunResult>;
  /** Lets no further handling use a live thread: new ones have the present variables. */
  renew(): void;
  /** Number of live threads. */
  readonly threads: number;
  /** Ends all threads and their handlings. */
  close(): Promise<void>;
}

const HEAP_MB = 128;
/** Threads tried for one handling, if an earlier handling still blocks the first. */
const MAX_TRIES = 3;

export function createWorkerPool(options: WorkerPoolOptions): WorkerPool {
  return new Threads(options);
}

class Threads implements WorkerPool {
  readonly #options: WorkerPoolOptions;
  readonly #threads = new Set<WorkerThread>();
  readonly #idleSince = new Map<WorkerThread, number>();
  #renewals = 0;
  /** The load number of a specialist's file: a changed definition is another value. */
  readonly #versions = new WeakMap<Specialist, number>();
  #lastVersion = 0;
  #lastRun = 0;
  #sweep: Timer | undefined;
  #closed = false;

  constructor(options: WorkerPoolOptions) {
    this.#options = options;
  }

  get threads(): number {
    return this.#threads.size;
  }

  check(specialist: Specialist): void {
    fileOf(specialist);
  }

  async run(specialist: Specialist, kind: string, request: RunRequest): Promise<RunResult> {
    const file = fileOf(specialist);
    const { event, steps, me, state, deadlineMs, clock } = request;
    for (let tries = 0; tries < MAX_TRIES && !this.#closed; tries++) {
      const thread = this.#take(file);
      const renewals = this.#renewals;
      const order = {
        run: ++this.#lastRun,
        file,
        version: this.#versionOf(specialist),
        kind,
        request: { event, steps, me, state, deadlineMs },
        now: clock.now(),
      };
      const result = await thread.run(order, request);
      // The interrupted handler may still run in that thread.
      if (result !== "silent" && result.kind === "failed" && result.error instanceof RunInterrupted) void thread.end();
      if (renewals === this.#renewals) this.#free(thread);
      else this.#retire(thread);
      if (result !== "silent") return result;
    }
    const error = this.#closed
      ? new RunInterrupted("run_stopped", "the runtime stopped")
      : new RunInterrupted("run_not_begun", `${MAX_TRIES} threads in a row did not begin the handling`);
    return { kind: "failed", error };
  }

  renew(): void {
    this.#renewals++;
    for (const thread of this.#idleSince.keys()) this.#retire(thread);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#sweep?.cancel();
    await Promise.all([...this.#threads].map((thread) => thread.end()));
    this.#threads.clear();
  }

  #versionOf(specialist: Specialist): number {
    const version = this.#versions.get(specialist) ?? ++this.#lastVersion;
    this.#versions.set(specialist, version);
    return version;
  }

  /** Takes an idle thread, preferably one that has loaded the file already; else a new one. */
  #take(file: string): WorkerThread {
    for (const thread of this.#threads) if (thread.over) this.#forget(thread);
    const idle = [...this.#idleSince.keys()];
    const thread = idle.find(({ files }) => files.has(file)) ?? idle[0] ?? this.#open();
    this.#idleSince.delete(thread);
    return thread;
  }

  #open(): WorkerThread {
    const { clock, log, heapMb = HEAP_MB, capturesPrints = false } = this.#options;
    const thread = new WorkerThread({ clock, log, heapMb, capturesPrints });
    this.#threads.add(thread);
    return thread;
  }

  #free(thread: WorkerThread): void {
    if (!thread.idle) return this.#forget(thread);
    this.#idleSince.set(thread, this.#options.clock.monotonic());
    this.#sweep ??= this.#options.clock.after(this.#idleMs, () => this.#sweepIdle());
  }

  #forget(thread: WorkerThread): void {
    this.#threads.delete(thread);
    this.#idleSince.delete(thread);
  }

  #retire(thread: WorkerThread): void {
    this.#forget(thread);
    void thread.end();
  }

  get #idleMs(): number {
    return this.#options.idleMs ?? MINUTE;
  }

  #sweepIdle(): void {
    this.#sweep = undefined;
    const now = this.#options.clock.monotonic();
    for (const [thread, since] of this.#idleSince) {
      if (now - since < this.#idleMs) continue;
      this.#retire(thread);
    }
    if (this.#idleSince.size > 0) this.#sweep = this.#options.clock.after(this.#idleMs, () => this.#sweepIdle());
  }
}

function fileOf({ handle, file }: Specialist): string {
  if (file !== undefined) return file;
  throw new Misconfigured("isolate_needs_file", `${handle} says isolate: "worker", but was not loaded from a file`, {
    hint: "put the definition into its own file in the folder of definitions, or leave out isolate",
  });
}
