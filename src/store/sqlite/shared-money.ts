/** The Guardian's money where several stores share it. */
import type { Account } from "../../limits/spending.ts";

/** This store's part. */
export interface OwnMoney {
  readonly own: (currency: string) => Account;
  /** Resolves once all earlier writes are on disk. */
  readonly stored: () => Promise<void>;
}

export interface SharedMoney {
  /** Called once, before anything else. */
  attach(mine: OwnMoney): void;
  /** The account by which this store decides, made of its own part. */
  view(own: Account, now: number): Account;
}
