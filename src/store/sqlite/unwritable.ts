/** Tells a disk that takes no writes (full, read-only, failing) from other errors of opening a store. */
import { messageOf, Retryable } from "../../core/errors.ts";

/** `SQLITE_READONLY`, `SQLITE_IOERR` and `SQLITE_FULL`; the upper bits of a code hold details. */
const SQLITE_CODES: readonly number[] = [8, 10, 13];
const SYSTEM_CODES: readonly string[] = ["EROFS", "ENOSPC", "EDQUOT", "EIO"];

/** The error of a store whose disk takes no writes; undefined for another failure. Time or a person may free the disk. */
export function storeUnwritable(path: string, cause: unknown): Retryable | undefined {
  if (!isUnwritable(cause)) return undefined;
  return new Retryable("store_unwritable", `the store ${path} cannot be written: ${messageOf(cause)}`, {
    file: path,
    cause,
    hint: "free disk space, or make the disk writable, then try again",
  });
}

function isUnwritable(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if ("errcode" in error && typeof error.errcode === "number") return SQLITE_CODES.includes(error.errcode & 0xff);
  return "code" in error && typeof error.code === "string" && SYSTEM_CODES.includes(error.code);
}
