/** What a person can do about what waits: the last line of `retinue why`. */
import { asHandle } from "../core/ids.ts";
import type { OpenBreaker } from "../gateway/classify-refusal.ts";
import { EVERYONE } from "../limits/admission.ts";
import { GUARDIAN, scopeOf } from "../limits/spending.ts";
import { isWaitRule, remedyFor, type Held, type ReasonRule, type WaitRule } from "../limits/wait-rules.ts";
import type { Intent } from "../outbox/intent.ts";
import { mayHaveHappened } from "../outbox/reconcile.ts";
import type { Frozen } from "../store/controls.ts";
import type { Store } from "../store/store.ts";

/** The action or specialist that is asked about. */
export interface Subject {
  readonly id: string;
  readonly handle: string;
  readonly operation?: string;
  /** The open breakers that concern it. */
  readonly breakers: readonly OpenBreaker[];
}

/** What a person can do about a reason, where there is something. */
export async function remedyOf(store: Store, reason: ReasonRule, subject: Subject): Promise<string | undefined> {
  const { id, handle, operation, breakers } = subject;
  const breaker = breakers.find(({ rule, code }) => reason === rule || reason === code);
  const rule = breaker?.rule ?? reason;
  if (!isWaitRule(rule)) return undefined;
  const name = breaker?.operation ?? breaker?.handle ?? operation ?? handle;
  return remedyFor(rule, { handle: await ownerOfStop(store, rule, handle), id, name });
}

/** Whom a person names to end what stopped a specialist; undefined where it stops everyone. */
async function ownerOfStop(store: Store, rule: WaitRule, handle: string): Promise<Held["handle"]> {
  switch (rule) {
    case "halted":
      return (await store.stops()).halts.some(({ scope }) => scope === EVERYONE) ? undefined : handle;
    case "paused":
      return (await store.stops()).pauses.some(({ scope }) => scope === EVERYONE) ? undefined : handle;
    case "spend_frozen":
      return (await frozenFor(store, handle))[0]?.scope === GUARDIAN ? undefined : handle;
    default:
      return handle;
  }
}

/** The accounts that a specialist spends from and that spend nothing now. */
export async function frozenFor(store: Store, handle: string): Promise<readonly Frozen[]> {
  return (await store.frozen()).filter(({ scope }) => scope === GUARDIAN || scope === scopeOf(asHandle(handle)));
}

/** What a person can do about an action in a state that no rule explains. */
export function hintFor(intent: Intent): string | undefined {
  const { state, id } = intent;
  switch (state) {
    case "proposed":
      return remedyFor("approval_wanted", { handle: undefined, id, name: intent.operation });
    case "parked":
      return mayHaveHappened(intent)
        ? `look on the network, then: retinue settle ${id} --happened, --did-not or --give-up`
        : `retinue retry ${id}, or retinue settle ${id} --give-up`;
    case "in_doubt":
      return `the network is read back by itself; if you know better: retinue settle ${id} --happened or --did-not`;
    case "pending":
      return `the network waits for its own Guardian: decide there, and where no webhook tells of it: retinue settle ${id} --happened or --give-up`;
    default:
      return undefined;
  }
}
