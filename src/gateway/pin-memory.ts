/** Keeps the pinned places of each operation's answers over restarts: otherwise a change overnight would be accepted in the morning. */
import { clearPins, createPins, pinsAsData, restorePins, settledPins, type Pins } from "../contract/reading/pinned-fields.ts";
import { PINS } from "./network-state-rows.ts";
import type { NetworkStateChange, NetworkStateRow } from "../store/network-state.ts";

export interface PinMemory {
  /** The pins of an operation; the same object each time. */
  of(operation: string): Pins;
  /** Stores new pins after an answer. */
  noticed(operation: string): void;
  /** Returns the rows to delete. */
  forget(operation: string): NetworkStateChange["drop"];
  restore(rows: readonly NetworkStateRow[]): void;
}

export function createPinMemory(keep: (change: NetworkStateChange) => void): PinMemory {
  const pins = new Map<string, Pins>();
  /** Number of pinned places at the last write, by operation. */
  const kept = new Map<string, number>();
  const of = (operation: string): Pins => {
    const known = pins.get(operation) ?? createPins();
    pins.set(operation, known);
    return known;
  };
  return {
    of,
    noticed(operation) {
      const known = pins.get(operation);
      const settled = known === undefined ? 0 : settledPins(known);
      if (known === undefined || settled === (kept.get(operation) ?? 0)) return;
      kept.set(operation, settled);
      keep({ put: [{ kind: PINS, name: operation, data: pinsAsData(known) }], drop: [] });
    },
    forget(operation) {
      const known = pins.get(operation);
      if (known !== undefined) clearPins(known);
      return kept.delete(operation) ? [{ kind: PINS, name: operation }] : [];
    },
    restore(rows) {
      for (const { kind, name, data } of rows) {
        if (kind !== PINS) continue;
        const known = of(name);
        restorePins(known, data);
        kept.set(name, settledPins(known));
      }
    },
  };
}
