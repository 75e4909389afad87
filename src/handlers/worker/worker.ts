/** The worker thread's side: loads definitions from their files, and runs one handling at a time like the runtime. */
import { parentPort, receiveMessageOnPort, workerData, type MessagePort } from "node:worker_threads";
import { loadModule } from "../../config/module-file.ts";
import { mistake } from "../../config/problem.ts";
import { systemClock, type Clock } from "../../core/clock.ts";
import { Fatal, messageOf, Refused, Retryable } from "../../core/errors.ts";
import { asJson } from "../../core/json.ts";
import type { LogFields, Logger, LogLevel } from "../../core/log.ts";
import { MINUTE } from "../../core/units.ts";
import type { SpecialistDefinition } from "../../specialist/definition.ts";
import type { RunRequest } from "../../specialist/run-request.ts";
import type { OperationRules } from "../../specialist/operation-rules.ts";
import { capturePrints, collectPrints } from "../../specialist/prints.ts";
import { runHandler, RunInterrupted, type EventHandler } from "../../specialist/run.ts";
import { createSpecialist, type Specialist } from "../../specialist/specialist.ts";
import {
  decodeError,
  encodeResult,
  type Answer,
  type Ask,
  type AskAnswers,
  type FromWorker,
  type LoadOrder,
  type Question,
  type QuestionAnswers,
  type RunOrder,
  type ToWorker,
} from "./messages.ts";
import { handlerOf } from "../../specialist/handlers.ts";
import { shapeOf } from "./definition-shape.ts";

/** Data that the runtime passes to a new thread. */
export interface WorkerStart {
  readonly questions: MessagePort;
  /** One number: 0 while a question waits for its answer. */
  readonly answered: SharedArrayBuffer;
  /** Text that definitions print goes to the log. */
  readonly capturesPrints: boolean;
}

/** A runtime that does not answer within this time is gone. */
const ANSWER_MS = MINUTE;
/** Log lines of one handling: more would fill the runtime's memory and stop all other handlings. */
const MAX_LOG_LINES = 1_000;

const system = systemClock();
const { questions, answered, capturesPrints } = workerData as WorkerStart; // set by `worker-thread.ts`, of the same version
const flag = new Int32Array(answered);
/** A default export, and the specialist that it defines once it is used. */
interface Held {
  readonly version: number;
  readonly value: unknown;
  specialist?: Specialist;
}

const loaded = new Map<string, Held>();
const asked = new Map<number, PromiseWithResolvers<AskAnswers[Ask["what"]]>>();
let asks = 0;
let current: { readonly run: number; readonly abort: AbortController } | undefined;

function tell(message: FromWorker): void {
  parentPort?.postMessage(message);
}

async function perform(order: RunOrder): Promise<void> {
  const { run, kind } = order;
  tell({ say: "begun", run });
  const abort = new AbortController();
  current = { run, abort };
  let handler: EventHandler | undefined;
  try {
    handler = handlerOf(await collectPrints(() => loggerOf(order)).during(() => specialistOf(order)), kind);
  } catch (error) {
    return tell({ say: "unloadable", run, reason: messageOf(error) });
  }
  if (handler === undefined) return tell({ say: "unloadable", run, reason: `its file no longer has a handler for ${kind}` });
  tell({ say: "loaded", run });
  const result = await runHandler(handler, requestOf(order, abort.signal));
  tell({ say: "result", run, result: encodeResult(result) });
}

/** Loads a definition for the handlings that follow, and tells what it is. */
async function evaluate({ run, file, version }: LoadOrder): Promise<void> {
  tell({ say: "begun", run });
  const module = await collectPrints(() => loggerFor(run, {})).during(() => loadModule(file, system));
  const { files } = module;
  if ("problem" in module) return tell({ say: "evaluated", run, problem: module.problem, files });
  try {
    const value: unknown = Reflect.get(module.exports, "default");
    const shape = shapeOf(value);
    loaded.set(file, { version, value });
    tell({ say: "evaluated", run, shape, files });
  } catch (error) {
    const problem = mistake("definition_threw", `it threw while it was read: ${messageOf(error)}`, { file });
    tell({ say: "evaluated", run, problem, files });
  }
}

/** The runtime checked the definition when it loaded it. Throws if the file cannot be loaded now. */
async function specialistOf({ file, version, texts }: RunOrder): Promise<Specialist> {
  let known = loaded.get(file);
  if (known?.version !== version) {
    const module = await loadModule(file, system, texts);
    if ("problem" in module) throw new Refused(module.problem.code, module.problem.message);
    known = { version, value: Reflect.get(module.exports, "default") };
    loaded.set(file, known);
  }
  return (known.specialist ??= createSpecialist(known.value as SpecialistDefinition));
}

function requestOf(order: RunOrder, signal: AbortSignal): RunRequest {
  const { request, run, now } = order;
  const began = system.monotonic();
  const clock: Clock = { ...system, now: () => Math.floor(now + system.monotonic() - began) };
  return {
    ...request,
    rules: rulesByQuestion(),
    read: (call) => ask(run, { what: "read", call }),
    askModel: (call) => ask(run, { what: "model", call }),
    callTool: (call) => ask(run, { what: "tool", call }),
    saveStep: (name, value, startedAt) => ask(run, { what: "saveStep", name, value, startedAt }),
    newIntentId: () => question({ what: "intent-id" }),
    fetch: (input, init) => globalThis.fetch(input, init),
    clock,
    log: loggerOf(order),
    signal,
  };
}

function rulesByQuestion(): OperationRules {
  return {
    of(operation) {
      const { reviewed, ...rule } = question({ what: "rule", operation });
      if (!reviewed) return rule;
      return {
        ...rule,
        review(target, input) {
          const asking = question({ what: "review", operation, target, input });
          if (asking === undefined) throw new Fatal("worker_confused", `${operation} is no longer reviewed`);
          return asking;
        },
      };
    },
    input: (operation, input) => question({ what: "input", operation, input }),
  };
}

async function ask<What extends Ask["what"]>(run: number, about: Extract<Ask, { readonly what: What }>): Promise<AskAnswers[What]> {
  const number = ++asks;
  const answer = Promise.withResolvers<AskAnswers[Ask["what"]]>();
  asked.set(number, answer);
  tell({ say: "ask", run, ask: number, about });
  return (await answer.promise) as AskAnswers[What]; // the runtime answers what was asked
}

let asking = 0;

/** Blocks the thread until the runtime has answered, so that `act` returns at once here too. */
function question<What extends Question["what"]>(about: Extract<Question, { readonly what: What }>): QuestionAnswers[What] {
  const number = ++asking;
  Atomics.store(flag, 0, 0);
  questions.postMessage({ number, run: current?.run, about });
  Atomics.wait(flag, 0, 0, ANSWER_MS);
  // The answer to an earlier question that timed out may still be queued.
  for (let got = receiveMessageOnPort(questions); got !== undefined; got = receiveMessageOnPort(questions)) {
    const said = got.message as { readonly number: number; readonly answer: Answer<QuestionAnswers[What]> };
    if (said.number !== number) continue;
    if ("error" in said.answer) throw decodeError(said.answer.error);
    return said.answer.value;
  }
  throw new Retryable("runtime_silent", `the runtime did not answer in ${ANSWER_MS} ms`);
}

/** Lines that come after the handling have nothing else that names their specialist. */
function loggerOf({ run, request: { me, event } }: RunOrder): Logger {
  return loggerFor(run, { handle: me.handle, event: event.id });
}

function loggerFor(run: number, about: LogFields): Logger {
  let lines = 0;
  const bound = (fields: LogFields): Logger => {
    const write = (level: LogLevel) => (message: string, more?: LogFields) => {
      if (lines++ > MAX_LOG_LINES) return;
      if (lines > MAX_LOG_LINES) return tell({ say: "log", run, level: "warn", message: "further log lines were dropped", fields: {} });
      // Fields become JSON here, because a value that is not JSON cannot cross either.
      tell({ say: "log", run, level, message, fields: asJson({ ...fields, ...more }) });
    };
    return {
      debug: write("debug"),
      info: write("info"),
      warn: write("warn"),
      error: write("error"),
      child: (more) => bound({ ...fields, ...more }),
    };
  };
  return bound(about);
}

function hear(said: ToWorker): void {
  switch (said.say) {
    case "run":
      void perform(said);
      return;
    case "load":
      void evaluate(said);
      return;
    case "abort":
      if (current?.run === said.run) current.abort.abort(new RunInterrupted("run_stopped", "the runtime stopped"));
      return;
    case "answer": {
      const waiting = asked.get(said.ask);
      asked.delete(said.ask);
      if ("error" in said.answer) waiting?.reject(decodeError(said.answer.error));
      else waiting?.resolve(said.answer.value);
    }
  }
}

// Code left running by a handling may fail after its end; the next handling must survive that.
process.on("unhandledRejection", (error) => tell({ say: "stray", message: messageOf(error) }));
process.on("uncaughtException", (error) => tell({ say: "stray", message: messageOf(error) }));
parentPort?.on("message", hear);
if (capturesPrints) capturePrints(process);
tell({ say: "ready" });
