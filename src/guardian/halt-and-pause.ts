/** Controls for a person: a pause stops new work, a halt stops writes, a freeze stops spending. */
import { handleAdvice } from "../config/handle-advice.ts";
import { isOperationName, OPERATIONS } from "../contract/operations.ts";
import { defined } from "../core/defined.ts";
import { messageOf, Misconfigured, Retryable } from "../core/errors.ts";
import { asHandle } from "../core/ids.ts";
import { EVERYONE, type Stop } from "../limits/verdict.ts";
import { stopEnd } from "../limits/wait-rules.ts";
import { GUARDIAN, ownerOf, scopeOf } from "../limits/spending.ts";
import { stopsInForce } from "./stops-in-force.ts";
import { wakeAll, type GuardianContext, type OrderResult } from "./wake-waiting.ts";
import type { OpenAttempt, WriteInFlight } from "../store/controls.ts";

/** Without a handle: everyone. */
export interface Scope {
  readonly handle?: string;
}

export interface HaltResult extends OrderResult {
  readonly inFlight: readonly WriteInFlight[];
  /** Set if the halt ends with the process, because it could not be stored. */
  readonly notKept?: { readonly message: string; readonly hint: string };
  /** Set if processes of a fleet have not confirmed it: `message` names each with its reason. `inFlight` is of the others. */
  readonly incomplete?: { readonly message: string; readonly hint: string };
}

/** Each throws `Misconfigured` (`specialist_unknown`) for a handle that never ran here. */
export interface Controls {
  pause(query: Scope & { readonly reason?: string }): Promise<OrderResult>;
  resume(query: Scope): Promise<OrderResult>;
  /**
   * No write is admitted once this resolves, unless the result is `incomplete`; those already in flight or in doubt are listed. If the disk
   * takes no writes, a running process holds the halt in memory. Throws `Retryable` (`halt_not_stored`) if no process is running.
   */
  halt(query: Scope & { readonly reason?: string }): Promise<HaltResult>;
  lift(query: Scope): Promise<OrderResult>;
  /** Unfreezes an account; without a handle, the shared one. Records by whom and why. */
  unfreeze(query: Scope & { readonly by: string; readonly reason: string }): Promise<OrderResult>;
}

export function createControls(context: GuardianContext): Controls {
  const { store, clock } = context;
  /** An order has a line in the log of the process that it concerns. */
  const note = (message: string, reason?: string): OrderResult => {
    context.parts?.log.warn(message, defined({ reason }));
    return { message };
  };
  return {
    async pause({ handle, reason }) {
      await store.stop("pause", await known(context, handle), reason ?? "the Guardian paused it", clock.now());
      return note(`${handle ?? "everyone"} is paused: jobs already taken are still delivered, no new work begins`, reason);
    },
    async resume({ handle }) {
      const was = await store.lift("pause", await stopped(context, "pauses", handle));
      wakeAll(context, "resume");
      return note(await endOf(context, "pauses", handle, was));
    },
    async halt({ handle, reason }) {
      const scope = await known(context, handle);
      const notKept = await storeHalt(context, { scope, reason: reason ?? "the Guardian ordered it", since: clock.now() });
      const open = (await store.openAttempts()).filter(({ intent, operation }) => intent !== undefined || writes(operation));
      const all = [...open.map(onItsWay), ...(await store.writesInDoubt())];
      const inFlight = all.filter((one) => scope === EVERYONE || scope === one.handle);
      const message = handle === undefined ? "halted: no specialist writes" : `halted: ${handle} does not write`;
      note(message, reason);
      return defined({ message, inFlight, notKept });
    },
    async lift({ handle }) {
      const scope = await stopped(context, "halts", handle);
      const wasUnkept = context.parts?.unkeptHalts.all().some((halt) => halt.scope === scope) === true;
      const was = (await store.lift("halt", scope)) || wasUnkept;
      context.parts?.unkeptHalts.release(scope);
      wakeAll(context, "lift");
      return note(await endOf(context, "halts", handle, was));
    },
    async unfreeze({ handle, by, reason }) {
      if (handle !== undefined) await known(context, handle);
      const whose = handle === undefined ? "the shared account" : handle;
      const currencies = await store.unfreeze(handle === undefined ? GUARDIAN : scopeOf(asHandle(handle)), { by, reason }, clock.now());
      wakeAll(context, "unfreeze");
      if (currencies.length > 0) return { message: `${whose} may spend ${currencies.join(" and ")} again` };
      const frozen = (await store.frozen()).map(({ scope, currency }) => `${ownerOf(scope)} (${currency})`);
      return { message: `${whose} was not frozen${frozen.length === 0 ? "" : `; frozen: ${frozen.join(", ")}`}` };
    },
  };
}

/** Puts a halt into memory, then into the store. Returns the reason if it is in memory alone. */
async function storeHalt({ store, parts }: GuardianContext, halt: Stop): Promise<HaltResult["notKept"]> {
  parts?.unkeptHalts.hold(halt);
  try {
    await store.stop("halt", halt.scope, halt.reason, halt.since);
    parts?.unkeptHalts.release(halt.scope);
    return undefined;
  } catch (error) {
    if (parts === undefined)
      throw new Retryable("halt_not_stored", `the halt is not stored: ${messageOf(error)}`, {
        cause: error,
        hint: "nothing runs on this store now, so nothing is sent; free disk space or make the disk writable, and give the halt again before anything (such as a service manager) starts it",
      });
    return {
      message: `the halt is not kept: ${messageOf(error)}`,
      hint: `it holds while process ${process.pid} runs; free disk space or make the disk writable, then stop that process: it stores the halt as it ends`,
    };
  }
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
  throw new Misconfigured("specialist_unknown", `there is no specialist "${handle}"`, handleAdvice(handle, [...handles]));
}

/** The scope of a stop that is to end. One in force may be of a specialist that runs elsewhere. */
async function stopped(context: GuardianContext, which: keyof typeof ENDS, handle: string | undefined): Promise<string> {
  const inForce = (await context.store.stops())[which];
  return inForce.some(({ scope }) => scope === handle) ? (handle ?? EVERYONE) : known(context, handle);
}

const ENDS = {
  halts: { again: "may write again", state: "halted" },
  pauses: { again: "goes on", state: "paused" },
} as const;

/** The end of a stop in one sentence, with the stops that stay in force. `was`: there was one to end. */
async function endOf(
  { store, parts }: GuardianContext,
  which: keyof typeof ENDS,
  handle: string | undefined,
  was: boolean,
): Promise<string> {
  const { again, state } = ENDS[which];
  const stops = (await stopsInForce(store, parts?.unkeptHalts))[which].map(({ scope }) => scope);
  // The stops of others do not concern a specialist whose own has ended.
  const rest = was && handle !== undefined ? stops.filter((scope) => scope === EVERYONE) : stops;
  const still = rest
    .map((scope) => (scope === EVERYONE ? `everyone (${stopEnd(which, undefined)})` : `${scope} (${stopEnd(which, scope)})`))
    .join(", ");
  const who = handle ?? "everyone";
  if (still === "") return was ? `${who} ${again}` : `${who} was not ${state}`;
  const ended = handle === undefined ? `everyone else ${again}` : `${handle} is no longer ${state} by its own name`;
  return `${was ? ended : `${who} was not ${state}`}; still ${state}: ${still}`;
}
