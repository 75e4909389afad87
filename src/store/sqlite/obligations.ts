/** Obligations of a key: the jobs its specialists watch, cached, and applications with an unknown outcome, from memory. */
import type { DatabaseSync } from "node:sqlite";
import { asHandle, type Handle, type KeyId } from "../../core/ids.ts";
import { DAY, MINUTE } from "../../core/units.ts";
import type { Present } from "../../live/present.ts";
import { OWED_STANDINGS } from "../sources.ts";
import { numberOf, textOf } from "./columns.ts";

/** A job without a check for this long is abandoned: its specialist has no definition. */
const ABANDONED_MS = 30 * DAY;
const MAX_CACHED = 20_000;
const APPLY = "jobs.apply";

/** Counts the obligations that share one key's reserve, over all of its specialists. */
export type Obligations = (key: KeyId, now: number) => number;

/** A job whose next check comes within this time may be assigned and delivered within the hour. */
const SOON_MS = 10 * MINUTE;

interface Known {
  readonly specialists: readonly Handle[];
  /** Due times of the jobs they owe. */
  readonly dues: readonly number[];
}

export interface KeyObligations {
  readonly owed: Obligations;
  /** The obligations expected to need their requests within the hour. */
  readonly soon: Obligations;
  /** Called when watched jobs or keys change. */
  forget(): void;
}

export function createObligations(db: DatabaseSync, present: Present): KeyObligations {
  const handles = db.prepare("SELECT handle FROM specialist INDEXED BY specialist_key WHERE key_id = ?");
  const jobs = db.prepare(`
    SELECT due_at FROM watch INDEXED BY watch_owed
    WHERE specialist = ? AND kind = 'job' AND due_at IS NOT NULL AND state IN (${OWED_STANDINGS.map((standing) => `'${standing}'`).join(", ")})`);
  const known = new Map<KeyId, Known>();
  const read = (key: KeyId): Known => {
    const specialists = handles.all(key).map((row) => asHandle(textOf(row, "handle")));
    const dues = specialists.flatMap((handle) => jobs.all(handle).map((row) => numberOf(row, "due_at")));
    const made = { specialists, dues };
    if (known.size >= MAX_CACHED) known.clear();
    known.set(key, made);
    return made;
  };
  const count = (key: KeyId, now: number, until: number): number => {
    const { specialists, dues } = known.get(key) ?? read(key);
    let n = 0;
    for (const due of dues) if (due > now - ABANDONED_MS && due <= until) n++;
    for (const specialist of specialists)
      for (const { state, operation } of present.of(specialist).intents.values()) if (state === "in_doubt" && operation === APPLY) n++;
    for (const attempt of present.attempts.values()) if (attempt.operation === APPLY && attempt.key === key) n++;
    return n;
  };
  return {
    owed: (key, now) => count(key, now, Infinity),
    soon: (key, now) => count(key, now, now + SOON_MS),
    forget: () => known.clear(),
  };
}
