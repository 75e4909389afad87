/** The limits' tables as one thing: quota, spending, the Guardian's word. Synchronous; the caller owns every transaction. */
import type { DatabaseSync } from "node:sqlite";
import { GuardianTable } from "./limits/guardian.ts";
import { QuotaTable, type QuotaTableOptions } from "./limits/quota.ts";
import { SpendingTable, type SpendingTableOptions } from "./limits/spending.ts";

export interface LimitTables {
  readonly quota: QuotaTable;
  readonly spending: SpendingTable;
  readonly guardian: GuardianTable;
  /** After a transaction or savepoint was rolled back: what is in memory may not have happened. */
  forget(): void;
  /** Deletes what is past its retention (limits/retention.ts), at most about 1,000 rows a table. Returns how many rows went. */
  prune(now: number): number;
}

/** Keys whose spent cells one prune looks at. */
const PRUNED_KEYS = 500;

export function limitTables(db: DatabaseSync, options: QuotaTableOptions & SpendingTableOptions): LimitTables {
  const quota = new QuotaTable(db, options);
  const spending = new SpendingTable(db, options);
  const guardian = new GuardianTable(db);
  return {
    quota,
    spending,
    guardian,
    forget() {
      quota.forget();
      spending.forget();
      guardian.forget();
    },
    prune: (now) => quota.prune(now, PRUNED_KEYS) + spending.prune(now) + guardian.prune(now),
  };
}
