/** Prunes ledgers and controls, a bounded number of rows. The caller owns the transaction. */
import type { ControlTable } from "./control-table.ts";
import type { QuotaTable } from "./quota.ts";
import type { SpendingTable } from "./spending.ts";

export interface Ledgers {
  readonly quota: QuotaTable;
  readonly spending: SpendingTable;
  readonly guardian: ControlTable;
}

const KEYS_AT_ONCE = 100;

export function pruneLedgers({ quota, spending, guardian }: Ledgers, now: number): number {
  const seen = Math.min(now, quota.seenAt()); // a clock set forward frees nothing
  quota.evict(seen); // keys unused for a day leave the memory
  return quota.prune(seen, KEYS_AT_ONCE) + spending.prune(quota.earliest(now)) + guardian.prune(now) + spending.expire(now);
}
