/**
 * Reloads definitions: a changed file is loaded again, a broken one keeps its last good version, a removed one retires. A changed variable
 * of `.env` reloads all of them, because a definition may have read it while it was loaded.
 */
import { realpath } from "node:fs/promises";
import { relative } from "node:path";
import type { Config } from "../config/config.ts";
import { folderSignature, type FolderSignature } from "../config/folder-signature.ts";
import { isMistake, type Problem } from "../config/problem.ts";
import type { Roster } from "../config/roster.ts";
import { sleep, type Clock } from "../core/clock.ts";
import { messageOf } from "../core/errors.ts";
import type { Handle } from "../core/ids.ts";
import type { Logger } from "../core/log.ts";
import { SECOND } from "../core/units.ts";
import type { Runtime } from "./runtime.ts";

export interface ReloadingOptions {
  readonly config: Config;
  /** The running specialists. */
  readonly roster: Roster;
  readonly runtime: Pick<Runtime, "put" | "retire" | "announcer">;
  readonly clock: Clock;
  readonly log: Logger;
  /** Loads and checks everything again. */
  readonly load: () => Promise<Roster>;
  /** Gives the variables of a changed `.env` to this process. True if one has changed. */
  readonly refresh: () => boolean;
  /** Interval between checks of the folder, in ms. Default 2 s. */
  readonly lookMs?: number;
}

/**
 * Interval between checks of the folder, a few dozen `stat` calls each. Watching by the system's own means misses changes on some file
 * systems.
 */
const LOOK_MS = 2 * SECOND;
/** Largest share of the time spent on checks, by default and where a person waits: a slow folder is checked less often. */
const LOOKING_SHARE = { usual: 0.02, hasty: 0.2 };
/** A file that is still being written changes again within this time. */
const SETTLE_MS = 300;
const MAX_SETTLES = 20;
/** Stands for the variables of `.env` among changed entries: no definition has this name. */
const VARIABLES = ".env";

/** Runs until `signal` is aborted. Never throws. */
export async function keepReloading(options: ReloadingOptions, signal: AbortSignal): Promise<void> {
  const { config, clock, log, lookMs = LOOK_MS } = options;
  const share = lookMs < LOOK_MS ? LOOKING_SHARE.hasty : LOOKING_SHARE.usual;
  const root = await realpath(config.agents); // the loader names its files by real path
  const files = new Map(options.roster.definitions.map(({ file, specialist }) => [specialist.handle, file]));
  let seen = await folderSignature(config.agents);
  while (!signal.aborted) {
    const began = clock.monotonic();
    const now = await folderSignature(config.agents);
    const variables = options.refresh() ? [VARIABLES] : [];
    const took = clock.monotonic() - began;
    if (differing(seen, now).length + variables.length > 0) {
      const settled = await whenSettled(config.agents, now, { clock, settleMs: Math.min(SETTLE_MS, lookMs) }, signal);
      try {
        await reload(options, root, files, [...differing(seen, settled), ...variables]);
      } catch (error) {
        log.error("the definitions could not be reloaded; the previous ones keep running", { message: messageOf(error) });
      }
      seen = settled;
    }
    await sleep(clock, Math.max(lookMs, took / share), signal);
  }
}

async function whenSettled(
  folder: string,
  first: FolderSignature,
  { clock, settleMs }: { readonly clock: Clock; readonly settleMs: number },
  signal: AbortSignal,
): Promise<FolderSignature> {
  let before = first;
  for (let i = 0; i < MAX_SETTLES && !signal.aborted; i++) {
    await sleep(clock, settleMs, signal);
    const after = await folderSignature(folder);
    if (differing(before, after).length === 0) return after;
    before = after;
  }
  return before;
}

/** Names of entries that were added, changed or removed. */
function differing(before: FolderSignature, after: FolderSignature): string[] {
  return [...new Set([...before.keys(), ...after.keys()])].filter((name) => before.get(name) !== after.get(name));
}

async function reload(options: ReloadingOptions, root: string, files: Map<Handle, string>, changed: readonly string[]): Promise<void> {
  const { runtime } = options;
  const roster = await options.load();
  const broken = new Map(
    roster.problems
      .filter(isMistake)
      .toReversed() // the first one of a file is told
      .flatMap((problem) => (problem.file === undefined ? [] : [[problem.file, problem]])),
  );
  const entryOf = (file: string): string => relative(root, file).split(/[\\/]/)[0] ?? "";
  const entries = new Set([...roster.definitions.map(({ file }) => file), ...files.values(), ...broken.keys()].map(entryOf));
  // A changed file that is no definition is imported by some, and nobody knows by which.
  const shared = changed.some((entry) => !entries.has(entry));
  const defined = new Set<Handle>();
  for (const { file, specialist } of roster.definitions) {
    const { handle } = specialist;
    const before = files.get(handle);
    const displaced = before !== undefined && before !== file && broken.has(before);
    if (broken.has(file) || displaced) continue;
    defined.add(handle);
    if (before === file && !shared && !changed.includes(entryOf(file))) continue;
    files.set(handle, file);
    await runtime.put(specialist);
    tell(options, handle, file, before === undefined ? "joins: its definition is new" : changeOf(changed));
  }
  for (const problem of broken.values()) tellBroken(options, files, problem);
  for (const [handle, file] of files) {
    if (defined.has(handle) || broken.has(file)) continue;
    files.delete(handle);
    runtime.retire(handle);
    tell(options, handle, file, "is no longer defined: it finishes its obligations, and begins no new work");
  }
}

function changeOf(changed: readonly string[]): string {
  return changed.every((entry) => entry === VARIABLES)
    ? "has the changed variables of .env from now on"
    : "has a new definition, in effect from now on";
}

function tellBroken(options: ReloadingOptions, files: ReadonlyMap<Handle, string>, problem: Problem): void {
  const { file = "", message, line } = problem;
  const handle = [...files].find(([, known]) => known === file)?.[0];
  const place = `${relative(options.config.cwd, file)}${line === undefined ? "" : `:${line}`}`;
  const text =
    handle === undefined ? `${place} cannot be used: ${message}` : `keeps its last working definition: ${place} cannot be used: ${message}`;
  tell(options, handle ?? "", file, text);
}

function tell({ runtime, clock }: ReloadingOptions, handle: string, file: string, message: string): void {
  runtime.announcer.emit("definition", { at: clock.now(), handle, file, message });
}
