/** The Guardian's money where several stores share it. */
import type { Account } from "../../limits/spending.ts";

export interface SharedMoney {
  /** Called once with the read of this store's own part of the account. */
  attach(own: (currency: string) => Account): void;
  /** The account by which this store decides, made of its own part. */
  view(own: Account, now: number): Account;
}
