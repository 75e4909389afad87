/** Store interface of network state: knowledge of a network that outlives a restart. */
import type { JsonObject } from "../core/json.ts";

/** One fact about a network, by kind and name. */
export interface NetworkStateRow {
  readonly kind: string;
  readonly name: string;
  readonly data: JsonObject;
}

/** Rows to upsert by kind and name, and rows to delete first. */
export interface NetworkStateChange {
  readonly put: readonly NetworkStateRow[];
  readonly drop: readonly Pick<NetworkStateRow, "kind" | "name">[];
}

export interface NetworkStateStore {
  /** All rows: their number is bounded by their writers. */
  networkState(): Promise<readonly NetworkStateRow[]>;
  /** Resolves once it is on disk. */
  saveNetworkState(change: NetworkStateChange, now: number): Promise<void>;
}
