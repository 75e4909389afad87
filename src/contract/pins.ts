/** What reading has settled on for one operation, so that a network that changes its shapes is noticed and not obeyed. */
import type { RecordName } from "./operations.ts";

export const DRIFT_KINDS = ["new-field", "missing-field", "type-change", "new-status", "winner-change"] as const;
export type DriftKind = (typeof DRIFT_KINDS)[number];

/** `note`: nothing is lost by it; `warning`: something is read differently; `breaking`: something can no longer be read. */
export const SEVERITIES = ["note", "warning", "breaking"] as const;
export type Severity = (typeof SEVERITIES)[number];

/**
 * What a breaking departure leads to. `note`: it is recorded; `slow`: writes of that operation leave minutes apart; `stop`:
 * none of them leaves until a person has looked.
 */
export const DRIFT_POLICIES = ["note", "slow", "stop"] as const;
export type DriftPolicy = (typeof DRIFT_POLICIES)[number];

/** One departure from what was seen before: paths and types, never values. */
export interface Observation {
  readonly severity: Severity;
  readonly kind: DriftKind;
  readonly record: RecordName;
  /** Our field, and where in the answer: `authorHandle at author.handle`. */
  readonly path: string;
  readonly type: string;
}

export interface Pin {
  /** The candidate that won. */
  path: string;
  type: string;
  seen: number;
  /** Records in a row without it. */
  missed: number;
  /** Of references: the member that holds each id. */
  by?: string;
}

/** The memory of one operation's reading. Bounded by our own fields and `MAX_KNOWN_KEYS`. */
export interface Pins {
  /** Where in the answer the record, or the list, was found. */
  place?: string;
  readonly fields: Map<string, Pin>;
  /** Top-level keys of the record seen so far. */
  readonly known: Set<string>;
  /** Candidates that held something of another kind, so that each is reported once. */
  readonly misfits: Set<string>;
  /** The same for posts within posts, once there were some. */
  nested?: Pins;
}

/** Past this many keys, new ones are no news: the network uses ids as keys. */
export const MAX_KNOWN_KEYS = 300;

export function createPins(): Pins {
  return { fields: new Map(), known: new Set(), misfits: new Set() };
}
