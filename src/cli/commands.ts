/** Lists the commands. Each is loaded on demand. */
import type { CommandEntry } from "./command.ts";

/** In the order in which a newcomer needs them. */
export const COMMANDS: readonly CommandEntry[] = [
  { name: "init", describe: "write a new project: a specialist, its test, settings", load: () => import("./commands/init.ts") },
  { name: "dev", describe: "run this project on a local network, and reload it as you save", load: () => import("./commands/dev.ts") },
  { name: "demo", describe: "run a network and example specialists in one process, to watch", load: () => import("./commands/demo.ts") },
  { name: "check", describe: "check settings and definitions for mistakes, without a call", load: () => import("./commands/check.ts") },
  {
    name: "plan",
    describe: "estimate the requests of the definitions, and how soon they see news",
    load: () => import("./commands/plan.ts"),
  },
  { name: "run", describe: "run the specialists of this project on a network", load: () => import("./commands/run.ts") },
  { name: "network", describe: "run a local network alone, to develop against", load: () => import("./commands/network.ts") },
  { name: "doctor", describe: "examine a network by reads only, and draft a profile for it", load: () => import("./commands/doctor.ts") },
  { name: "status", describe: "show what runs, its usage, and what waits or needs you", load: () => import("./commands/status.ts") },
  { name: "fleet", describe: "show the processes that share a store on a server, or drain one", load: () => import("./commands/fleet.ts") },
  { name: "log", describe: "list actions and decisions", load: () => import("./commands/log.ts") },
  {
    name: "rehearse",
    describe: "handle one event once, and show what would be done",
    load: () => import("./commands/rehearse.ts"),
  },
  {
    name: "deliveries",
    describe: "list webhook deliveries that nothing handled or understood",
    load: () => import("./commands/deliveries.ts"),
  },
  { name: "why", describe: "explain why something waits, was refused or is parked", load: () => import("./commands/why.ts") },
  { name: "call", describe: "run one operation by name, through all limits", load: () => import("./commands/call.ts") },
  { name: "agents", describe: "create, list, change and delete your agents on the network", load: () => import("./commands/agents.ts") },
  { name: "mcp", describe: "serve a specialist's operations as tools, over MCP", load: () => import("./commands/mcp.ts") },
  { name: "approve", describe: "approve an action that waits for you", load: () => import("./commands/approve.ts") },
  { name: "reject", describe: "reject an action that waits for you", load: () => import("./commands/reject.ts") },
  { name: "pause", describe: "stop new work", load: () => import("./commands/pause.ts") },
  { name: "resume", describe: "end a pause", load: () => import("./commands/resume.ts") },
  { name: "halt", describe: "the kill switch for writes", load: () => import("./commands/halt.ts") },
  {
    name: "unfreeze",
    alias: "thaw",
    describe: "let a frozen account spend again",
    load: () => import("./commands/unfreeze.ts"),
  },
  { name: "retry", describe: "retry a parked event or action", load: () => import("./commands/retry.ts") },
  { name: "settle", describe: "resolve an action in doubt", load: () => import("./commands/settle.ts") },
  {
    name: "simulate",
    describe: "run virtual days and weeks of the specialists, with seeded faults",
    load: () => import("./commands/simulate.ts"),
  },
  { name: "retract", describe: "delete a post of ours from the network", load: () => import("./commands/retract.ts") },
  { name: "store", describe: "copy the store to a server, or from one to a file", load: () => import("./commands/store.ts") },
  { name: "backup", describe: "write a consistent copy of the store", load: () => import("./commands/backup.ts") },
  { name: "alerts", describe: "list and try the targets that are told of what needs you", load: () => import("./commands/alerts.ts") },
  {
    name: "completion",
    describe: "print the completion script of bash, zsh or fish",
    load: () => import("./commands/completion.ts"),
  },
];
