/**
 * Log lines as values: the sink formats them. Before it, secrets are scrubbed, texts are cut to a length fit for a log, and repeated lines
 * are summed up, so that no repetition lets the log grow by much.
 */
import { excerpt, excerptOf } from "./excerpt.ts";
import { createRepeats, type KindOf, type LeftOut } from "./repetition-limit.ts";
import type { Scrubber } from "./scrubber.ts";
import { isTraced, traceIdOf } from "./trace-ids.ts";

export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
/** The level of a log line, from `debug` to `error`. */
export type LogLevel = (typeof LOG_LEVELS)[number];

/** The fields of a log line, plain data. Every text in them is scrubbed and bounded. */
export type LogFields = { readonly [name: string]: unknown };

/** One log line: its time in ms since the epoch, its level, its message, its fields. */
export interface LogLine {
  readonly at: number;
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: LogFields;
}

/** Writes log lines. `child` adds fields to each line. */
export interface Logger {
  debug(message: string, fields?: LogFields): void;
  info(message: string, fields?: LogFields): void;
  warn(message: string, fields?: LogFields): void;
  error(message: string, fields?: LogFields): void;
  child(fields: LogFields): Logger;
}

export interface LogOptions {
  readonly level: LogLevel;
  readonly now: () => number;
  readonly scrubber?: Scrubber;
  readonly sink: (line: LogLine) => void;
}

/** Lines of one kind that pass within a minute: a definition's own lines may be more than those of a fault. */
const PASSING: { readonly [level in LogLevel]: number } = { debug: 1_000, info: 1_000, warn: 10, error: 10 };
/** Lines that a definition prints itself, whatever they say. */
const PRINTED_PASSING = 300;
const MAX_KEY_LENGTH = 200;

export interface RootLogger extends Logger {
  /** Logs the counts of omitted lines: for the end of a process. */
  flush(): void;
}

export function createLogger({ level: lowest, now, scrubber, sink }: LogOptions, bound: LogFields = {}): RootLogger {
  const repeats = createRepeats(sumOf);
  const clean = (text: string): string => scrubber?.clean(text) ?? text;
  const write = (level: LogLevel, message: string, fields: LogFields): void => {
    if (LOG_LEVELS.indexOf(level) < LOG_LEVELS.indexOf(lowest)) return;
    const at = now();
    const make = (): LogLine => ({ at, level, message: excerpt(message, clean), fields: excerptOf(traced(fields), clean) });
    for (const line of repeats.take(kindOf(level, message, fields), at, make)) sink(line);
  };
  return { ...loggerOn(write, bound), flush: () => repeats.rest(now()).forEach(sink) };
}

/** Names the trace of the line's event, under the name that OpenTelemetry has for it in a log. */
function traced(fields: LogFields): LogFields {
  const { handle, event } = fields;
  return typeof handle === "string" && typeof event === "string" && isTraced() ? { ...fields, trace_id: traceIdOf(handle, event) } : fields;
}

/** Lines of one specialist never hide those of another. */
function kindOf(level: LogLevel, message: string, { handle, code, printed }: LogFields): KindOf {
  const parts = printed === undefined ? [level, handle, code, message] : ["printed", handle];
  const key = parts.map((part) => (typeof part === "string" ? part.slice(0, MAX_KEY_LENGTH) : "")).join(" ");
  return { key, passing: printed === undefined ? PASSING[level] : PRINTED_PASSING };
}

function sumOf({ level, message, fields: { handle, printed } }: LogLine, { more, text }: LeftOut, at: number): LogLine {
  const what = printed === undefined ? message : "lines that the definition printed";
  return { at, level, message: `${what}: ${text}`, fields: { ...(handle === undefined ? {} : { handle }), more } };
}

type Write = (level: LogLevel, message: string, fields: LogFields) => void;

function loggerOn(write: Write, bound: LogFields): Logger {
  return {
    debug: (message, fields) => write("debug", message, { ...bound, ...fields }),
    info: (message, fields) => write("info", message, { ...bound, ...fields }),
    warn: (message, fields) => write("warn", message, { ...bound, ...fields }),
    error: (message, fields) => write("error", message, { ...bound, ...fields }),
    child: (fields) => loggerOn(write, { ...bound, ...fields }),
  };
}

/** A logger that drops every line. */
export function silentLogger(): Logger {
  const nothing = (): void => undefined;
  const logger: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing, child: () => logger };
  return logger;
}
