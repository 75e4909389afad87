/** Hashes the trace of a run: two runs of a seed are the same exactly if their hashes are. */
import { createHash } from "node:crypto";

export interface Trace {
  note(at: number, what: string): void;
  /** Sixteen hex digits. */
  digest(): string;
  /** The last lines, for the report of a failure. */
  tail(): readonly string[];
}

const KEPT_LINES = 200;
/** Lines hashed in one go. */
const BATCH = 256;

export function createTrace(): Trace {
  const hash = createHash("sha256");
  const lines: string[] = [];
  let batch: string[] = [];
  const flush = (): void => {
    if (batch.length > 0) hash.update(batch.join("\n"));
    batch = [];
  };
  return {
    note(at, what) {
      const line = `${at} ${what}`;
      batch.push(line);
      if (batch.length >= BATCH) flush();
      lines.push(line);
      if (lines.length >= 2 * KEPT_LINES) lines.splice(0, KEPT_LINES);
    },
    digest() {
      flush();
      return hash.copy().digest("hex").slice(0, 16);
    },
    tail: () => lines.slice(-KEPT_LINES),
  };
}
