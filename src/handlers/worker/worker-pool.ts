/**
 * Runs handlers in threads of their own: of definitions with `isolate: "worker"`, and of all that are loaded here (`retinue dev`), whose
 * versions are replaced with their threads.
 *
 * A handler that blocks, runs out of memory or ends its thread costs that handling, and affects no other. This contains accidents, not
 * hostile code: a thread shares the process's files, sockets and environment.
 */
import type { EvaluatedModule } from "../../config/definitions.ts";
import { mistake } from "../../config/problem.ts";
import type { Clock, Timer } from "../../core/clock.ts";
import { Misconfigured } from "../../core/errors.ts";
import type { Logger } from "../../core/log.ts";
import { MINUTE } from "../../core/units.ts";
import type { RunRequest } from "../../specialist/run-request.ts";
import { RunInterrupted, type RunResult } from "../../specialist/run.ts";
import type { Specialist } from "../../specialist/specialist.ts";
import { standIn } from "./definition-shape.ts";
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
  /** Keeps a thread ready that has loaded nothing: starting one takes most of the time of a reload. */
  readonly keepsSpare?: boolean;
}

export interface WorkerPool {
  /**
   * Loads a definition in a thread that has no version of it. Its functions stay there; the exports hold stand-ins, and `isolate: "worker"`.
   */
  evaluate(file: string): Promise<EvaluatedModule>;
  /**
   * Handlings that begin from now on use this version of the specialist's file. Threads with another end after their handling. Throws
   * `Misconfigured` (`isolate_needs_file`) for a specialist that no thread can load.
   */
  use(specialist: Specialist): unknown;
  /** Does the same as `runHandler`, in a thread. There are as many threads as concurrent handlings. */
  run(specialist: Specialist, kind: string, request: RunRequest): Promise<RunResult>;
  /** Lets no further handling use a live thread: new ones have the present variables. */
  renew(): void;
  /** Number of live threads. */
  readonly threads: number;
  /** Ends all threads and their handlings. */
  close(): Promise<void>;
}

/** One load of a file, and the texts of all that it read. Without them, it is loaded from the disk. */
interface Version {
  readonly version: number;
  readonly texts: ReadonlyMap<string, string> | undefined;
}

const USUAL = { expiresMs: undefined, onPileUp: "keep" } as const;
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
  /** The load number of a specialist that was loaded in the runtime's thread: a changed definition is another value. */
  readonly #versions = new WeakMap<Specialist, number>();
  /** The version of each file that handlings use. */
  readonly #used = new Map<string, Version>();
  /** The latest version of each file that was loaded in a thread, in use or not. */
  readonly #latest = new Map<string, Version>();
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

  async evaluate(file: string): Promise<EvaluatedModule> {
    for (const thread of this.#idleSince.keys()) if (this.#isStale(thread)) this.#retire(thread);
    const problem = mistake("load_timeout", `${MAX_TRIES} threads in a row did not begin to load it`, { file });
    for (let tries = 0; tries < MAX_TRIES && !this.#closed; tries++) {
      const version = ++this.#lastVersion;
      const thread = this.#take((files) => !files.has(file));
      const renewals = this.#renewals;
      const found = await thread.load({ run: ++this.#lastRun, file, version });
      if (found === "silent") continue;
      const { files } = found;
      if (this.#options.keepsSpare === true && !this.#closed) this.#keepSpare();
      if ("problem" in found || renewals !== this.#renewals) this.#retire(thread);
      if ("problem" in found) return found;
      this.#latest.set(file, { version, texts: new Map([...files].map(([path, { text }]) => [path, text])) });
      if (renewals === this.#renewals) this.#free(thread);
      return { exports: { default: inThread(standIn(found.shape)) }, files, version };
    }
    return { problem, files: new Map() };
  }

  use(specialist: Specialist): Version {
    const file = fileOf(specialist);
    const version = this.#versionOf(specialist);
    const before = this.#used.get(file);
    if (before?.version === version) return before;
    const latest = this.#latest.get(file);
    const used = latest?.version === version ? latest : { version, texts: undefined };
    this.#used.set(file, used);
    for (const thread of this.#idleSince.keys()) if (this.#isStale(thread)) this.#retire(thread);
    return used;
  }

  /** True if it has loaded a version that no handling will use. */
  #isStale({ files }: WorkerThread): boolean {
    for (const [file, version] of files)
      if (version !== this.#used.get(file)?.version && version !== this.#latest.get(file)?.version) return true;
    return false;
  }

  async run(specialist: Specialist, kind: string, request: RunRequest): Promise<RunResult> {
    const file = fileOf(specialist);
    const { event, steps, me, state, isSideBySide = false, usual = USUAL, deadlineMs, clock } = request;
    for (let tries = 0; tries < MAX_TRIES && !this.#closed; tries++) {
      // A specialist of an earlier version, which was about to begin, is handled by the one in use.
      const { version, texts } = this.#used.get(file) ?? this.use(specialist);
      const thread = this.#take(
        (files) => files.get(file) === version,
        (files) => !files.has(file),
      );
      const renewals = this.#renewals;
      const order = {
        run: ++this.#lastRun,
        file,
        version,
        texts: thread.files.has(file) ? undefined : texts,
        kind,
        request: { event, steps, me, state, isSideBySide, usual, deadlineMs },
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
    if (specialist.version !== undefined) return specialist.version;
    const version = this.#versions.get(specialist) ?? ++this.#lastVersion;
    this.#versions.set(specialist, version);
    return version;
  }

  /** Takes an idle thread whose loaded files pass one of these tests, the first ones preferred; else a new one. */
  #take(...tests: readonly ((files: ReadonlyMap<string, number>) => boolean)[]): WorkerThread {
    for (const thread of this.#threads) if (thread.over) this.#forget(thread);
    const idle = [...this.#idleSince.keys()];
    const found = tests.map((passes) => idle.find(({ files }) => passes(files))).find((thread) => thread !== undefined);
    const thread = found ?? this.#open();
    this.#idleSince.delete(thread);
    return thread;
  }

  #open(): WorkerThread {
    const { clock, log, heapMb = HEAP_MB, capturesPrints = false } = this.#options;
    const thread = new WorkerThread({ clock, log, heapMb, capturesPrints });
    this.#threads.add(thread);
    return thread;
  }

  #keepSpare(): void {
    for (const { files } of this.#idleSince.keys()) if (files.size === 0) return;
    this.#idleSince.set(this.#open(), Infinity);
  }

  #free(thread: WorkerThread): void {
    if (!thread.idle) return this.#forget(thread);
    if (this.#isStale(thread)) return this.#retire(thread);
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

/** A definition whose behaviours run in a thread, whatever it says itself. */
function inThread(definition: unknown): unknown {
  if (typeof definition !== "object" || definition === null || Array.isArray(definition) || "then" in definition) return definition;
  const { isolate = "none" } = definition as { readonly isolate?: unknown };
  return isolate === "none" ? { ...definition, isolate: "worker" } : definition;
}

function fileOf({ handle, file }: Specialist): string {
  if (file !== undefined) return file;
  throw new Misconfigured("isolate_needs_file", `${handle} says isolate: "worker", but was not loaded from a file`, {
    hint: "put the definition into its own file in the folder of definitions, or leave out isolate",
  });
}
