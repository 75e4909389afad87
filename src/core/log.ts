/** Log lines as values: the sink decides how they look. Secrets are scrubbed before the sink sees them. */
import type { Scrubber } from "./secret.ts";

export const LOG_LEVELS = ["debug", "info", "warn", "error"] as const;
export type LogLevel = (typeof LOG_LEVELS)[number];

export type LogFields = { readonly [name: string]: unknown };

export interface LogLine {
  readonly at: number;
  readonly level: LogLevel;
  readonly message: string;
  readonly fields: LogFields;
}

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

export function createLogger(options: LogOptions, bound: LogFields = {}): Logger {
  const lowest = LOG_LEVELS.indexOf(options.level);
  const write = (level: LogLevel) => (message: string, fields?: LogFields) => {
    if (LOG_LEVELS.indexOf(level) < lowest) return;
    const all = { ...bound, ...fields };
    const { scrubber } = options;
    options.sink({
      at: options.now(),
      level,
      message: scrubber?.clean(message) ?? message,
      fields: scrubber === undefined ? all : (JSON.parse(scrubber.clean(JSON.stringify(all))) as LogFields),
    });
  };
  return {
    debug: write("debug"),
    info: write("info"),
    warn: write("warn"),
    error: write("error"),
    child: (fields) => createLogger(options, { ...bound, ...fields }),
  };
}

export function silentLogger(): Logger {
  const nothing = (): void => undefined;
  const logger: Logger = { debug: nothing, info: nothing, warn: nothing, error: nothing, child: () => logger };
  return logger;
}
