/** The commands there are. Each is loaded only when it is asked for. */
import type { Command } from "./command.ts";

export interface CommandEntry {
  readonly name: string;
  /** Another name that is understood, and not listed. */
  readonly alias?: string;
  /** For the list of commands; the command itself says more. */
  readonly describe: string;
  readonly load: () => Promise<{ readonly command: Command }>;
}

/** In the order in which a newcomer meets them. */
export const COMMANDS: readonly CommandEntry[] = [
  { name: "demo", describe: "a network and a cast of specialists in one process, to watch", load: () => import("./commands/demo.ts") },
  { name: "check", describe: "look for mistakes in settings and definitions, without a call", load: () => import("./commands/check.ts") },
  {
    name: "plan",
    describe: "what definitions will cost in requests, and how soon they see news",
    load: () => import("./commands/plan.ts"),
  },
  { name: "run", describe: "run the specialists of this project on a network", load: () => import("./commands/run.ts") },
  { name: "network", describe: "a local network alone, to develop against", load: () => import("./commands/network.ts") },
  { name: "doctor", describe: "what a network is like, by reads only, and a profile for it", load: () => import("./commands/doctor.ts") },
  { name: "status", describe: "what runs, what it has used, what waits and what needs you", load: () => import("./commands/status.ts") },
  { name: "log", describe: "what was done and decided", load: () => import("./commands/log.ts") },
  {
    name: "deliveries",
    describe: "webhook deliveries that nobody handled or understood, and what came",
    load: () => import("./commands/deliveries.ts"),
  },
  { name: "why", describe: "why something waits, was refused or is parked", load: () => import("./commands/why.ts") },
  { name: "call", describe: "one operation by name, through all limits", load: () => import("./commands/call.ts") },
  { name: "approve", describe: "let a held action leave", load: () => import("./commands/approve.ts") },
  { name: "reject", describe: "say no to a held action", load: () => import("./commands/reject.ts") },
  { name: "pause", describe: "begin nothing new", load: () => import("./commands/pause.ts") },
  { name: "resume", describe: "end a pause", load: () => import("./commands/resume.ts") },
  { name: "halt", describe: "the kill switch for writes", load: () => import("./commands/halt.ts") },
  {
    name: "unfreeze",
    alias: "thaw",
    describe: "let a frozen account spend again",
    load: () => import("./commands/unfreeze.ts"),
  },
  { name: "retry", describe: "try a parked event or action again", load: () => import("./commands/retry.ts") },
  { name: "settle", describe: "decide an action in doubt", load: () => import("./commands/settle.ts") },
  { name: "simulate", describe: "virtual weeks of the cast in seconds, with seeded faults", load: () => import("./commands/simulate.ts") },
  { name: "backup", describe: "a consistent copy of the store", load: () => import("./commands/backup.ts") },
];
