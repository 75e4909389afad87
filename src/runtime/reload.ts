/**
 * Reloads definitions: one of whose files has changed is loaded again, a broken one keeps its last good version, a removed one retires. A
 * changed variable of `.env` reloads all of them, because a definition may have read it while it was loaded.
 */
import { realpath } from "node:fs/promises";
import { dirname, relative, sep } from "node:path";
import type { Config } from "../config/config.ts";
import type { DefinitionLoader, LoadedDefinition } from "../config/definitions.ts";
import { dotenvOf } from "../config/environment.ts";
import { fileSignature, folderSignature, type FolderSignature } from "../config/folder-signature.ts";
import { isMistake, type Problem } from "../config/problem.ts";
import type { Roster } from "../config/roster.ts";
import { watchFolders } from "../config/watch-folders.ts";
import { onAbort } from "../core/abort.ts";
import { nextTurn, sleep, type Clock } from "../core/clock.ts";
import { messageOf } from "../core/errors.ts";
import type { Handle } from "../core/ids.ts";
import type { Logger } from "../core/log.ts";
import { SECOND } from "../core/units.ts";
import type { Specialist } from "../specialist/specialist.ts";
import { CODE_ONLY, definitionChanges } from "./definition-changes.ts";
import type { Runtime } from "./runtime.ts";

export interface ReloadingOptions {
  readonly config: Config;
  /** The running specialists. */
  readonly roster: Roster;
  readonly runtime: Pick<Runtime, "put" | "retire" | "announcer">;
  readonly clock: Clock;
  readonly log: Logger;
  /** Loads what has changed, and checks everything again. */
  readonly load: () => Promise<Roster>;
  /** The loader behind `load` and `roster`. */
  readonly loader: Pick<DefinitionLoader, "files" | "renew">;
  /** Gives the variables of a changed `.env` to this process. True if one has changed. */
  readonly refresh: () => boolean;
  /** A person waits for each edit. */
  readonly isHasty?: boolean;
  /** Called once in each reload, before the first of these is put or retired. */
  readonly onChange?: (changes: DefinitionsChanged) => Promise<void>;
}

/** The specialists that a reload changes. */
export interface DefinitionsChanged {
  readonly put: readonly Specialist[];
  readonly retired: readonly Handle[];
}

/** Interval between checks of the files, a few dozen `stat` calls each: where the system reports changes, it may still miss one. */
const CHECK_MS = { watched: 10 * SECOND, unwatched: 2 * SECOND };
/** The same where a person waits. `.env` is beside the definitions, and so is watched too. */
const HASTY_CHECK_MS = { watched: 10 * SECOND, unwatched: SECOND / 10 };
/** Largest share of the time spent on checks: a slow folder is checked less often, and seldom unasked if the system reports changes. */
const LOOKING_SHARE = { unasked: 0.003, usual: 0.02, hasty: 0.2 };
/** A file that is still being written changes again within this time. */
const SETTLE_MS = { usual: 300, hasty: 40 };
const MAX_SETTLES = 20;
/** A changed module may be that of thousands of definitions: the event loop turns after so many of them. */
const PUTS_PER_TURN = 20;

/** A running specialist, by the definition that it runs. */
interface Running {
  readonly file: string;
  readonly load: number | undefined;
  readonly specialist: Specialist;
}

interface State {
  readonly root: string;
  readonly running: Map<Handle, Running>;
}

/** Runs until `signal` is aborted. Nobody waits then for files that are being read. Never throws. */
export async function keepReloading(options: ReloadingOptions, signal: AbortSignal): Promise<void> {
  const { config, clock, isHasty = false } = options;
  const root = await realpath(config.agents); // the loader names its files by real path
  const running = options.roster.definitions.map((one): [Handle, Running] => [one.specialist.handle, runningOf(one)]);
  const state: State = { root, running: new Map(running) };
  let wake = new AbortController();
  const first = await unlessAborted(lookAt(options, root), signal);
  let seen: FolderSignature = new Map([...(first ?? []), ...options.loader.files()]);
  const dotenv = dotenvOf(config.cwd);
  const watching = watchFolders((folder, path) => {
    // The folder of the project may hold the store, which changes all the time.
    if (isWithin(root, folder) || path === undefined || seen.has(path) || path === dotenv) wake.abort();
  });
  try {
    while (!signal.aborted) {
      watching.follow([root, dirname(dotenv), ...[...seen.keys()].map((path) => dirname(path))]);
      const began = clock.monotonic();
      const now = await unlessAborted(lookAt(options, root), signal);
      if (now === undefined) return;
      const variables = options.refresh();
      const took = clock.monotonic() - began;
      if (variables || changedPaths(seen, now).length > 0) {
        const settled = await whenSettled(options, root, now, signal);
        if (settled === undefined) return;
        await reloadSafely(options, state, { changed: changedPaths(seen, settled), variables, signal });
        seen = new Map([...settled, ...options.loader.files()]);
        continue; // the files may have changed meanwhile
      }
      await sleep(clock, took / (isHasty ? LOOKING_SHARE.hasty : LOOKING_SHARE.usual), signal);
      if (signal.aborted) return;
      const forget = onAbort(signal, () => wake.abort());
      const checkMs = isHasty ? HASTY_CHECK_MS : CHECK_MS;
      const unaskedMs = isHasty ? 0 : took / LOOKING_SHARE.unasked;
      await sleep(clock, watching.isComplete ? Math.max(checkMs.watched, unaskedMs) : checkMs.unwatched, wake.signal);
      forget();
      wake = new AbortController();
    }
  } finally {
    watching.close();
  }
}

function runningOf({ file, load, specialist }: LoadedDefinition): Running {
  return { file, load, specialist };
}

/** The files of the folder of definitions, and those elsewhere that definitions import. */
async function lookAt({ loader }: ReloadingOptions, root: string): Promise<FolderSignature> {
  const signatures = new Map(await folderSignature(root));
  for (const path of loader.files().keys()) if (!signatures.has(path)) signatures.set(path, await fileSignature(path));
  return signatures;
}

/** The value; undefined if the signal is aborted first. */
async function unlessAborted<Value>(reading: Promise<Value>, signal: AbortSignal): Promise<Value | undefined> {
  if (signal.aborted) return undefined;
  const aborted = Promise.withResolvers<undefined>();
  const forget = onAbort(signal, () => aborted.resolve(undefined));
  try {
    return await Promise.race([reading, aborted.promise]);
  } finally {
    forget();
  }
}

/** Undefined if the signal is aborted first. */
async function whenSettled(
  options: ReloadingOptions,
  root: string,
  first: FolderSignature,
  signal: AbortSignal,
): Promise<FolderSignature | undefined> {
  const settleMs = options.isHasty === true ? SETTLE_MS.hasty : SETTLE_MS.usual;
  let before = first;
  for (let i = 0; i < MAX_SETTLES; i++) {
    await sleep(options.clock, settleMs, signal);
    const after = await unlessAborted(lookAt(options, root), signal);
    if (after === undefined || changedPaths(before, after).length === 0) return after;
    before = after;
  }
  return before;
}

/** Files that were added, changed or removed. */
function changedPaths(before: FolderSignature, after: FolderSignature): string[] {
  return [...new Set([...before.keys(), ...after.keys()])].filter((path) => before.get(path) !== after.get(path));
}

interface Changes {
  readonly changed: readonly string[];
  /** Variables of `.env` have changed. */
  readonly variables: boolean;
  /** Nothing new runs once it is aborted. */
  readonly signal: AbortSignal;
}

async function reloadSafely(options: ReloadingOptions, state: State, changes: Changes): Promise<void> {
  try {
    await reload(options, state, changes);
  } catch (error) {
    options.log.error("the definitions could not be reloaded; the previous ones keep running", { message: messageOf(error) });
  }
}

async function reload(options: ReloadingOptions, state: State, { changed: paths, variables, signal }: Changes): Promise<void> {
  const { runtime, clock } = options;
  const { running } = state;
  const roster = await unlessAborted(loadChanged(options, state, paths, variables), signal);
  if (roster === undefined) return;
  const broken = new Map(
    roster.problems
      .filter(isMistake)
      .toReversed() // the first one of a file is told
      .flatMap((problem) => (problem.file === undefined ? [] : [[problem.definition ?? problem.file, problem]])),
  );
  const usable = roster.definitions.filter(({ file, specialist }) => {
    const before = running.get(specialist.handle);
    const displaced = before !== undefined && before.file !== file && broken.has(before.file);
    return !broken.has(file) && !displaced;
  });
  const changed = usable.filter(({ file, load, specialist }) => {
    const before = running.get(specialist.handle);
    return before?.file !== file || before.load !== load;
  });
  const defined = new Set(usable.map(({ specialist }) => specialist.handle));
  const gone = [...running].filter(([handle, { file }]) => !defined.has(handle) && !broken.has(file));
  const put = changed.map(({ specialist }) => specialist);
  if (changed.length + gone.length > 0) await options.onChange?.({ put, retired: gone.map(([handle]) => handle) });
  for (const [i, one] of changed.entries()) {
    if (i % PUTS_PER_TURN === 0) await nextTurn(clock);
    if (signal.aborted) return;
    const { file, specialist } = one;
    const { handle } = specialist;
    const before = running.get(handle);
    running.set(handle, runningOf(one));
    await runtime.put(specialist);
    tell(options, handle, file, before === undefined ? "joins: its definition is new" : changeOf(before.specialist, specialist, variables));
  }
  const byFile = new Map([...running].map(([handle, { file }]) => [file, handle]));
  for (const [definition, problem] of broken) tellBroken(options, byFile.get(definition), problem);
  for (const [handle, { file }] of gone) {
    running.delete(handle);
    runtime.retire(handle);
    tell(options, handle, file, "is no longer defined: it finishes its obligations, and begins no new work");
  }
}

async function loadChanged(
  { loader, load }: ReloadingOptions,
  { root }: State,
  changed: readonly string[],
  variables: boolean,
): Promise<Roster> {
  if (variables) loader.renew(); // a definition may have read one while it was loaded
  const before = loader.files();
  const roster = await load();
  const after = loader.files();
  const strangers = changed.filter((path) => !before.has(path) && !after.has(path)).map((path) => entryOf(root, path));
  if (strangers.length === 0) return roster;
  // Nobody knows who has read such a file: the definition in its folder, or else any.
  const known = new Set([...after.keys()].map((path) => entryOf(root, path)));
  const isNear = strangers.every((entry) => known.has(entry));
  loader.renew(isNear ? (path) => strangers.includes(entryOf(root, path)) : undefined);
  return load();
}

/** The entry of the folder of definitions that a file belongs to. */
function entryOf(root: string, file: string): string {
  return relative(root, file).split(sep)[0] ?? "";
}

function isWithin(root: string, folder: string): boolean {
  return folder === root || folder.startsWith(root + sep);
}

function changeOf(before: Specialist, after: Specialist, variables: boolean): string {
  const changes = definitionChanges(before, after);
  return variables && changes === CODE_ONLY
    ? "has the changed variables of .env from now on"
    : `has a new definition, in effect from now on (${changes})`;
}

function tellBroken(options: ReloadingOptions, handle: Handle | undefined, problem: Problem): void {
  const { file = "", message, line, column, excerpt, hint } = problem;
  const place = [relative(options.config.cwd, file), line, column].filter((part) => part !== undefined).join(":");
  const code = excerpt === undefined ? "" : `, in: ${excerpt}`;
  const text = `${place} cannot be used: ${message}${code}${hint === undefined ? "" : `; ${hint}`}`;
  tell(options, handle ?? "", file, handle === undefined ? text : `keeps its last working definition: ${text}`);
}

function tell({ runtime, clock }: ReloadingOptions, handle: string, file: string, message: string): void {
  runtime.announcer.emit("definition", { at: clock.now(), handle, file, message });
}
