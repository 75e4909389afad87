/** The folder on this machine of a store on a server: working copies of living processes, and nothing that a process needs of the one before. */
import { accessSync, constants, existsSync, mkdirSync, readdirSync, rmSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { LOCAL_FOLDER_VARIABLE, type PostgresAddress } from "../../config/postgres-address.ts";
import { messageOf, Misconfigured } from "../../core/errors.ts";
import { MEMORY } from "../sqlite/database.ts";
import { storeUnwritable } from "../sqlite/unwritable.ts";
import { openWorkingCopy, type WorkingCopy } from "../sqlite/working-copy.ts";

/** In the name of a working copy that no holder has. */
export const NO_HOLDER = 0;
/** The working copies of this process. In a container a process often has the number of the one before it. */
const opened = new Set<string>();

/** Makes the folder. Throws `Misconfigured` (`local_folder_unwritable`), or `Retryable` (`store_unwritable`) if its disk is full. */
export function requireLocalFolder({ localFile }: Pick<PostgresAddress, "localFile">): void {
  const folder = dirname(localFile);
  try {
    mkdirSync(folder, { recursive: true, mode: 0o700 });
    accessSync(folder, constants.W_OK | constants.X_OK);
  } catch (error) {
    throw isOfPlace(error) ? unwritable(folder, error) : (storeUnwritable(folder, error) ?? unwritable(folder, error));
  }
}

/** A file system that is read-only was meant to be: the folder has to be elsewhere. */
const isOfPlace = (error: unknown): boolean => error instanceof Error && "code" in error && error.code === "EROFS";

function unwritable(folder: string, cause: unknown): Misconfigured {
  return new Misconfigured("local_folder_unwritable", `the folder for working copies ${folder} cannot be written: ${messageOf(cause)}`, {
    file: folder,
    cause,
    hint: `name a folder that the user of this process can write in ${LOCAL_FOLDER_VARIABLE}`,
  });
}

/** Opens the working copy of a holder, and removes those of processes that are gone. Throws `Retryable` (`store_unwritable`) if the disk is full. */
export function openLocalCopy(localFile: string, holder: number): WorkingCopy {
  if (localFile === MEMORY) return openWorkingCopy(localFile);
  removeDead(localFile);
  const file = `${localFile}-${process.pid}-${holder}`;
  opened.add(file);
  try {
    return openWorkingCopy(file);
  } catch (error) {
    throw storeUnwritable(file, error) ?? error;
  }
}

function removeDead(localFile: string): void {
  for (const file of opened) if (!existsSync(file)) opened.delete(file); // it was closed
  const folder = dirname(localFile);
  for (const name of existsSync(folder) ? readdirSync(folder) : []) {
    const [copy, pid] = name.startsWith(basename(localFile)) ? (/^-(\d+)-\d+/.exec(name.slice(basename(localFile).length)) ?? []) : [];
    if (copy === undefined) continue;
    const isUsed = Number(pid) === process.pid ? opened.has(`${localFile}${copy}`) : isAlive(Number(pid));
    if (!isUsed) rmSync(join(folder, name), { force: true });
  }
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM"; // another user's
  }
}
