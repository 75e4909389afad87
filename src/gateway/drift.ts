/** Records changes in a network's answers by operation, and decides when writes stop because of them. */
import type { Outcome } from "../contract/call.ts";
import type { RecordName } from "../contract/operations.ts";
import { SEVERITIES, type DriftKind, type DriftPolicy, type Observation, type Severity } from "../contract/reading/pinned-fields.ts";
import type { Clock } from "../core/clock.ts";

export interface DriftEntry {
  readonly operation: string;
  readonly severity: Severity;
  readonly kind: DriftKind;
  readonly record: RecordName;
  /** Example of the place: a path, never a value. */
  readonly path: string;
  readonly type: string;
  readonly firstSeenMs: number;
  readonly lastSeenMs: number;
  readonly count: number;
}

export interface Verdict {
  readonly advice: "go" | "slow" | "stop";
  readonly reason?: "drift" | "quarantine";
  readonly sinceMs?: number;
}

export interface DriftLog {
  /** Records observations that a client reports through `onDrift`. */
  note(operation: string, observations: readonly Observation[]): void;
  /** Records the outcome of a write, so that unreadable answers are counted. */
  wrote(operation: string, outcome: Outcome): void;
  /** Decides if a write may leave; `slow` and `stop` carry their reason. */
  verdict(operation: string): Verdict;
  /** All entries, worst first. */
  entries(): readonly DriftEntry[];
  /** Restores entries of an earlier run. */
  restore(entries: readonly DriftEntry[]): void;
  /** Clears an operation's entries and its quarantine, by a person's order. Returns the entries. */
  clear(operation: string): readonly DriftEntry[];
}

export interface DriftOptions {
  readonly clock: Clock;
  /** Reaction to a breaking change. Default `note`. */
  readonly policy?: DriftPolicy;
  /** Consecutive unreadable answers to writes of one operation after which it is quarantined. Default 3. */
  readonly quarantineAfter?: number;
  /** Called for each observed entry; a new one has a count of 1. */
  readonly onSeen?: (entry: DriftEntry) => void;
  /** Called when an operation is quarantined. */
  readonly onQuarantine?: (operation: string) => void;
}

/** Above this, new observations of an operation are counted under its existing entries: its network drifts at random. */
const MAX_ENTRIES_PER_OPERATION = 200;
const DEFAULT_QUARANTINE_AFTER = 3;

export function createDriftLog(options: DriftOptions): DriftLog {
  const { clock, policy = "note", quarantineAfter = DEFAULT_QUARANTINE_AFTER, onSeen, onQuarantine } = options;
  const kept = new Map<string, Map<string, DriftEntry>>();
  const unreadable = new Map<string, number>();
  const quarantined = new Map<string, number>();

  const entriesOf = (operation: string): Map<string, DriftEntry> => {
    const known = kept.get(operation);
    if (known !== undefined) return known;
    const fresh = new Map<string, DriftEntry>();
    kept.set(operation, fresh);
    return fresh;
  };

  return {
    note(operation, observations) {
      const entries = entriesOf(operation);
      const now = clock.now();
      for (const observation of observations) {
        const key = driftKey(observation);
        const known = entries.get(key);
        if (known === undefined && entries.size >= MAX_ENTRIES_PER_OPERATION) continue;
        const { firstSeenMs, count } = known ?? { firstSeenMs: now, count: 0 };
        const entry = { operation, ...observation, firstSeenMs, lastSeenMs: now, count: count + 1 };
        entries.set(key, entry);
        onSeen?.(entry);
      }
    },
    wrote(operation, outcome) {
      if (outcome.class === "confirmed") unreadable.delete(operation);
      if (outcome.class !== "unknown" || outcome.unreadable !== true) return;
      const count = (unreadable.get(operation) ?? 0) + 1;
      unreadable.set(operation, count);
      if (count < quarantineAfter || quarantined.has(operation)) return;
      quarantined.set(operation, clock.now());
      onQuarantine?.(operation);
    },
    verdict(operation) {
      const since = quarantined.get(operation);
      if (since !== undefined) return { advice: "stop", reason: "quarantine", sinceMs: since };
      if (policy === "note") return { advice: "go" };
      const breaking = [...(kept.get(operation)?.values() ?? [])].find((entry) => entry.severity === "breaking");
      if (breaking === undefined) return { advice: "go" };
      return { advice: policy === "slow" ? "slow" : "stop", reason: "drift", sinceMs: breaking.firstSeenMs };
    },
    entries: () =>
      [...kept.values()]
        .flatMap((entries) => [...entries.values()])
        .sort((a, b) => SEVERITIES.indexOf(b.severity) - SEVERITIES.indexOf(a.severity)),
    restore(entries) {
      for (const entry of entries) entriesOf(entry.operation).set(driftKey(entry), entry);
    },
    clear(operation) {
      const entries = [...(kept.get(operation)?.values() ?? [])];
      kept.delete(operation);
      unreadable.delete(operation);
      quarantined.delete(operation);
      return entries;
    },
  };
}

/** Key of an entry within its operation. */
export function driftKey({ kind, record, path, type }: Pick<Observation, "kind" | "record" | "path" | "type">): string {
  return `${kind} ${record} ${path} ${type}`;
}
