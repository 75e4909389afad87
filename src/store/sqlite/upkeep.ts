/** What a store keeps for its runtime beside the flow: the salt of its fingerprints, the network it is used on, and copies of itself. */
import { chmodSync, existsSync, rmSync } from "node:fs";
import { backup, DatabaseSync } from "node:sqlite";
import { messageOf, Misconfigured } from "../../core/errors.ts";
import type { UpkeepStore } from "../store.ts";
import type { Commits } from "./commits.ts";
import { createMeta } from "./meta.ts";
import { markCopy } from "./restored.ts";

const SALT = "salt";
const NETWORK = "network";

/** `path` is undefined where no file is behind it. */
export function createUpkeep(db: DatabaseSync, commits: Commits, path: string | undefined, now: () => number): UpkeepStore {
  const meta = createMeta(db);
  return {
    salt: (make) =>
      commits.hard(() => {
        const known = meta.get(SALT);
        if (known !== undefined) return known;
        const made = make();
        meta.set(SALT, made);
        return made;
      }),
    usedOn: (address) =>
      commits.hard(() => {
        const known = meta.get(NETWORK);
        if (known !== address) meta.set(NETWORK, address);
        return known;
      }),
    async backup(file) {
      if (existsSync(file))
        throw new Misconfigured("backup_exists", "there is a file of that name already", { file, hint: "name another file" });
      const copiedAt = now(); // what is written while it is copied may be missing
      try {
        if (path === undefined) await backup(db, file);
        else await copyCommitted(path, file);
        markCopy(file, copiedAt);
        chmodSync(file, 0o600);
      } catch (error) {
        rmSync(file, { force: true });
        throw new Misconfigured("backup_failed", `the copy could not be written: ${messageOf(error)}`, {
          file,
          cause: error,
          hint: "check that the folder exists, can be written and has room",
        });
      }
    },
  };
}

/** Over a connection of its own: the store's has a transaction open most of the time, which is not to be in the copy by half. */
async function copyCommitted(path: string, file: string): Promise<void> {
  const reader = new DatabaseSync(path, { readOnly: true });
  try {
    await backup(reader, file);
  } finally {
    reader.close();
  }
}
