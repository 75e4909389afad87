/** Opens a store's file for reading alone: without a lock, beside its user, on a disk that takes no writes. */
import { existsSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { pathToFileURL } from "node:url";

/** Leaves no file behind: files of another user would keep a runtime from starting. */
export function openForReading(path: string): DatabaseSync {
  const url = pathToFileURL(path);
  // Reading a store that was closed in order would recreate its log.
  if (!existsSync(`${path}-wal`)) url.searchParams.set("immutable", "1");
  return new DatabaseSync(url, { readOnly: true });
}
