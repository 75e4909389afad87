/** Advice for waiting work: the last line of `retinue why`. */
import { asHandle } from "../core/ids.ts";
import type { OpenBreaker } from "../gateway/breaker.ts";
import { EVERYONE } from "../limits/verdict.ts";
import { GUARDIAN, scopeOf } from "../limits/spending.ts";
import { isWaitRule, remedyFor, sharedIn, type Held, type ReasonRule, type WaitRule } from "../limits/wait-rules.ts";
import type { Intent } from "../outbox/intent.ts";
import { mayHaveHappened } from "../outbox/reconcile.ts";
import type { Frozen } from "../store/controls.ts";
import type { Store } from "../store/store.ts";

/** The action or specialist in question. */
export interface Subject {
  readonly id: string;
  readonly handle: string;
  readonly operation?: string;
  /** The open breakers that concern it. */
  readonly breakers: readonly OpenBreaker[];
}

/** The remedy for a reason, if there is one. */
export async function remedyOf(store: Store, reason: ReasonRule, subject: Subject): Promise<string | undefined> {
  const { id, handle, operation, breakers } = subject;
  const breaker = breakers.find(({ rule, code }) => reason === rule || reason === code);
  const rule = breaker?.rule ?? reason;
  if (!isWaitRule(rule)) return undefined;
  const name = breaker?.operation ?? breaker?.handle ?? operation ?? handle;
  return remedyFor(rule, { handle: await ownerOfStop(store, rule, handle), id, name });
}

/** The handle by which a person ends a specialist's stop; undefined if it stops everyone. */
async function ownerOfStop(store: Store, rule: WaitRule, handle: string): Promise<Held["handle"]> {
  const list = sharedIn(rule);
  if (list === undefined) return handle;
  if (list === "accounts") return (await frozenFor(store, handle))[0]?.scope === GUARDIAN ? undefined : handle;
  return (await store.stops())[list].some(({ scope }) => scope === EVERYONE) ? undefined : handle;
}

/** The frozen accounts from which a specialist spends. */
export async function frozenFor(store: Store, handle: string): Promise<readonly Frozen[]> {
  return (await store.frozen()).filter(({ scope }) => scope === GUARDIAN || scope === scopeOf(asHandle(handle)));
}

/** Advice for an action in a state that no rule explains. */
export function hintFor(intent: Intent): string | undefined {
  const { state, id } = intent;
  switch (state) {
    case "proposed":
      return remedyFor("approval_wanted", { handle: undefined, id, name: intent.operation });
    case "parked":
      return mayHaveHappened(intent)
        ? `check on the network, then: retinue settle ${id} --happened, --did-not or --give-up`
        : `retinue retry ${id}, or retinue settle ${id} --give-up`;
    case "in_doubt":
      return `the network is read back automatically; if you know the result: retinue settle ${id} --happened or --did-not`;
    case "pending":
      return `the network waits for its own Guardian: decide there, and if no webhook reports it: retinue settle ${id} --happened or --give-up`;
    default:
      return undefined;
  }
}
