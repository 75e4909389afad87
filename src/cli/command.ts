/** What a command is: each file under commands/ exports one, and main.ts runs it. */
import type { Config, Flags } from "../config/config.ts";
import type { Variables } from "../config/environment.ts";
import type { Clock } from "../core/clock.ts";
import type { Ask } from "./asking.ts";
import type { Output } from "./output.ts";

/** `done`, `failed`, `misused`: what scripts may rely on. */
export const EXIT = { done: 0, failed: 1, misused: 2 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export interface CommandOption {
  /** As in `--store <url>` or `--dry-run`. */
  readonly flags: string;
  readonly describe: string;
}

export interface Command {
  /** Also the file's name. */
  readonly name: string;
  /** What it takes besides options, as in `<operation>` or `[handle]`. */
  readonly arguments?: string;
  readonly describe: string;
  readonly options: readonly CommandOption[];
  /** Lines shown below the help. */
  readonly examples?: readonly string[];
  /** Answers the exit code. Throws `Misconfigured` for what a person must mend (exit 2), other errors of ours for failures (exit 1). */
  run(context: Context): Promise<ExitCode>;
}

/** Options as typed, by their camel-case names: `--base-url x` is `baseUrl: "x"`, `--dry-run` is `dryRun: true`. */
export type GivenOptions = { readonly [name: string]: string | boolean | undefined };

export interface Context {
  readonly command: string;
  readonly version: string;
  readonly args: readonly string[];
  readonly options: GivenOptions;
  readonly cwd: string;
  readonly env: Variables;
  readonly out: Output;
  readonly clock: Clock;
  /** A way to ask the person at the terminal; undefined where nobody can be asked. */
  readonly asking: () => Ask | undefined;
  /** The settings, by flags, environment and file. Throws `Misconfigured` with the first mistake. */
  loadConfig(): Promise<Config>;
  /** The options among those given that are settings. */
  readonly flags: Flags;
}

/** Options that many commands share, so that they read alike everywhere. */
export const OPTIONS = {
  config: { flags: "--config <file>", describe: "the settings (default: retinue.config.ts, where there is one)" },
  agents: { flags: "--agents <dir>", describe: "the folder of definitions (default: ./agents)" },
  baseUrl: { flags: "--base-url <url>", describe: "the network's base address" },
  set: { flags: "--set <a|b>", describe: "which endpoint set the network speaks (default: b)" },
  profile: { flags: "--profile <file>", describe: "how the network speaks, where it differs from its set" },
  store: { flags: "--store <url>", describe: "where everything is kept (default: sqlite:.retinue/store.sqlite)" },
  for: { flags: "--for <time>", describe: "stop after this long, such as 60s or 2h" },
} as const satisfies Record<string, CommandOption>;
