/** The Guardian's money where several stores share it. */
import type { Account, Capture, Freeze, SpendWindow } from "../../limits/spending.ts";

/** This store's part. */
export interface OwnMoney {
  readonly own: (currency: string) => Account;
  /** Resolves once all earlier writes are on disk. */
  readonly stored: () => Promise<void>;
  /** Freezes the account, in this store and for all. Resolves once that is on disk. */
  readonly freeze: (currency: string, reason: string) => Promise<void>;
  /** Freezes it here, since another store did. */
  readonly followFreeze: (currency: string, freeze: Freeze) => Promise<void>;
}

/** The end of a hold in this store's part of the Guardian's account. */
export interface EndedHold extends Capture {
  readonly id: string;
  readonly currency: string;
  /** Windows that no longer count what was held. */
  readonly passed: readonly SpendWindow[];
}

export interface SharedMoney {
  /** Called once, before anything else. */
  attach(mine: OwnMoney): void;
  /** The account by which this store decides, made of its own part. */
  view(own: Account, now: number): Account;
  /** Called with each end of a hold, and each cost without one, after it is in the account. */
  ended(hold: EndedHold): void;
}
