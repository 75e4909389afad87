/** Reserves the file for a key before the key is asked for: a network hands it out once, so a disk that cannot take it must show first. */
import { closeSync, fsyncSync, ftruncateSync, mkdirSync, openSync, rmSync, writeSync } from "node:fs";
import { dirname } from "node:path";
import { messageOf, Misconfigured } from "../core/errors.ts";
import type { Secret } from "../core/secret.ts";

export interface ReservedKeyFile {
  readonly file: string;
  /** Writes the key, durably. */
  keep(key: Secret): void;
  /** Closes it; removes it if it got no key. */
  close(): void;
}

/** As many blanks, which read as no key, as the longest key has characters. */
const ROOM = " ".repeat(1_001);
const OWNER_ONLY = 0o600;
const OWNER_ONLY_FOLDER = 0o700;

/** Throws `Misconfigured` (`key_file_exists`, `key_file_unwritable`). */
export function reserveKeyFile(file: string): ReservedKeyFile {
  let handle: number | undefined;
  const close = (): void => {
    if (handle !== undefined) closeSync(handle);
    handle = undefined;
  };
  try {
    makeFolder(dirname(file));
    handle = openSync(file, "wx", OWNER_ONLY);
    writeSync(handle, ROOM);
    fsyncSync(handle);
  } catch (error) {
    const isOurs = handle !== undefined;
    close();
    if (isOurs) rmSync(file, { force: true });
    throw refusalOf(error, file);
  }
  const open = handle;
  let isKept = false;
  return {
    file,
    keep(key) {
      const text = `${key.reveal()}\n`;
      writeSync(open, text, 0);
      ftruncateSync(open, Buffer.byteLength(text));
      fsyncSync(open);
      isKept = true;
    },
    close() {
      close();
      if (!isKept) rmSync(file, { force: true });
    },
  };
}

/** Throws what is no `EEXIST` of the file itself. */
function makeFolder(folder: string): void {
  try {
    mkdirSync(folder, { recursive: true, mode: OWNER_ONLY_FOLDER });
  } catch (error) {
    throw unwritable(error, folder);
  }
}

function refusalOf(error: unknown, file: string): Misconfigured {
  if (error instanceof Misconfigured) return error;
  if (error instanceof Error && "code" in error && error.code === "EEXIST")
    return new Misconfigured("key_file_exists", "the file for the key exists, and is not overwritten", {
      file,
      hint: "move it, or remove it if its key is of no use; nothing was asked of the network",
    });
  return unwritable(error, file);
}

function unwritable(error: unknown, file: string): Misconfigured {
  return new Misconfigured("key_file_unwritable", `the key could not be kept: ${messageOf(error)}`, {
    file,
    hint: "make room or fix the permissions of its folder; nothing was asked of the network",
  });
}
