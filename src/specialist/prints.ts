/** Text that a definition prints itself (`console.log`, `process.stdout.write`), as lines of its specialist's log. */
import { AsyncLocalStorage } from "node:async_hooks";
import type { Logger } from "../core/log.ts";

/** The part of a stream that is replaced. */
export type PrintStream = Pick<NodeJS.WriteStream, "write">;
type Done = (error?: Error | null) => void;

const STREAMS = ["stdout", "stderr"] as const;
type StreamName = (typeof STREAMS)[number];
/** The log cuts a line far earlier; beyond this a secret in it need not be searched for. */
const MAX_LINE = 8_192;

/** Collects printed text until its line ends. */
interface Printer {
  print(name: StreamName, text: string): void;
  flush(): void;
}

/** The printed text of one handling. */
export interface Prints {
  /** Calls `work`. Text that it prints, also later in its promises and timers, belongs to the log. */
  during<Result>(work: () => Result): Result;
  /** Logs lines that have no end yet. */
  flush(): void;
}

const printers = new AsyncLocalStorage<Printer>();
/** True once streams are captured. */
let isCaptured = false;

/** A class, because every handling has one, and few print. */
class LogPrinter implements Printer, Prints {
  readonly #log: () => Logger;
  readonly #rest = { stdout: "", stderr: "" };

  constructor(log: () => Logger) {
    this.#log = log;
  }

  during<Result>(work: () => Result): Result {
    return printers.run(this, work);
  }

  print(name: StreamName, text: string): void {
    const rest = this.#rest;
    let from = 0;
    for (let end = text.indexOf("\n"); end >= 0; end = text.indexOf("\n", from)) {
      this.#say(name, rest[name] + text.slice(from, Math.min(end, from + MAX_LINE)));
      from = end + 1;
    }
    rest[name] += text.slice(from, from + MAX_LINE);
    if (rest[name].length >= MAX_LINE) this.#say(name, rest[name]);
  }

  flush(): void {
    for (const name of STREAMS) this.#say(name, this.#rest[name]);
  }

  #say(name: StreamName, line: string): void {
    this.#rest[name] = "";
    if (line !== "" && line.trim() !== "") this.#log()[name === "stdout" ? "info" : "warn"](line.slice(0, MAX_LINE), { printed: name });
  }
}

/** `log` is asked for when something is printed. */
export function collectPrints(log: () => Logger): Prints {
  return isCaptured ? new LogPrinter(log) : UNCAPTURED;
}

/** Text goes where it was printed, and nobody asks whose it is: a handling needs no context of its own. */
const UNCAPTURED: Prints = { during: (work) => work(), flush: () => undefined };

export interface CapturedPrints {
  /** Text printed outside any handling goes to this log from now on. */
  elsewhere(log: Logger): void;
}

/** Replaces `write` of these streams for good. Until `elsewhere` is called, text printed outside a handling is written as it is. */
export function capturePrints(streams: { readonly [name in StreamName]: PrintStream }): CapturedPrints {
  let outside: Printer | undefined;
  isCaptured = true;
  for (const name of STREAMS) {
    const stream = streams[name];
    const write = stream.write.bind(stream);
    stream.write = (chunk: string | Uint8Array, encoding?: BufferEncoding | Done, last?: Done): boolean => {
      const printer = printers.getStore() ?? outside;
      const done = typeof encoding === "function" ? encoding : last;
      if (printer === undefined) return write(chunk, typeof encoding === "string" ? encoding : undefined, done);
      printer.print(name, typeof chunk === "string" ? chunk : Buffer.from(chunk).toString());
      if (done !== undefined) process.nextTick(done);
      return true;
    };
  }
  return { elsewhere: (log) => void (outside = new LogPrinter(() => log)) };
}
