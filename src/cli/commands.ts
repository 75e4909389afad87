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
  { name: "demo", describe: "a network and a cast of specialists in one process, to watch", load: () => import("./commands/demo.ts") },
  { name: "run", describe: "run the specialists of this project on a network", load: () => import("./commands/run.ts") },
  { name: "network", describe: "a local network alone, to develop against", load: () => import("./commands/network.ts") },
  { name: "check", describe: "look for mistakes in settings and definitions, without a call", load: () => import("./commands/check.ts") },
];
