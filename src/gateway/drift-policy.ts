/** Applies the drift policy to a changed operation: no effect, writes one by one, or none. */
import { createDriftLog, type DriftEntry } from "./drift.ts";
import type { Outcome } from "../contract/call.ts";
import type { DriftPolicy, Observation } from "../contract/reading/pins.ts";
import type { Clock } from "../core/clock.ts";
import type { Announcer } from "../core/events.ts";
import { MINUTE } from "../core/units.ts";
import type { OpenBreaker } from "./classify-refusal.ts";
import { DRIFT, driftName, driftRow, SLOWED, slowedRow, type StoredNetworkState } from "./network-state-rows.ts";
import type { NetworkStateChange, NetworkStateRow } from "../store/network-state.ts";

export interface DriftBreakers {
  note(operation: string, observations: readonly Observation[]): void;
  wrote(operation: string, outcome: Outcome): void;
  /** The policy's breaker for an operation whose answers changed, whether or not it lets one write leave now. */
  stopOf(operation: string): OpenBreaker | undefined;
  /** Called as a write of an operation leaves. */
  left(operation: string): void;
  entries(): readonly DriftEntry[];
  /** Returns the rows to delete. */
  forget(operation: string): NetworkStateChange["drop"];
  restore(known: Pick<StoredNetworkState, "drift" | "slowed">): void;
}

export interface DriftBreakerOptions {
  readonly clock: Clock;
  readonly announcer: Announcer;
  readonly policy: DriftPolicy;
  readonly quarantineAfter?: number;
  readonly keep: (row: NetworkStateRow) => void;
  readonly onQuarantine: (operation: string) => void;
}

/** With the policy `slow`, the interval between writes of a drifted operation. */
const SLOW_MS = 5 * MINUTE;
/** Interval at which the count of a drift is stored. */
const DRIFT_KEPT_EVERY_MS = MINUTE;

export function createDriftBreakers({ clock, announcer, keep, ...options }: DriftBreakerOptions): DriftBreakers {
  const slowed = new Map<string, number>();
  const keptAt = new Map<string, number>();
  const log = createDriftLog({
    clock,
    ...options,
    onSeen(entry) {
      const { operation, path, kind, count } = entry;
      const name = driftName(entry);
      const now = clock.now();
      if (count === 1) announcer.emit("drift", { at: now, handle: "", operation, path, kind });
      if (now - (keptAt.get(name) ?? -Infinity) < DRIFT_KEPT_EVERY_MS) return;
      keptAt.set(name, now);
      keep(driftRow(entry));
    },
  });
  return {
    note: (operation, observations) => log.note(operation, observations),
    wrote: (operation, outcome) => log.wrote(operation, outcome),
    stopOf(operation) {
      const { reason, advice, sinceMs = clock.now() } = log.verdict(operation);
      if (reason !== "drift") return undefined;
      const isSlow = advice === "slow";
      const what = isSlow ? "its writes are sent minutes apart" : "it sends no more writes";
      return {
        rule: "drift",
        code: isSlow ? "shape_slowed" : "shape_changed",
        message: `${operation} answers in another shape than before, so ${what}; see retinue doctor --diff, then: retinue retry ${operation}`,
        handle: undefined,
        operation,
        since: sinceMs,
        probeAt: isSlow ? (slowed.get(operation) ?? -Infinity) + SLOW_MS : undefined,
      };
    },
    left(operation) {
      if (log.verdict(operation).advice !== "slow") return;
      const now = clock.now();
      slowed.set(operation, now);
      keep(slowedRow(operation, now));
    },
    entries: () => log.entries(),
    forget(operation) {
      const names = log.entries().flatMap((entry) => (entry.operation === operation ? [driftName(entry)] : []));
      for (const name of names) keptAt.delete(name);
      log.settle(operation);
      const isSlowed = slowed.delete(operation);
      return [...names.map((name) => ({ kind: DRIFT, name })), ...(isSlowed ? [{ kind: SLOWED, name: operation }] : [])];
    },
    restore(known) {
      log.restore(known.drift);
      for (const [operation, at] of known.slowed) slowed.set(operation, at);
    },
  };
}
