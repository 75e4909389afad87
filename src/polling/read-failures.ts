/** A list that could not be read: since when and why, kept with its cursor so that it can be told. */
import type { JsonObject } from "../core/json.ts";

/** One look that fails says little. */
export const REPORTED_AFTER = 2;
const MAX_MESSAGE = 300;

export interface ReadFailure {
  /** Looks in a row. */
  readonly times: number;
  /** ms since the epoch. */
  readonly since: number;
  /** What came of the latest. */
  readonly message: string;
}

/** What is to be told of it. */
export function reportedReadFailure(stored: JsonObject | undefined): ReadFailure | undefined {
  const unread = storedReadFailure(stored);
  return unread !== undefined && unread.times >= REPORTED_AFTER ? unread : undefined;
}

export function storedReadFailure(stored: JsonObject | undefined): ReadFailure | undefined {
  const { failed, failedSince, failedBy } = stored ?? {};
  if (typeof failed !== "number" || typeof failedSince !== "number" || typeof failedBy !== "string") return undefined;
  return failed === 0 ? undefined : { times: failed, since: failedSince, message: failedBy };
}

export function clearReadFailure({ failed: _failed, failedSince: _since, failedBy: _by, ...stored }: JsonObject): JsonObject {
  return stored;
}

/** What a cursor is to keep after one more look that failed. */
export function storeReadFailure(before: ReadFailure | undefined, message: string, now: number): JsonObject {
  return { failed: (before?.times ?? 0) + 1, failedSince: before?.since ?? now, failedBy: message.slice(0, MAX_MESSAGE) };
}
