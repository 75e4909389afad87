/** What a refusal says beyond the one request: that an account, an operation or a key will be refused again. */
import type { AnyCode } from "../core/error-codes.ts";
import type { Call, Outcome } from "../contract/call.ts";
import type { Backoff } from "../core/backoff.ts";
import { HOUR, MINUTE } from "../core/units.ts";

/** Why requests of one operation, or all of one specialist, do not leave. */
export interface RefusalClass {
  readonly rule: "drift" | "capability";
  /** `account_stopped`, `challenge`, `payment_required`, `operation_missing`, `forbidden`, `unreadable`. */
  readonly code: AnyCode;
  readonly message: string;
  /** The specialist it holds for; undefined for all. */
  readonly handle: string | undefined;
  /** Undefined where it holds for all operations. */
  readonly operation: string | undefined;
}

/** A lesson that keeps requests from leaving. */
export interface OpenBreaker extends RefusalClass {
  readonly since: number;
  /** One request is let through then, to see whether it still holds; undefined where only a person ends it. */
  readonly probeAt: number | undefined;
}

/** What the network refused is tried again after this, then after twice as long each time. */
export const PROBES: Backoff = { firstMs: 15 * MINUTE, longestMs: 6 * HOUR };

/** A stop that ends by itself, as it is kept. */
export interface StoredBreaker extends OpenBreaker {
  readonly probeAt: number;
  /** The pause before the next look. */
  readonly waitMs: number;
}

export interface RefusalBreakers {
  /** Undefined where the answer speaks only of this request. */
  learn(handle: string, call: Call, outcome: Outcome): RefusalClass | undefined;
  /** An operation was let through: what was forbidden before was the object. */
  forget(handle: string, operation: string): void;
}

/** Refusals on as many objects in a row say that it is not the object. */
const FORBIDDEN_IN_A_ROW = 3;
const MAX_STREAKS = 10_000;
/** How networks word it; what is worded otherwise stops the operation only, which is the smaller mistake. */
const STOPPED = /suspend|banned|deactivat|disabled|blocked|locked|terminated/i;
const CHALLENGE = /captcha|challenge|human|verif/i;

export function createRefusalBreakers(): RefusalBreakers {
  /** The objects that were forbidden in a row, by specialist and operation. */
  const streaks = new Map<string, Set<string>>();
  const keyOf = (handle: string, operation: string): string => `${handle} ${operation}`;
  const isForbidden = (handle: string, { operation, target }: Call): boolean => {
    if (target === undefined) return true;
    const key = keyOf(handle, operation);
    const streak = streaks.get(key) ?? new Set<string>();
    streak.add(target);
    streaks.set(key, streak);
    const oldest = streaks.keys().next().value;
    if (streaks.size > MAX_STREAKS && oldest !== undefined) streaks.delete(oldest);
    return streak.size >= FORBIDDEN_IN_A_ROW;
  };

  return {
    forget: (handle, operation) => void streaks.delete(keyOf(handle, operation)),
    learn(handle, call, outcome) {
      if (outcome.class !== "refused" && outcome.class !== "unknown") return undefined;
      const { operation, target } = call;
      const words = outcome.class === "refused" ? `${outcome.code} ${outcome.message}` : outcome.reason;
      const specialist = (code: AnyCode, message: string): RefusalClass => ({
        rule: "capability",
        code,
        message,
        handle,
        operation: undefined,
      });
      const alone = (code: AnyCode, message: string): RefusalClass => ({ rule: "capability", code, message, handle, operation });
      switch (outcome.status) {
        case 402:
          return alone("payment_required", `the network wants to be paid before ${handle} may do ${operation}`);
        case 405:
        case 501:
          return alone("operation_missing", `the network has no ${operation} at the address the profile gives`);
        case 404:
          return target === undefined
            ? alone("operation_missing", `there is nothing at the address the profile gives for ${operation}`)
            : undefined;
        case 403:
          if (outcome.class === "refused" && STOPPED.test(words))
            return specialist("account_stopped", `the network has stopped the account of ${handle}`);
          // A page for people where an answer was due is what stands in front of a network, not the network.
          if (outcome.class === "unknown" || CHALLENGE.test(words))
            return specialist("challenge", `the network wants to see a person before ${handle} goes on`);
          return isForbidden(handle, call) ? alone("forbidden", `the network does not let ${handle} do ${operation}`) : undefined;
        default:
          return undefined;
      }
    },
  };
}
