/** Signature of a folder's entries, which shows a change without reading the files. */
import type { Dirent } from "node:fs";
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";

/** By top-level entry: names, sizes and times of everything in it. */
export type FolderSignature = ReadonlyMap<string, string>;

const MAX_FILES = 50_000;
const MAX_DEPTH = 8;
const IGNORED = /^\.|^node_modules$/;

/** An unreadable folder or file counts as empty, which is a change too. */
export async function folderSignature(folder: string): Promise<FolderSignature> {
  const left = { files: MAX_FILES };
  const signatures = new Map<string, string>();
  for (const entry of await entriesOf(folder)) signatures.set(entry.name, await signatureOf(join(folder, entry.name), entry, 1, left));
  return signatures;
}

async function signatureOf(path: string, entry: Dirent, depth: number, left: { files: number }): Promise<string> {
  if (left.files-- <= 0 || depth > MAX_DEPTH) return "";
  if (!entry.isDirectory()) return fileSignature(path);
  const parts: string[] = [];
  for (const inner of await entriesOf(path))
    parts.push(`${inner.name} ${await signatureOf(join(path, inner.name), inner, depth + 1, left)}`);
  return parts.join("\n");
}

async function entriesOf(folder: string): Promise<Dirent[]> {
  try {
    const entries = await readdir(folder, { withFileTypes: true });
    return entries.filter(({ name }) => !IGNORED.test(name)).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    return []; // missing or not permitted: it counts as empty, and loading reports the reason
  }
}

async function fileSignature(path: string): Promise<string> {
  try {
    const { mtimeMs, size, ino } = await stat(path);
    return `${mtimeMs} ${size} ${ino}`;
  } catch {
    return ""; // as above
  }
}
