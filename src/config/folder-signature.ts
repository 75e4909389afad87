/** Signatures of the files in a folder, which show a change without reading them. */
import { statSync } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";

/** By absolute path: size, time and identity of a file. */
export type FolderSignature = ReadonlyMap<string, string>;

const MAX_FILES = 50_000;
const MAX_DEPTH = 8;
/** Entries that are no part of a definition: hidden ones, packages, tests, and what editors write beside a file. */
const IGNORED = /^\.|^node_modules$|\.(test|spec|d)\.[cm]?[jt]s$|~$|^4913$/i;

/** An unreadable folder or file counts as empty, which is a change too. */
export async function folderSignature(folder: string): Promise<FolderSignature> {
  const signatures = new Map<string, string>();
  await addFolder(folder, 1, signatures);
  return signatures;
}

async function addFolder(folder: string, depth: number, signatures: Map<string, string>): Promise<void> {
  for (const { path, isFolder } of await entriesOf(folder)) {
    if (signatures.size >= MAX_FILES) return;
    if (!isFolder) signatures.set(path, await fileSignature(path));
    else if (depth < MAX_DEPTH) await addFolder(path, depth + 1, signatures);
  }
}

async function entriesOf(folder: string): Promise<{ readonly path: string; readonly isFolder: boolean }[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries
      .filter(({ name }) => !IGNORED.test(name))
      .map((entry) => ({ path: join(folder, entry.name), isFolder: entry.isDirectory() }));
  } catch {
    return []; // missing or not permitted: it counts as empty, and loading reports the reason
  }
}

/** Signature of one file; empty if it cannot be read. */
export async function fileSignature(path: string): Promise<string> {
  try {
    return signed(await stat(path));
  } catch {
    return ""; // as above
  }
}

/** The same, at once: for a loader that is about to read the file. */
export function fileSignatureNow(path: string): string {
  const status = statSync(path, { throwIfNoEntry: false });
  return status === undefined ? "" : signed(status);
}

function signed({ mtimeMs, size, ino }: { readonly mtimeMs: number; readonly size: number; readonly ino: number }): string {
  return `${mtimeMs} ${size} ${ino}`;
}
