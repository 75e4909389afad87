/** The commands there are. Each is loaded only when it is asked for. */
import type { Command } from "./command.ts";

export interface CommandEntry {
  readonly name: string;
  /** For the list of commands; the command itself says more. */
  readonly describe: string;
  readonly load: () => Promise<{ readonly command: Command }>;
}

/** In the order in which a newcomer meets them. */
export const COMMANDS: readonly CommandEntry[] = [
  { name: "check", describe: "look for mistakes in settings and definitions, without a call", load: () => import("./commands/check.ts") },
];
