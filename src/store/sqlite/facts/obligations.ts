/** What a key owes, from memory: followed jobs are counted in rows once, and again when one of them changes. */
import type { DatabaseSync } from "node:sqlite";
import { asHandle, type Handle, type KeyId } from "../../../core/ids.ts";
import { DAY } from "../../../core/units.ts";
import type { Present } from "../../../live/present.ts";
import type { Obligations } from "../obligations.ts";
import { numberOf, textOf } from "../rows.ts";

/** A job not looked at for so long is nobody's any more: its specialist is defined no longer. */
const ABANDONED_MS = 30 * DAY;
const MAX_CACHED = 20_000;
const APPLY = "jobs.apply";

interface Known {
  readonly specialists: readonly Handle[];
  /** When each of its followed jobs is due. */
  readonly dues: readonly number[];
}

export interface OwedByKeys {
  readonly owed: Obligations;
  /** Jobs that are followed have changed, or whose key is whose. */
  forget(): void;
}

export function createOwed(db: DatabaseSync, present: Present): OwedByKeys {
  const handles = db.prepare("SELECT handle FROM specialist INDEXED BY specialist_key WHERE key_id = ?");
  const jobs = db.prepare("SELECT due_at FROM watch INDEXED BY watch_owed WHERE specialist = ? AND kind = 'job' AND due_at IS NOT NULL");
  const known = new Map<KeyId, Known>();
  const read = (key: KeyId): Known => {
    const specialists = handles.all(key).map((row) => asHandle(textOf(row, "handle")));
    const dues = specialists.flatMap((handle) => jobs.all(handle).map((row) => numberOf(row, "due_at")));
    const made = { specialists, dues };
    if (known.size >= MAX_CACHED) known.clear();
    known.set(key, made);
    return made;
  };
  return {
    owed(key, now) {
      const { specialists, dues } = known.get(key) ?? read(key);
      let n = 0;
      for (const due of dues) if (due > now - ABANDONED_MS) n++;
      for (const specialist of specialists)
        for (const { state, operation } of present.of(specialist).intents.values()) if (state === "in_doubt" && operation === APPLY) n++;
      for (const attempt of present.attempts.values()) if (attempt.operation === APPLY && attempt.key === key) n++;
      return n;
    },
    forget: () => known.clear(),
  };
}
