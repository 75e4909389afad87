/** Classifies refusals that apply beyond one request: an account, an operation or a key will be refused again. */
import type { AnyCode } from "../core/error-codes.ts";
import type { Call, Outcome } from "../contract/call.ts";
import { canonicalJson } from "../core/json.ts";
import type { RefusalClass } from "./breaker.ts";

export interface RefusalClassifier {
  /** Undefined if the answer applies to this request only. */
  learn(handle: string, call: Call, outcome: Outcome): RefusalClass | undefined;
  /** Called when the network permitted an operation: earlier refusals concerned the object. */
  forget(handle: string, operation: string): void;
}

/** Consecutive refusals, each of another action, after which the operation counts as refused. */
const REFUSED_IN_A_ROW = 3;
const MAX_STREAKS = 10_000;
/** Networks' words for stopped accounts; a refusal in other words stops the operation only, which is the smaller mistake. */
const STOPPED = /suspend|banned|deactivat|disabled|blocked|locked|terminated/i;
const CHALLENGE = /captcha|challenge|human|verif/i;

export function createRefusalClassifier(): RefusalClassifier {
  /** Objects of actions refused in a row, by specialist and operation. */
  const streaks = new Map<string, Set<string>>();
  const keyOf = (handle: string, operation: string): string => `${handle} ${operation}`;
  const isRefusedAgain = (handle: string, operation: string, object: string): boolean => {
    const key = keyOf(handle, operation);
    const streak = streaks.get(key) ?? new Set<string>();
    streak.add(object);
    streaks.set(key, streak);
    const oldest = streaks.keys().next().value;
    if (streaks.size > MAX_STREAKS && oldest !== undefined) streaks.delete(oldest);
    return streak.size >= REFUSED_IN_A_ROW;
  };

  return {
    forget(handle, operation) {
      if (streaks.size > 0) streaks.delete(keyOf(handle, operation));
    },
    learn(handle, call, outcome) {
      const { operation, target } = call;
      if (outcome.class === "limited" && outcome.suspended === true) return stopped(handle, "account_stopped", accountStopped(handle));
      if (outcome.class !== "refused" && outcome.class !== "unknown") return undefined;
      const words = outcome.class === "refused" ? `${outcome.code} ${outcome.message}` : outcome.reason;
      const specialist = (code: AnyCode, message: string): RefusalClass => stopped(handle, code, message);
      const alone = (code: AnyCode, message: string): RefusalClass => ({ rule: "capability", code, message, handle, operation });
      switch (outcome.status) {
        case 402:
          // Another action of the kind may cost less.
          return isRefusedAgain(handle, operation, target ?? canonicalJson(call.input))
            ? alone("payment_required", `the network requires a payment before ${handle} may do ${operation}`)
            : undefined;
        case 405:
        case 501:
          return alone("operation_missing", `the network has no ${operation} at the address in the profile`);
        case 404:
          return target === undefined
            ? alone("operation_missing", `there is nothing at the address in the profile for ${operation}`)
            : undefined;
        case 403:
          if (outcome.class === "refused" && STOPPED.test(words)) return specialist("account_stopped", accountStopped(handle));
          // An HTML page instead of an answer comes from a proxy before the network.
          if (outcome.class === "unknown" || CHALLENGE.test(words))
            return specialist("challenge", `the network requires a person before ${handle} can continue`);
          return target === undefined || isRefusedAgain(handle, operation, target)
            ? alone("forbidden", `the network does not let ${handle} do ${operation}`)
            : undefined;
        default:
          return undefined;
      }
    },
  };
}

function stopped(handle: string, code: AnyCode, message: string): RefusalClass {
  return { rule: "capability", code, message, handle, operation: undefined };
}

function accountStopped(handle: string): string {
  return `the network has stopped the account of ${handle}`;
}
