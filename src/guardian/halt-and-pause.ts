/** Controls for a person: a pause stops new work, a halt stops writes, a freeze stops spending. */
import { isOperationName, OPERATIONS } from "../contract/operations.ts";
import { Misconfigured } from "../core/errors.ts";
import { asHandle } from "../core/ids.ts";
import { EVERYONE } from "../limits/verdict.ts";
import { GUARDIAN, ownerOf, scopeOf } from "../limits/spending.ts";
import type { Store } from "../store/store.ts";
import { wakeAll, type GuardianContext, type OrderResult } from "./wake-waiting.ts";
import type { OpenAttempt } from "../store/controls.ts";

/** Without a handle: everyone. */
export interface Scope {
  readonly handle?: string;
}

export interface WriteInFlight {
  /** Of the action; absent for the runtime's own requests, such as registering a webhook. */
  readonly id?: string;
  readonly handle: string;
  readonly operation: string;
  readonly target?: string;
  readonly startedAt: number;
  /** An answer that has not come by then never will. */
  readonly deadlineAt: number;
}

/** Each throws `Misconfigured` (`specialist_unknown`) for a handle that never ran here. */
export interface Controls {
  pause(query: Scope & { readonly reason?: string }): Promise<OrderResult>;
  resume(query: Scope): Promise<OrderResult>;
  /** No write is admitted once this resolves; those already in flight are listed. */
  halt(query: Scope & { readonly reason?: string }): Promise<OrderResult & { readonly inFlight: readonly WriteInFlight[] }>;
  lift(query: Scope): Promise<OrderResult>;
  /** Unfreezes an account; without a handle, the shared one. Records by whom and why. */
  unfreeze(query: Scope & { readonly by: string; readonly reason: string }): Promise<OrderResult>;
}

export function createControls(hand: GuardianContext): Controls {
  const { store, clock } = hand;
  const name = (handle: string | undefined): string => handle ?? "everyone";
  return {
    async pause({ handle, reason }) {
      await store.stop("pause", await known(hand, handle), reason ?? "the Guardian paused it", clock.now());
      return { message: `${name(handle)} is paused: jobs already taken are still delivered, no new work begins` };
    },
    async resume({ handle }) {
      const was = await store.lift("pause", await known(hand, handle));
      wakeAll(hand, "resume");
      return { message: was ? `${name(handle)} goes on` : `${name(handle)} was not paused${await others(store, "pauses")}` };
    },
    async halt({ handle, reason }) {
      const scope = await known(hand, handle);
      await store.stop("halt", scope, reason ?? "the Guardian ordered it", clock.now());
      const inFlight = (await store.openAttempts())
        .filter(({ specialist }) => scope === EVERYONE || scope === specialist)
        .filter(({ intent, operation }) => intent !== undefined || writes(operation))
        .map(onItsWay);
      return { message: handle === undefined ? "halted: no specialist writes" : `halted: ${handle} does not write`, inFlight };
    },
    async lift({ handle }) {
      const was = await store.lift("halt", await known(hand, handle));
      wakeAll(hand, "lift");
      return { message: was ? `${name(handle)} may write again` : `${name(handle)} was not halted${await others(store, "halts")}` };
    },
    async unfreeze({ handle, by, reason }) {
      if (handle !== undefined) await known(hand, handle);
      const whose = handle === undefined ? "the shared account" : handle;
      const currencies = await store.unfreeze(handle === undefined ? GUARDIAN : scopeOf(asHandle(handle)), { by, reason }, clock.now());
      wakeAll(hand, "unfreeze");
      if (currencies.length > 0) return { message: `${whose} may spend ${currencies.join(" and ")} again` };
      const frozen = (await store.frozen()).map(({ scope, currency }) => `${ownerOf(scope)} (${currency})`);
      return { message: `${whose} was not frozen${frozen.length === 0 ? "" : `; frozen: ${frozen.join(", ")}`}` };
    },
  };
}

/**
 * True for a write among the 29: extra operations are only sent for actions, and a key's exchange for a token changes nothing on the
 * network.
 */
function writes(operation: string): boolean {
  return isOperationName(operation) && OPERATIONS[operation].effect !== "read" && !operation.startsWith("auth.");
}

function onItsWay({ intent, specialist, operation, target, startedAt, deadlineAt }: OpenAttempt): WriteInFlight {
  return {
    ...(intent === undefined ? {} : { id: intent }),
    handle: specialist,
    operation,
    ...(target === undefined ? {} : { target }),
    startedAt,
    deadlineAt,
  };
}

/**
 * The scope of a stop. Throws `Misconfigured` (`specialist_unknown`) for a handle that never ran here: a typing error must not pass for a
 * stop.
 */
export async function known({ store, running }: GuardianContext, handle: string | undefined): Promise<string> {
  if (handle === undefined) return EVERYONE;
  const handles = new Set([...(await store.handles()), ...running().map(({ specialist }) => specialist.handle)]);
  if (handles.has(asHandle(handle))) return handle;
  throw new Misconfigured("specialist_unknown", `there is no specialist "${handle}"`, {
    expected: handles.size === 0 ? "a handle that has run here" : `one of ${[...handles].join(", ")}`,
  });
}

async function others(store: Store, which: "halts" | "pauses"): Promise<string> {
  const stops = (await store.stops())[which];
  return stops.length === 0 ? "" : `; still in force for ${stops.map(({ scope }) => (scope === EVERYONE ? "everyone" : scope)).join(", ")}`;
}
