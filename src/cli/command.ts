/** The type of a command: each file under commands/ exports one, and main.ts runs it. */
import type { Config, Flags } from "../config/config.ts";
import type { SharedVariables, Variables } from "../config/environment.ts";
import type { Clock } from "../core/clock.ts";
import type { Pipes } from "../mcp/over-stdio.ts";
import type { CapturedPrints } from "../specialist/prints.ts";
import type { Ask } from "./asking.ts";
import type { Output } from "./output.ts";

/** Exit codes, on which scripts may rely. */
export const EXIT = { done: 0, failed: 1, misused: 2 } as const;
export type ExitCode = (typeof EXIT)[keyof typeof EXIT];

export interface CommandOption {
  /** For example `--store <url>` or `--dry-run`. */
  readonly flags: string;
  readonly describe: string;
}

export interface Command {
  /** Also the name of its file. */
  readonly name: string;
  /** Operands, for example `<operation>` or `[handle]`. */
  readonly arguments?: string;
  readonly describe: string;
  readonly options: readonly CommandOption[];
  /** The command speaks a protocol on stdout: its lines go to stderr. */
  readonly ownsStdout?: true;
  /** Lines shown below the help. */
  readonly examples?: readonly string[];
  /**
   * Returns the exit code. Throws `Misconfigured` for a mistake that a person must fix (exit 2), other errors of ours for failures (exit
   * 1).
   */
  run(context: Context): Promise<ExitCode>;
}

/** One command in the table of all. */
export interface CommandEntry {
  readonly name: string;
  /** Another accepted name, which is not listed. */
  readonly alias?: string;
  /** Text for the list of commands; the command itself has more. */
  readonly describe: string;
  readonly load: () => Promise<{ readonly command: Command }>;
}

/** Options as typed, by their camel-case names: `--base-url x` is `baseUrl: "x"`, `--dry-run` is `dryRun: true`. */
export type GivenOptions = { readonly [name: string]: string | boolean | undefined };

export interface Context {
  readonly command: string;
  /** All commands. */
  readonly commands: readonly CommandEntry[];
  readonly version: string;
  readonly args: readonly string[];
  readonly options: GivenOptions;
  readonly cwd: string;
  readonly env: Variables;
  /** The variables of `.env` that definitions see. */
  readonly variables?: SharedVariables;
  /** Text that definitions print. */
  readonly prints?: CapturedPrints;
  readonly out: Output;
  /** The standard streams as they are, for a command that owns them. */
  readonly pipes?: () => Pipes;
  readonly clock: Clock;
  /** Asks the person at the terminal; undefined if nobody can be asked. */
  readonly asking: () => Ask | undefined;
  /** The settings from flags, environment and file. Throws `Misconfigured` with the first mistake. */
  loadConfig(): Promise<Config>;
  /** The given options that are settings. */
  readonly flags: Flags;
}

/** Options shared by many commands, so that they read alike everywhere. */
export const OPTIONS = {
  config: { flags: "--config <file>", describe: "the settings (default: retinue.config.ts, if there is one)" },
  agents: { flags: "--agents <dir>", describe: "the folder of definitions (default: ./agents)" },
  baseUrl: { flags: "--base-url <url>", describe: "the network's base address" },
  set: { flags: "--set <a|b>", describe: "the network's endpoint set (default: b)" },
  profile: { flags: "--profile <file>", describe: "the network's profile, if it differs from its set" },
  store: { flags: "--store <url>", describe: "the store (default: sqlite:.retinue/store.sqlite)" },
  logLevel: { flags: "--log-level <level>", describe: "error, warn, info or debug (default: info)" },
  plain: { flags: "--plain", describe: "lines instead of the live view, also on a terminal" },
  for: { flags: "--for <time>", describe: "stop after this long, such as 60s or 2h" },
} as const satisfies Record<string, CommandOption>;

/** The options that name a project and its network, in the order of the help. */
export const PROJECT_OPTIONS = [OPTIONS.config, OPTIONS.agents, OPTIONS.baseUrl, OPTIONS.set, OPTIONS.profile, OPTIONS.store] as const;
