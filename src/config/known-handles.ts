/** The handles of a project's definitions, found in their text: a shell that completes a word does not wait until each is loaded. */
import { closeSync, openSync, readdirSync, readSync } from "node:fs";
import { join } from "node:path";

const MAX_FILES = 1_000;
/** A definition begins with its handle. */
const MAX_BYTES = 16 * 1_024;
/** In TypeScript, JSON, YAML and front matter. A shell expands what it is given, so a handle has no other characters. */
const HANDLE = /^\s*["']?handle["']?\s*:\s*["'`]?([\w-]+)/m;
/** Files that are not definitions although they have the extension of one. */
export const IGNORED = /^\.|^readme\.md$|\.(test|spec|d)\.[cm]?[jt]s$/i;

/** Throws if the folder or a file cannot be read. */
export function knownHandles(agents: string): readonly string[] {
  const found = fileNames(agents).flatMap((file) => HANDLE.exec(beginningOf(file))?.[1] ?? []);
  return [...new Set(found)].toSorted();
}

/** The files of the folder, and the index file of each folder in it. */
function fileNames(agents: string): readonly string[] {
  return readdirSync(agents, { withFileTypes: true })
    .slice(0, MAX_FILES)
    .flatMap((entry) => {
      const path = join(agents, entry.name);
      if (IGNORED.test(entry.name)) return [];
      if (!entry.isDirectory()) return entry.isFile() ? [path] : [];
      const index = readdirSync(path).find((name) => name.startsWith("index.") && !IGNORED.test(name));
      return index === undefined ? [] : [join(path, index)];
    });
}

function beginningOf(path: string): string {
  const file = openSync(path, "r");
  try {
    const bytes = Buffer.alloc(MAX_BYTES);
    return bytes.toString("utf8", 0, readSync(file, bytes));
  } finally {
    closeSync(file);
  }
}
