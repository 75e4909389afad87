/** Store interface of money outside the network: holds for model calls, on the same accounts as those of actions. */
import type { Micros } from "../core/units.ts";
import type { HoldVerdict, HoldView } from "../limits/hold-decision.ts";
import type { Cap } from "../limits/spending.ts";
import type { HoldRequest, Stop } from "../limits/verdict.ts";

/** A hold for one model call, on the accounts of its specialist and of the Guardian. */
export interface HoldWanted {
  readonly hold: Omit<HoldRequest, "scopes">;
  readonly now: number;
  /** The part of the view that is not in the store. */
  readonly known: { readonly caps: readonly Cap[]; readonly halt: Stop | undefined };
}

/** The end of a hold. */
export interface HoldEnd {
  readonly id: string;
  /** Undefined if nobody knows: all of it counts. 0 if nothing was done. */
  readonly actual: Micros | undefined;
  readonly caps: readonly Cap[];
  readonly now: number;
}

export interface HoldStore {
  /**
   * Holds money before a model is asked: resolves once the hold is on disk, so a crash counts it as spent. `decide` is pure and synchronous.
   * Nothing is held for 0.
   */
  openHold(wanted: HoldWanted, decide: (view: HoldView) => HoldVerdict): Promise<HoldVerdict>;
  /** Ends a hold at its actual cost. Does nothing if there is no open hold. */
  endHold(end: HoldEnd): void;
}
