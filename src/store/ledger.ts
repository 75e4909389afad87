/** The ledger of a store without the rest: for a store that charges to it and keeps everything else itself. */
import type { AdmissionStore } from "./admission.ts";
import type { ControlStore } from "./controls.ts";
import type { HoldStore } from "./holds.ts";
import type { MetadataStore } from "./metadata.ts";

/**
 * The part of a store that a dry run shares with the project: usage of keys, spending, and a person's stops. A dry run keeps everything
 * else to itself.
 */
export interface Ledger extends AdmissionStore, ControlStore, HoldStore, MetadataStore {
  /** At the start of a process that does not recover the rest of the store: continues the ledger's time. */
  beginLedger(now: number): Promise<void>;
  /** Stores that time has passed, so that a crash does not forget it: the windows of quota age by it. */
  passTime(now: number): Promise<void>;
}

/** Passing a whole store as its ledger would bring the rest along. Every name is listed here, or this does not compile. */
export function ledgerOf(store: Ledger): Ledger {
  return {
    beginLedger: (now) => store.beginLedger(now),
    passTime: (now) => store.passTime(now),
    admit: (wanted, decide) => store.admit(wanted, decide),
    explain: (wanted, decide) => store.explain(wanted, decide),
    complete: (settlement) => store.complete(settlement),
    openHold: (wanted, decide) => store.openHold(wanted, decide),
    endHold: (end) => store.endHold(end),
    registerKey: (handle, key, quota, now) => store.registerKey(handle, key, quota, now),
    keyOf: (handle) => store.keyOf(handle),
    quotaUse: (key, now) => store.quotaUse(key, now),
    laneBudget: (key, lane, now) => store.laneBudget(key, lane, now),
    usage: (now, handle) => store.usage(now, handle),
    stop: (kind, scope, reason, now) => store.stop(kind, scope, reason, now),
    lift: (kind, scope) => store.lift(kind, scope),
    stops: () => store.stops(),
    frozen: () => store.frozen(),
    unfreeze: (scope, word, now) => store.unfreeze(scope, word, now),
    openAttempts: () => store.openAttempts(),
    writesInDoubt: () => store.writesInDoubt(),
    salt: (make) => store.salt(make),
    network: () => store.network(),
    belongTo: (network) => store.belongTo(network),
    backup: (file) => store.backup(file),
  };
}
