/** Notices changes in folders as the system tells them. It may miss some, on network file systems above all, so its owner looks by itself too. */
import { statSync, watch, type FSWatcher } from "node:fs";
import { join } from "node:path";

export interface FolderWatch {
  /** Watches these folders, not what is below them, and no others. */
  follow(folders: Iterable<string>): void;
  /** False if one of them cannot be watched. */
  readonly isComplete: boolean;
  close(): void;
}

/** Watches cost descriptors of the process and of the user. */
const MAX_FOLDERS = 500;

/** Calls `changed` for each change, often several times for one, with the path of the entry if the system names it. */
export function watchFolders(changed: (folder: string, path: string | undefined) => void): FolderWatch {
  const watchers = new Map<string, FSWatcher>();
  let isComplete = true;
  const end = (key: string): void => {
    watchers.get(key)?.close();
    watchers.delete(key);
  };
  return {
    get isComplete() {
      return isComplete;
    },
    follow(folders) {
      const wanted = new Map([...new Set(folders)].map((folder) => [keyOf(folder), folder]));
      for (const key of watchers.keys()) if (!wanted.has(key)) end(key);
      isComplete = wanted.size <= MAX_FOLDERS;
      for (const [key, folder] of [...wanted].slice(0, MAX_FOLDERS)) {
        if (watchers.has(key)) continue;
        try {
          const watcher = watch(folder, { persistent: false }, (_event, name) =>
            changed(folder, name === null ? undefined : join(folder, name)),
          );
          watcher.on("error", () => end(key)); // the folder is gone: its owner follows the new one after its next look
          watchers.set(key, watcher);
        } catch {
          isComplete = false; // gone, not permitted, or too many: its owner looks by itself
        }
      }
    },
    close() {
      for (const key of watchers.keys()) end(key);
    },
  };
}

/** A folder that was replaced is another one. */
function keyOf(folder: string): string {
  return `${folder} ${statSync(folder, { throwIfNoEntry: false })?.ino ?? 0}`;
}
