/** The ledger of a store, apart from the rest of it: for a store that charges to it and keeps everything else to itself. */
import type { Ledger } from "./store.ts";

/** A whole store given for its ledger would bring the rest along. Every name stands here, or this does not compile. */
export function ledgerOf(store: Ledger): Ledger {
  return {
    beginLedger: (now) => store.beginLedger(now),
    admit: (wanted, decide) => store.admit(wanted, decide),
    explain: (wanted, decide) => store.explain(wanted, decide),
    complete: (settlement) => store.complete(settlement),
    registerKey: (handle, key, quota, now) => store.registerKey(handle, key, quota, now),
    keyOf: (handle) => store.keyOf(handle),
    quotaUse: (key, now) => store.quotaUse(key, now),
    laneBudget: (key, lane, now) => store.laneBudget(key, lane, now),
    spent: (handle, now) => store.spent(handle, now),
    stop: (kind, scope, reason, now) => store.stop(kind, scope, reason, now),
    lift: (kind, scope) => store.lift(kind, scope),
    stops: () => store.stops(),
    frozen: () => store.frozen(),
    unfreeze: (scope, word, now) => store.unfreeze(scope, word, now),
    openAttempts: () => store.openAttempts(),
    salt: (make) => store.salt(make),
    network: () => store.network(),
    belongTo: (network) => store.belongTo(network),
    backup: (file) => store.backup(file),
  };
}
