/** The knowledge of a network that outlives a restart. */
import type { JsonObject } from "../core/json.ts";

/** One thing learnt of a network, by kind and name. */
export interface StandingRow {
  readonly kind: string;
  readonly name: string;
  readonly data: JsonObject;
}

/** Rows to write over those of the same kind and name, and rows to delete first. */
export interface StandingChange {
  readonly put: readonly StandingRow[];
  readonly drop: readonly Pick<StandingRow, "kind" | "name">[];
}

export interface StandingStore {
  /** All rows: a bounded number, as what writes them bounds what it keeps. */
  standing(): Promise<readonly StandingRow[]>;
  /** Resolves once it is on disk. */
  keepStanding(change: StandingChange, now: number): Promise<void>;
}
