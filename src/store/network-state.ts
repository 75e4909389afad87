/** The knowledge of a network that outlives a restart. */
import type { JsonObject } from "../core/json.ts";

/** One thing learnt of a network, by kind and name. */
export interface NetworkStateRow {
  readonly kind: string;
  readonly name: string;
  readonly data: JsonObject;
}

/** Rows to write over those of the same kind and name, and rows to delete first. */
export interface NetworkStateChange {
  readonly put: readonly NetworkStateRow[];
  readonly drop: readonly Pick<NetworkStateRow, "kind" | "name">[];
}

export interface NetworkStateStore {
  /** All rows: a bounded number, as what writes them bounds what it keeps. */
  networkState(): Promise<readonly NetworkStateRow[]>;
  /** Resolves once it is on disk. */
  saveNetworkState(change: NetworkStateChange, now: number): Promise<void>;
}
