/** One worker thread, seen from the runtime: it gets one handling at a time, and is ended if it does not respond. */
import type { AnyCode } from "../../core/error-codes.ts";
import { extname } from "node:path";
import { MessageChannel, Worker, type MessagePort } from "node:worker_threads";
import { definitionVariables } from "../../config/environment.ts";
import { mistake } from "../../config/problem.ts";
import type { Clock, Timer } from "../../core/clock.ts";
import { messageOf, Refused } from "../../core/errors.ts";
import type { Logger } from "../../core/log.ts";
import { SECOND } from "../../core/units.ts";
import type { ToolAnswer } from "../../specialist/act.ts";
import type { ModelCall } from "../../specialist/model-call.ts";
import type { HandlerRead, RunRequest, ToolCall } from "../../specialist/run-request.ts";
import { RunInterrupted, type RunResult } from "../../specialist/run.ts";
import {
  decodeResult,
  encodeError,
  type Ask,
  type Evaluation,
  type FromWorker,
  type LoadOrder,
  type Question,
  type RunOrder,
  type ToWorker,
} from "./messages.ts";
import type { WorkerStart } from "./worker.ts";

export interface ThreadOptions {
  readonly clock: Clock;
  readonly log: Logger;
  /** The JavaScript heap of the thread, in MiB. Buffers are outside it. */
  readonly heapMb: number;
  /** Text that definitions print goes to the log. */
  readonly capturesPrints: boolean;
}

/** The result of a handling; `silent` if it never began, so that another thread may take it. */
export type ThreadResult = RunResult | "silent";

const ENTRY = new URL(`./worker${extname(import.meta.url)}`, import.meta.url);
const STACK_MB = 4;
const YOUNG_MB = 16;
/** Time for a thread to start and load its imports. */
const READY_MS = 30 * SECOND;
/** Time to begin an order: a thread not blocked by an earlier handling takes it at once. */
const BEGIN_MS = 2 * SECOND;
/** Time to load a file: the loader gives up earlier, unless the file blocks the thread. */
const LOAD_MS = 25 * SECOND;
/** Time after the deadline for the thread to report the end itself; after that it counts as blocked. */
const GRACE_MS = 500;

/** A definition as the thread loaded it; `silent` as for a handling. */
export type ThreadLoad = Evaluation | "silent";

interface Job {
  readonly run: number;
  readonly file: string;
  readonly version: number;
  readonly order: ToWorker;
  /** Undefined for a load. */
  readonly request: RunRequest | undefined;
  readonly done: (result: ThreadResult) => void;
  readonly evaluated: (evaluation: Evaluation) => void;
  begun: boolean;
}

/** A thread lives until `end`, or until a handling ends it. */
export class WorkerThread {
  readonly #options: ThreadOptions;
  readonly #worker: Worker;
  readonly #questions: MessagePort;
  readonly #flag: Int32Array<SharedArrayBuffer>;
  readonly #exited: Promise<void>;
  /** The definitions that it has loaded: each file, and the number of its load. */
  readonly files = new Map<string, number>();
  #ready = false;
  #over = false;
  #job: Job | undefined;
  #limit: Timer | undefined;

  constructor(options: ThreadOptions) {
    this.#options = options;
    const { port1, port2 } = new MessageChannel();
    const answered = new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);
    const start: WorkerStart = { questions: port2, answered, capturesPrints: options.capturesPrints };
    this.#flag = new Int32Array(answered);
    this.#questions = port1;
    this.#worker = new Worker(ENTRY, {
      name: "retinue specialist",
      workerData: start,
      env: definitionVariables(),
      transferList: [port2],
      resourceLimits: { maxOldGenerationSizeMb: options.heapMb, maxYoungGenerationSizeMb: YOUNG_MB, stackSizeMb: STACK_MB },
    });
    port1.on("message", (said: { readonly number: number; readonly run: number; readonly about: Question }) => this.#reply(said));
    port1.unref();
    this.#worker.on("message", (said: FromWorker) => this.#hear(said));
    let failure: unknown;
    this.#worker.on("error", (error) => void (failure = error));
    this.#exited = new Promise((resolve) => {
      this.#worker.on("exit", (code) => {
        this.#gone(failure, code);
        resolve();
      });
    });
  }

  /** True if it can take a handling. */
  get idle(): boolean {
    return this.#job === undefined && !this.#over;
  }

  /** True if it has ended, or is ending. */
  get over(): boolean {
    return this.#over;
  }

  /** Runs a handling. Never throws. Call it only while the thread is idle. */
  run(order: RunOrder, request: RunRequest): Promise<ThreadResult> {
    const { promise, resolve } = Promise.withResolvers<ThreadResult>();
    const stop = (): void => this.#abort(order.run);
    request.signal.addEventListener("abort", stop, { once: true });
    const done = (result: ThreadResult): void => {
      this.#finished();
      request.signal.removeEventListener("abort", stop);
      resolve(result);
    };
    this.#take({ ...placeOf(order), order: { say: "run", ...order }, request, done, evaluated: () => undefined, begun: false });
    return promise;
  }

  /** Loads a definition. Never throws. Call it only while the thread is idle, and for a file that it has not loaded. */
  load(order: LoadOrder): Promise<ThreadLoad> {
    const { promise, resolve } = Promise.withResolvers<ThreadLoad>();
    const evaluated = (evaluation: ThreadLoad): void => {
      this.#finished();
      if (evaluation !== "silent") this.files.set(order.file, order.version);
      resolve(evaluation);
    };
    const done = (result: ThreadResult): void => evaluated(result === "silent" ? result : unfinished(order.file));
    this.#take({ ...placeOf(order), order: { say: "load", ...order }, request: undefined, done, evaluated, begun: false });
    return promise;
  }

  #take(job: Job): void {
    this.#job = job;
    this.#worker.ref();
    if (this.#ready) this.#begin();
    else this.#expect(READY_MS, "silent");
  }

  #finished(): void {
    this.#limit?.cancel();
    this.#job = undefined;
    if (!this.#over) this.#worker.unref();
  }

  /** Ends the thread, whatever it does, together with its handling. */
  async end(result: ThreadResult = interrupted("run_stopped", "the runtime stopped")): Promise<void> {
    this.#over = true;
    this.#job?.done(result);
    this.#questions.close();
    await this.#worker.terminate();
    await this.#exited;
  }

  #begin(): void {
    const job = this.#job;
    if (job === undefined) return;
    this.#expect(BEGIN_MS, "silent");
    this.#tell(job.order);
    if (job.request?.signal.aborted === true) this.#abort(job.run);
  }

  #abort(run: number): void {
    if (this.#job?.run !== run) return;
    this.#tell({ say: "abort", run });
    this.#expect(GRACE_MS, interrupted("run_stopped", "the runtime stopped"));
  }

  /** Ends the thread with this result unless it responds within the time. */
  #expect(withinMs: number, otherwise: ThreadResult): void {
    this.#limit?.cancel();
    this.#limit = this.#options.clock.after(withinMs, () => void this.end(otherwise));
  }

  #hear(said: FromWorker): void {
    if (said.say === "ready") {
      this.#ready = true;
      return this.#begin();
    }
    if (said.say === "stray") return this.#options.log.error("something failed outside any handling", { message: said.message });
    const job = this.#job;
    const isCurrent = job?.run === said.run;
    if (said.say === "log" && (!isCurrent || job.request === undefined)) return this.#options.log[said.level](said.message, said.fields);
    if (!isCurrent) return; // belongs to a handling that is over
    if (said.say === "evaluated") return job.evaluated(said);
    if (said.say === "begun") {
      job.begun = true;
      return this.#expect(LOAD_MS, unloadable(this.#options.clock, "its file did not finish loading"));
    }
    if (job.request !== undefined) this.#hearOf(job, job.request, said);
  }

  /** Hears about a handling. */
  #hearOf(job: Job, request: RunRequest, said: Exclude<FromWorker, { readonly say: "ready" | "stray" | "evaluated" | "begun" }>): void {
    switch (said.say) {
      case "loaded": {
        const { deadlineMs } = request;
        this.files.set(job.file, job.version);
        const message = `expected the handler to end within ${deadlineMs} ms; it blocked its thread, which was ended`;
        return this.#expect(deadlineMs + GRACE_MS, interrupted("run_deadline", message));
      }
      case "unloadable":
        return job.done(unloadable(this.#options.clock, said.reason));
      case "log":
        return request.log[said.level](said.message, said.fields);
      case "ask":
        return void this.#perform(job, request, said.ask, said.about);
      case "result":
        return job.done(decodeResult(said.result));
    }
  }

  async #perform({ run }: Job, request: RunRequest, ask: number, about: Ask): Promise<void> {
    const answer = await answered(async () => {
      if (about.what === "read") return request.read(about.call, request.signal);
      if (about.what === "model") return askModel(request, about.call);
      if (about.what === "tool") return callTool(request, about.call);
      await request.saveStep(about.name, about.value, about.startedAt);
      return undefined;
    });
    if (this.#job?.run === run) this.#tell({ say: "answer", ask, answer });
  }

  #reply({ number, run, about }: { readonly number: number; readonly run: number; readonly about: Question }): void {
    const answer = this.#answerTo(run, about);
    this.#questions.postMessage({ number, answer });
    Atomics.store(this.#flag, 0, 1);
    Atomics.notify(this.#flag, 0);
  }

  #answerTo(run: number, about: Question) {
    const job = this.#job;
    try {
      if (job?.run !== run || job.request === undefined) throw interrupted("run_over", "the handling is over").error;
      return { value: answerOf(job.request, about) };
    } catch (error) {
      return { error: encodeError(error) };
    }
  }

  #tell(message: ToWorker): void {
    this.#worker.postMessage(message);
  }

  #gone(failure: unknown, code: number): void {
    this.#over = true;
    this.#questions.close();
    const job = this.#job;
    if (job === undefined) return;
    if (!job.begun) return job.done("silent");
    const memory = typeof failure === "object" && failure !== null && "code" in failure && failure.code === "ERR_WORKER_OUT_OF_MEMORY";
    const message = memory
      ? `the handler needed more than ${this.#options.heapMb} MiB of memory, and its thread was ended`
      : failure === undefined
        ? `the handler ended its thread (exit code ${code})`
        : `the handler's thread failed: ${messageOf(failure)}`;
    job.done(interrupted(memory ? "run_out_of_memory" : "run_exited", message));
  }
}

function askModel({ askModel, signal }: RunRequest, call: ModelCall): Promise<HandlerRead> {
  if (askModel === undefined) throw new Refused("model_missing", `nothing answers the model "${call.model}" here`);
  return askModel(call, signal);
}

function placeOf({ run, file, version }: LoadOrder): Pick<Job, "run" | "file" | "version"> {
  return { run, file, version };
}

/** The result of a load whose thread was ended. */
function unfinished(file: string): Evaluation {
  const problem = mistake("load_timeout", "did not finish loading", { file, hint: "await no slow operation at the top of the file" });
  return { problem, files: new Map() };
}

function answerOf(request: RunRequest, about: Question) {
  const { rules } = request;
  switch (about.what) {
    case "rule": {
      const { review, ...rule } = rules.of(about.operation);
      return { ...rule, reviewed: review !== undefined };
    }
    case "input":
      return rules.input(about.operation, about.input);
    case "review":
      return rules.of(about.operation).review?.(about.target, about.input);
    case "intent-id":
      return request.newIntentId();
  }
}

/** A thread knows no absent server: its handler asks, and is refused here. */
async function callTool({ callTool: reach, signal }: RunRequest, call: ToolCall): Promise<ToolAnswer> {
  if (reach === undefined) throw new Refused("no_tool", `no server is reached here, so ${call.tool} has no answer`);
  return reach(call, signal);
}

async function answered<Value>(work: () => Promise<Value>) {
  try {
    return { value: await work() };
  } catch (error) {
    return { error: encodeError(error) };
  }
}

function interrupted(code: AnyCode, message: string): Extract<RunResult, { readonly kind: "failed" }> & { readonly error: RunInterrupted } {
  return { kind: "failed", error: new RunInterrupted(code, message) };
}

/** The runtime has a definition that worked; until the file loads again, its events wait. */
const UNLOADABLE_MS = 30 * SECOND;

function unloadable(clock: Clock, reason: string): RunResult {
  return { kind: "suspended", until: clock.now() + UNLOADABLE_MS, reason: `its definition cannot be loaded in a thread: ${reason}` };
}
