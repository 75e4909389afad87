/** A dry run's store: it thinks in memory, so that nothing is used up, and pays for its reads in the real ledger. */
import type { Admission, Admit } from "../store/admission.ts";
import type { SqliteStoreOptions } from "../store/sqlite/options.ts";
import { openSqliteStore } from "../store/sqlite/store.ts";
import type { Store } from "../store/store.ts";

/** Closing it leaves the real store open. */
export function dryStore(real: Store, options: Omit<SqliteStoreOptions, "path">): Store {
  const memory = openSqliteStore({ ...options, path: ":memory:" });
  return {
    ...memory,
    // Nothing leaves without admission, so here is where a dry run says no.
    admit: async (wanted, decide) => (wanted.request.effect === "read" ? real.admit(wanted, decide) : refused(wanted)),
    complete: (settlement) => real.complete(settlement),
    explain: (wanted, decide) => real.explain(wanted, decide),
    registerKey: (handle, key, quota, now) => real.registerKey(handle, key, quota, now),
    keyOf: (handle) => real.keyOf(handle),
    quotaUse: (key, now) => real.quotaUse(key, now),
    networkState: () => real.networkState(),
    stops: () => real.stops(),
    stop: (kind, scope, reason, now) => real.stop(kind, scope, reason, now),
    lift: (kind, scope) => real.lift(kind, scope),
    frozen: () => real.frozen(),
    unfreeze: (scope, word, now) => real.unfreeze(scope, word, now),
    backup: (file) => real.backup(file),
    openAttempts: () => real.openAttempts(),
    async recover(now, firstCheckMs) {
      await real.recover(now, firstCheckMs);
      return memory.recover(now, firstCheckMs);
    },
  };
}

function refused({ request, now }: Admit): Admission {
  return { kind: "refuse", code: "dry_run", message: "not sent: this is a dry run", lane: request.lane, since: now };
}
